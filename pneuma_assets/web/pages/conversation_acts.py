"""What a person does in a conversation, by forms that return to its page, and files of it."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Path, Query, UploadFile
from fastapi.responses import RedirectResponse, Response

from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.seek.state import difference
from pneuma_assets.core.service.work_pool import WorkPool
from pneuma_assets.core.store.conversations import SavedEvent
from pneuma_assets.web.export import file_of
from pneuma_assets.web.pages.conversations import Id, back_to, show, text_of, tried
from pneuma_assets.web.pages.page import Lines, Page, ThePage
from pneuma_assets.web.pool import AnswerRoute, PooledRoute
from pneuma_assets.web.problems import RefusedError, problem_of

logger = logging.getLogger(__name__)

router = APIRouter(prefix="/seek", include_in_schema=False, route_class=PooledRoute)
work = APIRouter(prefix="/seek", include_in_schema=False, route_class=AnswerRoute)
"""What statements take their time for."""

_PATIENCE = 1.5
"""Seconds that a page waits for a turn; one that takes longer goes on behind it."""
_TURNS: set[asyncio.Task[Any]] = set()
"""Turns that go on, so that none is collected as garbage meanwhile."""

Text = Annotated[str, Form(max_length=10_000), Lines]
Act = Literal["undo", "accept", "cancel", "grant"]


@router.post("")
async def begin(page: ThePage, need: Text = "") -> Response:
    """Begin a conversation, with the first words or with nothing."""
    pool: WorkPool = page.request.app.state.asking
    begun = await pool.run(lambda: page.desk.seek.start(page.asker), page.asker.name)
    if not need.strip():
        return back_to(begun.conversation_id)
    return await say(page, begun.conversation_id, need)


@router.post("/{conversation_id}/say")
async def say(
    page: ThePage,
    conversation_id: Id,
    text: Text = "",
    agreed: Annotated[bool | None, Form()] = None,
    key: Annotated[str | None, Form(max_length=100)] = None,
) -> Response:
    """Say something; `agreed` is the button that confirms the plan."""
    seek, asker = page.desk.seek, page.asker
    return await _conducted(
        page,
        conversation_id,
        lambda: seek.say(conversation_id, text, asker, key=key, agreed=agreed),
        said=text,
    )


@router.post("/{conversation_id}/resume")
async def resume(page: ThePage, conversation_id: Id) -> Response:
    """Go on with a turn that nobody conducts any more."""
    seek, asker = page.desk.seek, page.asker
    return await _conducted(page, conversation_id, lambda: seek.resume(conversation_id, asker))


async def _conducted(
    page: Page, conversation_id: str, begin_turn: Callable[[], Iterator[SavedEvent]], said: str = ""
) -> Response:
    """Conduct a turn behind the page, which is shown at once where that takes long."""
    pools = page.request.app.state
    asking: WorkPool = pools.asking
    asker = page.asker.name
    try:
        turn = await asking.run(begin_turn, asker)
        task = asyncio.create_task(pools.answering.run(lambda: deque(turn, maxlen=0), asker))
        _TURNS.add(task)
        task.add_done_callback(_ended)
        if task in (await asyncio.wait([task], timeout=_PATIENCE))[0]:
            task.result()
    except (PneumaError, RefusedError) as error:
        problem = problem_of(error)
        shown = partial(show, page, conversation_id, problem=problem, said=said)
        return await asking.run(shown, asker)
    return back_to(conversation_id)


def _ended(task: "asyncio.Task[Any]") -> None:
    _TURNS.discard(task)
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.warning("a turn ended: %s", type(error).__name__)


@router.post("/{conversation_id}/acts/{act}")
def act(page: ThePage, conversation_id: Id, act: Act) -> Response:
    """Take a version back, accept the state, end a turn, or grant the budget once more."""
    done = "accepted" if act == "accept" else ""
    method = getattr(page.desk.seek, act)
    return tried(page, conversation_id, lambda: method(conversation_id, page.asker), done)


@work.post("/{conversation_id}/file")
def add_file(page: ThePage, conversation_id: Id, file: UploadFile) -> Response:
    """Add a file as a source of the conversation."""
    seek, name = page.desk.seek, file.filename or ""
    return tried(
        page,
        conversation_id,
        lambda: seek.add_file(conversation_id, name, file.file.read(), page.asker),
    )


@work.get("/{conversation_id}/{what}/{name}")
def rows_file(
    page: ThePage,
    conversation_id: Id,
    what: Literal["tables", "results"],
    name: Annotated[str, Path(max_length=100)],
    format: Annotated[Literal["csv", "parquet"], Query()] = "csv",  # noqa: A002
) -> Response:
    """Return all rows of a table of T or of a query, which are made where they are not there."""
    return file_of(page.desk.seek.rows(conversation_id, name, page.asker, what), name, format)


@work.get("/{conversation_id}/script")
def script_file(page: ThePage, conversation_id: Id) -> Response:
    """Return the script that makes T and the results of Q without a model."""
    script = page.desk.seek.script(conversation_id, page.asker)
    return _attached(script, "conversation.py", "text/x-python")


@work.get("/{conversation_id}/state")
def state_file(page: ThePage, conversation_id: Id) -> Response:
    """Return the state as JSON."""
    text = text_of(page.desk.seek.get(conversation_id, page.asker).state)
    return _attached(text, "state.json", "application/json")


def _attached(text: str, name: str, media_type: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, headers=headers, media_type=media_type)


@work.post("/{conversation_id}/query")
def query(
    page: ThePage,
    conversation_id: Id,
    name: Annotated[str, Form(max_length=100)],
    sql: Annotated[str, Form(min_length=1, max_length=20_000), Lines],
) -> Response:
    """Put another statement in the place of a query's, and run Q."""
    seek = page.desk.seek

    def edit_and_run() -> None:
        state = seek.get(conversation_id, page.asker).state
        queries = [
            one.model_copy(update={"sql": sql}) if one.name == name else one
            for one in state.queries
        ]
        given = state.model_copy(update={"queries": tuple(queries)})
        seek.edit(conversation_id, given.to_json(), page.asker)
        seek.run(conversation_id, page.asker)

    return tried(page, conversation_id, edit_and_run, drafts={name: sql})


