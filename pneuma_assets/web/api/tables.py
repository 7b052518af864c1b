"""What is known of one table, and what people say of it."""

from typing import Annotated, Literal

from fastapi import Query, Response
from pydantic import Field

from pneuma_assets.core.service.catalog_types import SampleRows, TablePage
from pneuma_assets.core.service.describe import ColumnDescription
from pneuma_assets.core.service.joins import JudgedJoin, KnownJoin
from pneuma_assets.core.service.lineage import LinkedTable
from pneuma_assets.core.store.documents import UserContext
from pneuma_assets.web.api.parameters import Body, Limit, Name, Offset, TableId
from pneuma_assets.web.api.router import Page, api_router, page_of
from pneuma_assets.web.dependencies import Desk, Editor, Settings, WhoAsks
from pneuma_assets.web.problems import RefusedError

router = api_router("tables")
changes = api_router("changes")

_ROUTE = "/table"
_TABLE = "lake/nature/penguins"
_Column = Annotated[Name | None, Query(description="None: the table itself.", examples=["mass"])]


class Said(Body):
    """What somebody says of a table or column."""

    table_id: Name = Field(examples=[_TABLE])
    column: Name | None = Field(None, description="None: the table itself.", examples=["mass"])
    text: str | None = Field(
        max_length=1000,
        description="One line in the place of all others; null rejects what machines and "
        "documents say.",
        examples=["body mass in grams"],
    )


class Context(Body):
    """A text about a table."""

    table_id: Name = Field(examples=[_TABLE])
    name: Annotated[str, Field(min_length=1, max_length=200, examples=["how it was measured"])]
    text: str = Field(min_length=1, max_length=200_000, examples=["By hand, each November."])


class Verdict(Body):
    """Whether two tables can be joined by these columns."""

    table_id: Name = Field(description="The one that refers.", examples=["lake/sales"])
    columns: list[Name] = Field(min_length=1, max_length=20, examples=[["customer_id"]])
    other: Name = Field(description="The one referred to.", examples=["lake/customers"])
    other_columns: list[Name] = Field(min_length=1, max_length=20, examples=[["id"]])
    holds: bool | None = Field(description="null removes the verdict.", examples=[True])


@router.get(_ROUTE, operation_id="read_table", summary="All that is shown of one table")
def read_table(desk: Desk, asker: WhoAsks, table_id: TableId) -> TablePage:
    """Return columns with descriptions and profiles, documents, joins, lineage and more."""
    return desk.table(table_id, readers=asker.readers)


@router.get(f"{_ROUTE}/rows", operation_id="sample_rows", summary="Some rows of a table")
def sample_rows(
    desk: Desk,
    asker: WhoAsks,
    settings: Settings,
    table_id: TableId,
    limit: Annotated[int, Query(ge=1, le=50, examples=[10])] = 10,
) -> SampleRows:
    """Return rows as text, hidden columns left out."""
    if not settings.sample_rows:
        raise RefusedError(403, "no-rows", "This server shows no rows of tables.")
    return desk.sample_rows(table_id, limit=limit, readers=asker.readers)


@router.get(f"{_ROUTE}/lineage", operation_id="lineage", summary="What a table is built from")
def lineage(
    desk: Desk,
    asker: WhoAsks,
    table_id: TableId,
    direction: Literal["upstream", "downstream"] | None = None,
    depth: Annotated[int, Query(ge=1, le=100)] = 10,
    offset: Offset = 0,
    limit: Limit = 50,
) -> Page[LinkedTable]:
    """Return tables up- and downstream, the nearest first."""
    found = desk.lineage(table_id, direction, depth=depth, readers=asker.readers)
    return page_of(found, offset, limit)


@router.get(f"{_ROUTE}/joins", operation_id="joins", summary="By which columns it can be joined")
def joins(
    desk: Desk, asker: WhoAsks, table_id: TableId, offset: Offset = 0, limit: Limit = 50
) -> Page[KnownJoin]:
    """Return joins with others, the surest first."""
    return page_of(desk.joins(table_id, readers=asker.readers), offset, limit)


@router.get(
    f"{_ROUTE}/descriptions", operation_id="descriptions", summary="What is said of its columns"
)
def descriptions(
    desk: Desk, asker: WhoAsks, table_id: TableId, offset: Offset = 0, limit: Limit = 50
) -> Page[ColumnDescription]:
    """Return what is said of a table and each of its columns, with who says it and when."""
    return page_of(desk.descriptions(table_id, readers=asker.readers), offset, limit)


@router.get(f"{_ROUTE}/contexts", operation_id="contexts", summary="Texts that were added to it")
def contexts(
    desk: Desk, asker: WhoAsks, table_id: TableId, offset: Offset = 0, limit: Limit = 50
) -> Page[UserContext]:
    """Return texts that people added, by name."""
    return page_of(desk.contexts(table_id, readers=asker.readers), offset, limit)


@router.get("/joins/verdicts", operation_id="judged_joins", summary="Joins that people judged")
def judged_joins(
    desk: Desk, asker: WhoAsks, offset: Offset = 0, limit: Limit = 50
) -> Page[JudgedJoin]:
    """Return all joins that people confirmed or rejected."""
    return page_of(desk.judged_joins(readers=asker.readers), offset, limit)


@changes.put(
    f"{_ROUTE}/description", status_code=204, operation_id="describe", summary="Describe or reject"
)
def describe(desk: Desk, asker: Editor, said: Said) -> Response:
    """Keep what somebody says; it is searched after the next run."""
    about, author, readers = (said.table_id, said.column), asker.name, asker.readers
    if said.text is None:
        desk.reject(*about, author=author, readers=readers)
    else:
        desk.describe(*about, said.text, author=author, readers=readers)
    return Response(status_code=204)


@changes.delete(
    f"{_ROUTE}/description", status_code=204, operation_id="withdraw", summary="Withdraw that"
)
def withdraw(desk: Desk, asker: Editor, table_id: TableId, column: _Column = None) -> Response:
    """Remove a correction or rejection."""
    desk.withdraw(table_id, column, readers=asker.readers)
    return Response(status_code=204)


@changes.put(f"{_ROUTE}/context", status_code=204, operation_id="add_context", summary="Add a text")
def add_context(desk: Desk, asker: Editor, context: Context) -> Response:
    """Keep a text about a table, in the place of one of this name."""
    desk.add_context(context.table_id, context.name, context.text, readers=asker.readers)
    return Response(status_code=204)


@changes.delete(
    f"{_ROUTE}/context", status_code=204, operation_id="remove_context", summary="Remove a text"
)
def remove_context(
    desk: Desk, asker: Editor, table_id: TableId, name: Annotated[Name, Query(examples=["notes"])]
) -> Response:
    """Remove a text that was added."""
    desk.remove_context(table_id, name, readers=asker.readers)
    return Response(status_code=204)


@changes.put(f"{_ROUTE}/join", status_code=204, operation_id="judge_join", summary="Judge a join")
def judge_join(desk: Desk, asker: Editor, verdict: Verdict) -> Response:
    """Confirm or reject that two tables can be joined so; it counts at once."""
    desk.judge_join(
        verdict.table_id,
        verdict.columns,
        verdict.other,
        verdict.other_columns,
        holds=verdict.holds,
        author=asker.name,
        readers=asker.readers,
    )
    return Response(status_code=204)
