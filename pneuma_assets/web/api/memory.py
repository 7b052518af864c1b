"""What people say of answers, and questions that fail."""

from typing import Annotated

from fastapi import Depends, Path, Query, Response
from pydantic import Field

from pneuma_assets.core.answer_feedback import FailedQuestion
from pneuma_assets.core.service.usage import ConfirmedAnswer
from pneuma_assets.core.service.workspace_usage import MOST_LISTED
from pneuma_assets.web.api.parameters import Asked, Body, Limit, Name, Offset
from pneuma_assets.web.api.router import Page, api_router, page_of
from pneuma_assets.web.dependencies import Desk, Editor, WhoAsks, operator

router = api_router("memory")

_SQL = "SELECT species, avg(mass) FROM penguins GROUP BY species"


class SaidAnswer(Body):
    """What somebody says of an answer."""

    question: Asked = Field(examples=["How heavy is each species?"])
    tables: list[Name] = Field(min_length=1, max_length=20, examples=[["lake/nature/penguins"]])
    sql: str | None = Field(None, max_length=20_000, examples=[_SQL])
    confirmed: bool = Field(True, description="Whether it is right.")


class AnswerId(Body):
    """Names what was said."""

    answer_id: str


@router.get("/confirmed", operation_id="confirmed_answers", summary="Answers that people judged")
def confirmed_answers(
    desk: Desk,
    asker: WhoAsks,
    question: Annotated[Asked | None, Query(alias="q", description="Like this one.")] = None,
    offset: Offset = 0,
    limit: Limit = 50,
) -> Page[ConfirmedAnswer]:
    """Return what was said of answers to such a question; without one, of all."""
    found = desk.confirmed_answers(
        question, readers=asker.readers, author=asker.name, limit=MOST_LISTED
    )
    return page_of(found, offset, limit)


@router.post(
    "/confirmed", status_code=201, operation_id="confirm_answer", summary="Judge an answer"
)
def confirm_answer(desk: Desk, asker: Editor, said: SaidAnswer) -> AnswerId:
    """Keep that an answer is right or wrong; a right one is found again by a question like it."""
    answer_id = desk.confirm_answer(
        said.question,
        said.tables,
        sql=said.sql,
        confirmed=said.confirmed,
        author=asker.name,
        door="http",
        readers=asker.readers,
    )
    return AnswerId(answer_id=answer_id)


@router.delete(
    "/confirmed/{answer_id}", status_code=204, operation_id="forget_answer", summary="Forget that"
)
def forget_answer(
    desk: Desk, asker: Editor, answer_id: Annotated[str, Path(max_length=200)]
) -> Response:
    """Forget what was said of an answer: one's own, or as an operator anybody's."""
    author = None if asker.is_operator else asker.name
    desk.forget_answer(answer_id, author=author, readers=asker.readers)
    return Response(status_code=204)


@router.get(
    "/questions/failing",
    operation_id="failing_questions",
    summary="Questions that fail",
    dependencies=[Depends(operator)],
)
def failing_questions(desk: Desk, offset: Offset = 0, limit: Limit = 50) -> Page[FailedQuestion]:
    """Return questions that were refused or rejected, the latest first."""
    total, found = desk.failing_questions(limit=limit, offset=offset)
    return Page(total=total, offset=offset, limit=limit, items=list(found))