@work.post("/{conversation_id}/{what}")
def make(page: ThePage, conversation_id: Id, what: Literal["materialize", "run"]) -> Response:
    """Make T, or run Q; whoever does so agrees to T."""
    method = getattr(page.desk.seek, what)
    return tried(page, conversation_id, lambda: method(conversation_id, page.asker))


@router.post("/{conversation_id}/state")
def edit(
    page: ThePage,
    conversation_id: Id,
    version: Annotated[int, Form(ge=0)],
    state: Annotated[str, Form(max_length=1_000_000), Lines] = "",
) -> Response:
    """Put what a person wrote in the place of the state that they saw; nothing of it is lost."""

    def replace_state() -> None:
        now = page.desk.seek.get(conversation_id, page.asker)
        if now.version.number != version:
            seen = now.versions[min(version, len(now.versions) - 1)].state
            lines = "\n".join(difference(seen, now.state))
            told = "The state has changed since you began. Save again to put yours in its place, or"
            raise RefusedError(409, "changed-meanwhile", f"{told} take over:\n{lines}")
        page.desk.seek.edit(conversation_id, state, page.asker)

    return tried(page, conversation_id, replace_state, draft=state)


@router.post("/{conversation_id}/confirm")
def confirm(page: ThePage, conversation_id: Id, text: Text) -> Response:
    """Confirm an assumption."""
    seek = page.desk.seek

    def confirm_it() -> None:
        state = seek.get(conversation_id, page.asker).state
        assumed = (
            one.model_copy(update={"confirmed": one.confirmed or one.text == text})
            for one in state.assumptions
        )
        given = state.model_copy(update={"assumptions": tuple(assumed)})
        seek.edit(conversation_id, given.to_json(), page.asker)

    return tried(page, conversation_id, confirm_it)


@router.post("/{conversation_id}/share")
def share(page: ThePage, conversation_id: Id, text: Text) -> Response:
    """Let others use what the person made clear (section 3.3)."""
    seek = page.desk.seek
    return tried(
        page, conversation_id, lambda: seek.share(conversation_id, text, page.asker), "shared"
    )


@router.post("/{conversation_id}/rename")
def rename(
    page: ThePage, conversation_id: Id, title: Annotated[str, Form(max_length=1_000)] = ""
) -> Response:
    """Call it otherwise."""
    seek = page.desk.seek
    return tried(page, conversation_id, lambda: seek.rename(conversation_id, title, page.asker))


@router.post("/{conversation_id}/delete")
def delete(page: ThePage, conversation_id: Id) -> Response:
    """Forget it."""
    page.desk.seek.delete(conversation_id, page.asker)
    return RedirectResponse("/seek?done=conversation-deleted", 303)
