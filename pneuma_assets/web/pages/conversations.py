"""Conversations that end in a table: their list, and each with its state beside it."""

import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.seek.conversation import Conversation, Kind, Version, outcome_of
from pneuma_assets.core.seek.state import State, difference
from pneuma_assets.core.service.describe import moment
from pneuma_assets.core.store.conversations import SavedEvent
from pneuma_assets.web.pages.charts import Chart, chart_of
from pneuma_assets.web.pages.page import Page, ThePage
from pneuma_assets.web.pages.rendering import escaped_signs
from pneuma_assets.web.pool import PooledRoute
from pneuma_assets.web.problems import Problem, RefusedError, problem_of

router = APIRouter(prefix="/seek", include_in_schema=False, route_class=PooledRoute)

PAGE = 50
"""Conversations of a page of the list."""
_SUGGESTED = 4
_STUCK = 60.0
"""Seconds without an event after which a person may have a turn gone on with."""
MOST_ENTRIES = 400
"""Of what happened in a conversation; of a longer one the latest."""
_TOLD_ANYHOW = ("change", "materialize", "run")
"""Actions whose outcome is an event of its own."""
_ARGUMENTS = ("query", "table", "page", "sql", "reason", "text", "agreed", "note")

Id = Annotated[str, Path(max_length=100)]


@router.get("", response_class=HTMLResponse)
def list_page(
    page: ThePage, number: Annotated[int, Query(alias="page", ge=1, le=100_000)] = 1
) -> HTMLResponse:
    """Show one's conversations, and how to begin another."""
    every = page.desk.seek.list(page.asker)
    offset = PAGE * (number - 1)
    listed = [(one, moment(one.updated_at)) for one in every[offset : offset + PAGE]]
    return page.render(
        "seek.html",
        listed=listed,
        total=len(every),
        offset=offset,
        number_of_page=number,
        suggested=_suggested(page),
    )


def _suggested(page: Page) -> list[str]:
    """Return questions to begin with: confirmed ones, then of the tables written last."""
    asked = list(page.desk.seek.first_questions(page.asker))[:_SUGGESTED]
    listing = page.desk.browse(sort="updated", limit=_SUGGESTED, readers=page.asker.readers)
    named = [f"What do we know about {one.name.replace('_', ' ')}?" for one in listing.tables]
    return [*dict.fromkeys([*asked, *named])][:_SUGGESTED]


@router.get("/{conversation_id}", response_class=HTMLResponse)
def conversation_page(page: ThePage, conversation_id: Id) -> HTMLResponse:
    """Show a conversation."""
    return show(page, conversation_id)


def back_to(conversation_id: str, done: str = "") -> RedirectResponse:
    """Return to the page of a conversation, which then says what was done."""
    return RedirectResponse(f"/seek/{conversation_id}{f'?done={done}' if done else ''}", 303)


def tried(
    page: Page, conversation_id: str, what: Callable[[], object], done: str = "", **kept: Any
) -> Response:
    """Do something and return to the page, which says what kept it from being done, if anything.

    Args:
        page: The page.
        conversation_id: The conversation.
        what: Is done.
        done: A word of `DONE`.
        kept: What the person wrote, to be shown again where it was not taken.
    """
    try:
        what()
    except (PneumaError, RefusedError) as error:
        return show(page, conversation_id, problem=problem_of(error), **kept)
    return back_to(conversation_id, done)


