"""Cells by question, statements that people write or change, and their rows as files."""

from typing import Annotated, Literal

from fastapi import Query, Response
from pydantic import Field

from pneuma_assets.core.answers.results import CellAnswer, TableAnswer
from pneuma_assets.core.config.models import MOST_ROWS
from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.web.api.parameters import Asked, Body, Name
from pneuma_assets.web.api.router import api_router, files_of
from pneuma_assets.web.dependencies import Desk, WhoAsks
from pneuma_assets.web.export import MEDIA_TYPES, exported
from pneuma_assets.web.pool import AnswerRoute

router = api_router("answers", AnswerRoute)


class CellQuestion(Body):
    """A question that is answered in cells."""

    question: Asked = Field(examples=["How heavy is each species?"])
    k: int | None = Field(None, ge=1, le=10, description="Most sets of tables looked at.")
    model: bool | None = Field(None, description="Whether a language model writes a statement.")


@router.post("/answers", operation_id="answer", summary="Answer a question in cells")
def answer(desk: Desk, asker: WhoAsks, asked: CellQuestion) -> CellAnswer:
    """Return rows with the statement that gave them; without a model, those the question names."""
    where = IndexFilter(readers=asker.readers)
    return desk.answer(asked.question, k=asked.k, model=asked.model, where=where)


_SQL = "SELECT species, avg(mass) FROM penguins GROUP BY species"


class Statement(Body):
    """One SELECT about some tables."""

    sql: str = Field(min_length=1, max_length=20_000, examples=[_SQL])
    tables: list[Name] = Field(min_length=1, max_length=20, examples=[["lake/nature/penguins"]])


@router.post("/statements", operation_id="run_statement", summary="Run a statement")
def run_statement(desk: Desk, asker: WhoAsks, statement: Statement) -> TableAnswer:
    """Return the rows of a SELECT, which passes the same guard as a model's."""
    where = IndexFilter(readers=asker.readers)
    return desk.run_sql(statement.sql, statement.tables, where=where)


@router.post(
    "/statements/export",
    operation_id="export_statement",
    summary="Run a statement and take its rows as a file",
    response_class=Response,
    responses=files_of(*MEDIA_TYPES.values()),
)
def export_statement(
    desk: Desk,
    asker: WhoAsks,
    statement: Statement,
    format: Annotated[Literal["csv", "parquet"], Query()] = "csv",  # noqa: A002
) -> Response:
    """Return up to 10,000 rows and 4 MB; `X-More-Rows` and the file's name tell of others."""
    where = IndexFilter(readers=asker.readers)
    found = desk.run_sql(statement.sql, statement.tables, rows=MOST_ROWS, where=where)
    return exported(found, format)
