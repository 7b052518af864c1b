"""Files of a conversation: those that a person adds, and those that they take along."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, UploadFile
from fastapi.responses import Response

from pneuma_assets.core.errors import QueryError
from pneuma_assets.web.export import file_of
from pneuma_assets.web.pages.conversation_view import text_of
from pneuma_assets.web.pages.conversations import Id, tried
from pneuma_assets.web.pages.page import ThePage
from pneuma_assets.web.pool import AnswerRoute

_HERE = "/seek/{conversation_id}"
router = APIRouter(prefix=_HERE, include_in_schema=False, route_class=AnswerRoute)

Name = Annotated[str, Path(max_length=100)]
Format = Annotated[Literal["csv", "parquet"], Query()]


@router.post("/file")
def add_file(page: ThePage, conversation_id: Id, file: UploadFile) -> Response:
    """Add a file as a source of the conversation."""
    seek, name = page.desk.seek, file.filename or ""
    return tried(
        page,
        conversation_id,
        lambda: seek.add_file(conversation_id, name, file.file.read(), page.asker),
    )


@router.get("/tables/{name}")
def table_file(
    page: ThePage,
    conversation_id: Id,
    name: Name,
    format: Format = "csv",  # noqa: A002
) -> Response:
    """Return the rows of a table of T, which is made where it is not there."""
    made = page.desk.seek.tables(conversation_id, page.asker)
    if name not in made:
        raise QueryError("There is no such table in this conversation.")
    return file_of(made[name], name, format)


@router.get("/script")
def script_file(page: ThePage, conversation_id: Id) -> Response:
    """Return the script that makes T and the results of Q without a model."""
    script = page.desk.seek.script(conversation_id, page.asker)
    return _attached(script, "conversation.py", "text/x-python")


@router.get("/state")
def state_file(page: ThePage, conversation_id: Id) -> Response:
    """Return the state as JSON."""
    text = text_of(page.desk.seek.get(conversation_id, page.asker).state)
    return _attached(text, "state.json", "application/json")


def _attached(text: str, name: str, media_type: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, headers=headers, media_type=media_type)
