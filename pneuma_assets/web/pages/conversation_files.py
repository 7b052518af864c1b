"""Files of a conversation: those that a person adds, and those that they download."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, UploadFile
from fastapi.responses import Response

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


@router.get("/{what}/{name}")
def rows_file(
    page: ThePage,
    conversation_id: Id,
    what: Literal["tables", "results"],
    name: Name,
    format: Format = "csv",  # noqa: A002
) -> Response:
    """Return all rows of a table of T or of a query, which are made where they are not there."""
    return file_of(page.desk.seek.rows(conversation_id, name, page.asker, what), name, format)


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
