"""Conversations that end in the table somebody needed, each for its author alone."""

from typing import Annotated, Any, Literal

from fastapi import Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from pneuma_assets.core.seek.conversation import Conversation
from pneuma_assets.core.seek.state import State, difference
from pneuma_assets.core.store.conversations import SavedConversation
from pneuma_assets.web.api.parameters import Body, Limit, Offset
from pneuma_assets.web.api.router import Page, api_router, files_of, page_of
from pneuma_assets.web.dependencies import Desk, WhoAsks
from pneuma_assets.web.export import MEDIA_TYPES, file_of
from pneuma_assets.web.pool import AnswerRoute

router = api_router("conversations")
work = api_router("conversations", AnswerRoute)
"""What a model or statements take their time for."""

Id = Annotated[str, Path(max_length=100, description="As the list has it.")]
_HERE = "/conversations/{conversation_id}"
_SCRIPT = "text/x-python"


class Title(Body):
    """What a conversation is called."""

    title: Annotated[str, StringConstraints(max_length=120)] = Field("", examples=["Tariffs"])


class Message(Body):
    """What somebody says."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=10_000)] = Field(
        examples=["What impact will tariffs have on our purchases?"]
    )
    agreed: bool | None = Field(
        None, description="Whether they agree to T as it is; null: if it is nothing but a yes."
    )
    key: Annotated[str, StringConstraints(max_length=100)] | None = Field(
        None, description="Names this request: sent again, nothing is said twice."
    )


class Event(BaseModel):
    """What happened; which further keys there are depends on its kind."""

    model_config = ConfigDict(extra="allow")

    number: int
    at: float = Field(description="In seconds since 1970.")
    kind: str = Field(examples=["assistant"])
    cells: Any = Field(None, description="Rows and findings, while the author may see them.")


class Talk(BaseModel):
    """A conversation as it is now."""

    conversation_id: str
    title: str
    author: str
    created_at: float
    updated_at: float
    state: State
    findings: list[dict[str, Any]] = Field(
        description="What rules found in what was made and run; before that, in the edited state."
    )
    spent: dict[str, float]
    is_open: bool = Field(description="Whether a turn has no answer yet: resume goes on with it.")
    events: list[Event]


class Version(BaseModel):
    """A state that was in force, and what it changed of the one before."""

    number: int
    by: str
    reason: str
    changes: list[str] = Field(examples=[["+column costs.price: number"]])


def _talk(found: Conversation) -> Talk:
    return Talk.model_validate(found.to_dict())


@router.get("/conversations", operation_id="conversations", summary="One's conversations")
def conversations(
    desk: Desk, asker: WhoAsks, offset: Offset = 0, limit: Limit = 50
) -> Page[SavedConversation]:
    """Return the asker's conversations, the latest first."""
    return page_of(desk.seek.list(asker), offset, limit)


@router.post(
    "/conversations", status_code=201, operation_id="start_conversation", summary="Begin one"
)
def start_conversation(desk: Desk, asker: WhoAsks, given: Title) -> Talk:
    """Begin a conversation, in which nothing was said yet."""
    return _talk(desk.seek.start(asker, given.title))


@router.get(_HERE, operation_id="conversation", summary="A conversation")
def conversation(desk: Desk, asker: WhoAsks, conversation_id: Id) -> Talk:
    """Return its state and all that happened."""
    return _talk(desk.seek.get(conversation_id, asker))


@router.patch(_HERE, operation_id="rename_conversation", summary="Call it otherwise")
def rename_conversation(desk: Desk, asker: WhoAsks, conversation_id: Id, given: Title) -> Talk:
    """Give it another title."""
    desk.seek.rename(conversation_id, given.title, asker)
    return _talk(desk.seek.get(conversation_id, asker))


@router.delete(
    _HERE, status_code=204, operation_id="delete_conversation", summary="Forget a conversation"
)
def delete_conversation(desk: Desk, asker: WhoAsks, conversation_id: Id) -> Response:
    """Forget it with its files and rows."""
    desk.seek.delete(conversation_id, asker)
    return Response(status_code=204)