def show(
    page: Page,
    conversation_id: str,
    *,
    problem: Problem | None = None,
    said: str = "",
    draft: str | None = None,
    drafts: dict[str, str] | None = None,
) -> HTMLResponse:
    """Return the page of a conversation, perhaps with what was not done, and what was written."""
    now = page.desk.seek.get(conversation_id, page.asker)
    made, ran = now.shown(Kind.MADE), now.shown(Kind.RESULT)
    quiet = time.time() - now.events[-1].at if now.events else 0.0
    response = page.render(
        "conversation.html",
        talk=now,
        state=now.state,
        address=f"/seek/{now.conversation_id}",
        entries=entries_of(now),
        made={one["name"]: one for one in made.data["tables"]} if made else {},
        cells={"samples": {}, **((made and made.cells) or {})},
        results=results_of(ran),
        found=now.findings,
        is_plan=made is None and not now.is_agreed,
        sources={one.name: one for one in now.state.sources},
        has_model=page.desk.seek.has_model,
        is_stuck=now.is_open and quiet > _STUCK,
        key=secrets.token_hex(8),
        problem=problem,
        said=said,
        draft=draft,
        drafts=drafts or {},
        text=text_of(now.state),
    )
    response.status_code = problem.status if problem else 200
    return response


@dataclass(frozen=True, slots=True)
class Entry:
    """What happened: one event, or the actions that a model took one after the other.

    Attributes:
        kind: Of the event (`Kind`).
        event: It; of several actions the last.
        acts: Of actions: what was done, what came of it, whether it failed.
        version: Of a change of the state: the version that is in force since.
        changes: Likewise: lines of `difference`.
        findings: What rules found, a line each.
    """

    kind: str
    event: SavedEvent
    acts: tuple[tuple[str, str, bool], ...] = ()
    version: Version | None = None
    changes: Sequence[str] = ()
    findings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of a query, as the page shows them."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    more: bool
    chart: Chart | None


def entries_of(conversation: Conversation) -> list[Entry]:
    """Return what happened in a conversation, the first first."""
    found: list[Entry] = []
    for one in _entries(conversation):
        last = found[-1] if found else None
        if last is not None and last.kind == one.kind == Kind.ACTION:
            both = (*last.findings, *one.findings)
            found[-1] = Entry(one.kind, one.event, (*last.acts, *one.acts), findings=both)
        else:
            found.append(one)
    return found[-MOST_ENTRIES:]


def _entries(conversation: Conversation) -> Iterator[Entry]:
    versions = conversation.versions
    set_by, current = {one.event: one for one in versions[1:]}, versions[0]
    for event in conversation.events:
        if event.kind == Kind.STATE:
            back = event.data.get("back_to")
            after = set_by[event.number] if back is None else versions[back]
            changes = difference(current.state, after.state)
            current = after
            yield Entry(Kind.STATE, event, version=after, changes=changes)
        elif event.kind == Kind.ACTION:
            act = _said_of(event.data["action"]), outcome_of(event), bool(event.data.get("failed"))
            text = (event.cells or {}).get("findings", "")
            lines = text.splitlines() if isinstance(text, str) else ()
            if act[2] or lines or event.data["action"].get("action") not in _TOLD_ANYHOW:
                yield Entry(Kind.ACTION, event, (act,), findings=lines)
        else:
            yield Entry(event.kind, event)


def _said_of(action: Mapping[str, Any]) -> str:
    """Return an action in a line: its name, and what it is about."""
    about = next((str(action[key]) for key in _ARGUMENTS if action.get(key)), "")
    return f"{action.get('action', '')}: {about[:300]}".rstrip(": ")


def results_of(event: SavedEvent | None) -> dict[str, Result]:
    """Return the rows of each query that was run, with a chart where one fits."""
    rows = ((event and event.cells) or {}).get("rows", {})
    queries = event.data["queries"] if event else ()
    return {
        one["name"]: Result(
            one["columns"], rows[one["name"]], one["more"],
            chart_of(one["columns"], rows[one["name"]]),
        )
        for one in queries
        if one["name"] in rows
    }  # fmt: skip


def text_of(state: State) -> str:
    """Return a state as JSON that a person edits; signs that cannot be seen stand as escapes."""
    dumped = state.model_dump(mode="json", exclude_defaults=True)
    return escaped_signs(json.dumps(dumped, indent=2, ensure_ascii=False))
