"""What people say on a page: forms that return to the page they were on."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Form
from fastapi.responses import RedirectResponse

from pneuma_assets.web.dependencies import editor
from pneuma_assets.web.pages.page import Lines, ThePage, go_back
from pneuma_assets.web.pool import PooledRoute

router = APIRouter(
    prefix="/edit",
    include_in_schema=False,
    route_class=PooledRoute,
    dependencies=[Depends(editor)],
)

Name = Annotated[str, Form(max_length=2_000)]
Names = Annotated[list[Annotated[str, Form(max_length=2_000)]], Form(max_length=100)]
Back = Annotated[str, Form(max_length=20_000)]


@router.post("/description")
def describe(
    page: ThePage,
    table_id: Name,
    action: Annotated[Literal["describe", "reject", "withdraw"], Form()],
    column: Name = "",
    text: Annotated[str, Form(max_length=4_000)] = "",
    back: Back = "/",
    place: Name = "",
) -> RedirectResponse:
    """Correct or reject a description of a table or column, or take that back."""
    about, name, readers = column or None, page.asker.name, page.asker.readers
    if action == "describe":
        page.desk.describe(table_id, about, text, author=name, readers=readers)
        return go_back(back, "described", place)
    if action == "reject":
        page.desk.reject(table_id, about, author=name, readers=readers)
        return go_back(back, "rejected", place)
    page.desk.withdraw(table_id, about, readers=readers)
    return go_back(back, "withdrawn", place)


@router.post("/document")
def document(
    page: ThePage,
    table_id: Name,
    name: Name,
    action: Annotated[Literal["add", "remove"], Form()],
    text: Annotated[str, Form(max_length=200_000), Lines] = "",
    back: Back = "/",
) -> RedirectResponse:
    """Add a text about a table, or remove one that was added."""
    if action == "add":
        page.desk.add_context(table_id, name, text, readers=page.asker.readers)
        return go_back(back, "document-added", "documents")
    page.desk.remove_context(table_id, name, readers=page.asker.readers)
    return go_back(back, "document-removed", "documents")


@router.post("/join")
def join(
    page: ThePage,
    table_id: Name,
    columns: Names,
    other: Name,
    other_columns: Names,
    verdict: Annotated[Literal["confirm", "reject"], Form()],
    back: Back = "/",
) -> RedirectResponse:
    """Confirm or reject that two tables can be joined by these columns."""
    page.desk.judge_join(
        table_id,
        columns,
        other,
        other_columns,
        holds=verdict == "confirm",
        author=page.asker.name,
        readers=page.asker.readers,
    )
    return go_back(back, "join-confirmed" if verdict == "confirm" else "join-rejected", "joins")


@router.post("/answer")
def answer(
    page: ThePage,
    question: Annotated[str, Form(max_length=10_000)],
    tables: Names,
    verdict: Annotated[Literal["right", "wrong"], Form()],
    sql: Annotated[str, Form(max_length=20_000), Lines] = "",
    back: Back = "/",
) -> RedirectResponse:
    """Say that tables, or a statement, answer a question, or that they do not."""
    page.desk.confirm_answer(
        question,
        tables,
        sql=sql or None,
        confirmed=verdict == "right",
        author=page.asker.name,
        door="page",
        readers=page.asker.readers,
    )
    return go_back(back, verdict)


@router.post("/forget")
def forget(page: ThePage, answer_id: Name, back: Back = "/") -> RedirectResponse:
    """Forget what somebody said of an answer."""
    author = None if page.asker.is_operator else page.asker.name
    page.desk.forget_answer(answer_id, author=author, readers=page.asker.readers)
    return go_back(back, "forgotten")