@work.post(f"{_HERE}/messages", operation_id="say", summary="Say something")
def say(desk: Desk, asker: WhoAsks, conversation_id: Id, message: Message) -> Talk:
    """Say something, and return the conversation with the answer.

    What takes longer than a request may goes on: each event is kept as it happens.
    """
    turn = desk.seek.say(
        conversation_id, message.text, asker, key=message.key, agreed=message.agreed
    )
    for _ in turn:
        pass
    return _talk(desk.seek.get(conversation_id, asker))


@work.post(f"{_HERE}/resume", operation_id="resume", summary="Go on with a turn")
def resume(desk: Desk, asker: WhoAsks, conversation_id: Id) -> Talk:
    """Go on with a turn that has no answer yet."""
    for _ in desk.seek.resume(conversation_id, asker):
        pass
    return _talk(desk.seek.get(conversation_id, asker))


@router.put(f"{_HERE}/state", operation_id="edit_state", summary="Edit the state")
def edit_state(desk: Desk, asker: WhoAsks, conversation_id: Id, state: State) -> Talk:
    """Put a state in the place of the one in force; what its names lack is in `findings`."""
    return _talk(desk.seek.edit(conversation_id, state.to_json(), asker))


@router.post(f"{_HERE}/acts/{{act}}", operation_id="act", summary="Undo, accept, cancel or grant")
def act(
    desk: Desk,
    asker: WhoAsks,
    conversation_id: Id,
    act: Literal["undo", "accept", "cancel", "grant"],
) -> Talk:
    """Take a version back, accept the state, end a turn, or grant the budget once more."""
    return _talk(getattr(desk.seek, act)(conversation_id, asker))


@work.post(f"{_HERE}/tables", operation_id="make_tables", summary="Make T")
def make_tables(desk: Desk, asker: WhoAsks, conversation_id: Id) -> Talk:
    """Make the target tables from what their sources hold now; whoever does so agrees to T."""
    return _talk(desk.seek.materialize(conversation_id, asker))


@work.post(f"{_HERE}/results", operation_id="run_queries", summary="Run Q")
def run_queries(desk: Desk, asker: WhoAsks, conversation_id: Id) -> Talk:
    """Run the queries; target tables that are not there are made before."""
    return _talk(desk.seek.run(conversation_id, asker))


@router.get(f"{_HERE}/versions", operation_id="versions", summary="What each version changed")
def versions(
    desk: Desk, asker: WhoAsks, conversation_id: Id, offset: Offset = 0, limit: Limit = 50
) -> Page[Version]:
    """Return the versions of the state, the first first."""
    every = desk.seek.get(conversation_id, asker).versions
    found = [
        Version(
            number=one.number,
            by=one.by,
            reason=one.reason,
            changes=difference(every[one.before].state, one.state),
        )
        for one in every[1:][offset : offset + limit]
    ]
    return Page(total=len(every) - 1, offset=offset, limit=limit, items=found)


@work.get(
    f"{_HERE}/{{what}}/{{name}}",
    operation_id="export_rows",
    summary="A target table, or a query's result, as a file",
    response_class=Response,
    responses=files_of(*MEDIA_TYPES.values()),
)
def export_rows(
    desk: Desk,
    asker: WhoAsks,
    conversation_id: Id,
    what: Literal["tables", "results"],
    name: Annotated[str, Path(max_length=100)],
    format: Annotated[Literal["csv", "parquet"], Query()] = "csv",  # noqa: A002
) -> Response:
    """Return all rows of a table of T or of a query, which are made where they are not there."""
    return file_of(desk.seek.rows(conversation_id, name, asker, what), name, format)


@work.get(
    f"{_HERE}/script",
    operation_id="export_script",
    summary="One script that makes it all",
    response_class=Response,
    responses=files_of(_SCRIPT),
)
def export_script(desk: Desk, asker: WhoAsks, conversation_id: Id) -> Response:
    """Return a Python script that makes T and the results of Q, without a model."""
    return Response(desk.seek.script(conversation_id, asker), media_type=_SCRIPT)
