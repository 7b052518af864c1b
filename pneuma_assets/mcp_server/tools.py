"""The tools, each a question to the desk on behalf of who asks.

Their docstrings and parameters are what a model is shown of them, so they are short. A limit above
the most is not refused but set to it, and the result says so.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field

from pneuma_assets.core.answers.results import NamedRows, TableAnswer
from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.mcp_server import results as r

if TYPE_CHECKING:
    from pneuma_assets.core.access_names import Asker
    from pneuma_assets.core.service.catalog_types import ColumnPage, SearchHit, TablePage
    from pneuma_assets.core.service.workspace import Workspace

MOST_ITEMS = 50
"""Of any list."""
TOKENS_A_TABLE = 140
"""Of a list of tables; ten and what surrounds them are read with 1,500."""
MOST_TOKENS = 3_000
"""Of any other list, as `results.estimated_tokens` counts them."""
MOST_ANSWERS = 3
_MOST_GROUPS = 100
_MOST_READERS = 20
"""That are counted, and of which the statement is looked up."""
_LINES = (r.LINE, 100, 60, 30)
"""Characters of what is said of a table; the first with which all are read with few tokens."""

Question = Annotated[str, Field(description="In plain language.")]
TableId = Annotated[str, Field(description="Id of a table, as find_tables gives it.")]
Limit = Annotated[
    int,
    Field(ge=1, description=f"Most items, 1 to {MOST_ITEMS}."),
    AfterValidator(lambda given: min(given, MOST_ITEMS)),
]
Depth = Annotated[
    int,
    Field(ge=1, description="Steps to follow, 1 to 100."),
    AfterValidator(lambda given: min(given, 100)),
]


def find_tables(
    desk: "Workspace", asker: "Asker", question: Question, limit: Limit = 10
) -> r.FoundTables:
    """Find the tables that hold the answer to a question, best first. Start here."""
    where = IndexFilter(readers=asker.readers)
    found = desk.search(question, k=limit, where=where, author=asker.name)
    confirmed = [
        r.ConfirmedQuestion(question=one.question, tables=list(one.tables[:5]))
        for one in found.confirmed
        if one.confirmed
    ][:2]
    tokens = TOKENS_A_TABLE * limit - r.tokens_of(confirmed)
    tables: list[r.FoundTable] = []
    for line in _LINES:
        tables = [_table(hit, line) for hit in found.hits[:limit]]
        if r.tokens_of(tables) <= tokens:
            break
    tables = r.fitting(tables, tokens)
    return r.FoundTables(
        total=found.total,
        limit=limit,
        truncated=len(tables) < found.total,
        tables=tables,
        unlikely=found.unlikely,
        missing=[one.effect for one in found.missing],
        confirmed=confirmed,
    )


def _table(hit: "SearchHit", line: int) -> r.FoundTable:
    card, sure = hit.card, hit.result.confidence
    return r.FoundTable(
        table=card.table_id,
        sure=None if sure is None else round(sure, 2),
        about=r.text_of(card.comment, line) if line > _LINES[-1] else "",
        match=r.text_of(hit.passage.text, line),
        columns=[r.text_of(name, line) for name in hit.columns[: 3 if line > _LINES[-1] else 1]],
        rows=card.rows,
        updated=card.updated_at and card.updated_at[:10],
    )


def describe_table(
    desk: "Workspace",
    asker: "Asker",
    table: TableId,
    limit: Limit = MOST_ITEMS,
    offset: Annotated[int, Field(ge=0, description="Columns to skip.")] = 0,
) -> r.TableDetails:
    """Describe a table: its columns with types, meaning and values, and how to join it."""
    page = desk.table(table, readers=asker.readers)
    columns = r.fitting(map(_column, page.columns[offset : offset + limit]), MOST_TOKENS)
    joins = [
        r.Join(
            on=_condition(table, one.columns, one.other, one.other_columns),
            other=one.other,
            sure=round(one.score, 2),
        )
        for one in page.joins[:10]
    ]
    return r.TableDetails(
        total=len(page.columns),
        limit=limit,
        offset=offset,
        truncated=offset + len(columns) < len(page.columns),
        columns=columns,
        joins=joins,
        joins_total=len(page.joins),
        **_about(page),
    )


def _about(page: "TablePage") -> dict[str, Any]:
    card = page.card
    return {
        "table": card.table_id,
        "about": page.description.text or card.comment,
        "rows": card.rows,
        "format": card.format,
        "updated": card.updated_at,
        "owners": card.owners[:5],
        "documents": [f"{one.name}: {one.text[: r.LINE * 10]}" for one in page.documents[:3]],
        "documents_total": len(page.documents),
        "notes": [*page.notes[:5], *([page.problem] if page.problem else [])],
    }


def _column(column: "ColumnPage") -> r.Column:
    found = r.Column(name=column.name, type=column.type, about=column.description.text)
    profile = column.profile
    if profile is not None:
        found.nulls, found.distinct = round(profile.nulls, 3), profile.distinct
        found.estimated = not profile.distinct_exact
        values = (profile.least, profile.greatest, *(value for value, _ in profile.frequent[:3]))
        found.least, found.greatest, *found.frequent = (r.text_of(one, 40) for one in values)
    return found


def _condition(table: str, columns: Sequence[str], other: str, theirs: Sequence[str]) -> str:
    """Return by which columns two tables are joined, each after the last part of its table's id."""
    here, there = (one.rpartition("/")[2] for one in (table, other))
    pairs = zip(columns, theirs, strict=True)
    return " AND ".join(f"{here}.{a} = {there}.{b}" for a, b in pairs)


def find_groups(
    desk: "Workspace", asker: "Asker", question: Question, limit: Limit = 5
) -> r.FoundGroups:
    """Find sets of tables to join for a question, with the columns that join them."""
    found = desk.find_groups(question, k=_MOST_GROUPS, where=IndexFilter(readers=asker.readers))
    groups = [
        r.Group(
            tables=list(one.tables),
            joins=[
                _condition(join.table, join.columns, join.other, join.other_columns)
                for join in one.joins[:10]
            ],
        )
        for one in found[:limit]
    ]
    groups = r.fitting(groups, MOST_TOKENS)
    return r.FoundGroups(
        total=len(found) if len(found) < _MOST_GROUPS else None,
        limit=limit,
        truncated=len(groups) < len(found),
        groups=groups,
    )


def answer(desk: "Workspace", asker: "Asker", question: Question, limit: Limit = 20) -> r.Answered:
    """Answer a question with rows and the SQL that gave them. Slow; check the SQL."""
    found = desk.answer(question, where=IndexFilter(readers=asker.readers))
    given: list[TableAnswer | NamedRows] = [*found.answers, *found.named]
    tokens = MOST_TOKENS // max(1, min(MOST_ANSWERS, len(given)))
    shown = [_statement(one, limit, tokens) for one in given[:MOST_ANSWERS]]
    return r.Answered(
        total=len(given),
        limit=MOST_ANSWERS,
        truncated=len(shown) < len(given),
        outcome=str(found.outcome),
        reason=found.reason,
        unlikely=found.unlikely,
        missing=[one.effect for one in found.missing],
        answers=shown[: len(found.answers)],
        named=shown[len(found.answers) :],
        nearest=list(found.nearest[:5]),
    )


def _statement(one: TableAnswer | NamedRows, limit: int, tokens: int) -> r.Statement:
    said: dict[str, Any]
    if isinstance(one, TableAnswer):
        said = {"tables": list(one.tables), "sql": one.sql, "made_by": one.made_by}
        said["unmatched"] = list(one.unmatched[:10])
        said |= {"means": one.means, "doubts": list(one.doubts)}
    else:
        said = {"tables": [one.table]}
    said["unread"] = list(one.unread)
    total = None if one.more else len(one.rows)
    return r.Statement.of(one.columns, one.rows, limit=limit, tokens=tokens, total=total, **said)


def sample_rows(desk: "Workspace", asker: "Asker", table: TableId, limit: Limit = 5) -> r.Rows:
    """Show some rows of a table."""
    if not (desk.loaded.deployment.web.sample_rows or asker.is_operator):
        raise QueryError("no rows are shown here; describe_table tells what is in columns")
    found = desk.sample_rows(table, limit=limit, readers=asker.readers)
    total = len(found.rows) if found.whole else found.total
    return r.Rows.of(found.columns, found.rows, total=total, limit=limit, tokens=MOST_TOKENS)


def lineage(
    desk: "Workspace",
    asker: "Asker",
    table: TableId,
    direction: Literal["upstream", "downstream", "both"] = "both",
    depth: Depth = 3,
    limit: Limit = 30,
) -> r.Lineage:
    """List the tables that a table is built from (upstream) or that use it (downstream)."""
    way = None if direction == "both" else direction
    found = desk.lineage(table, way, depth=depth, keys=False, readers=asker.readers)
    links = (
        r.Link(table=o.table_id, direction=o.direction, depth=o.depth, via=o.via, kind=o.kind)
        for o in sorted(found, key=lambda one: one.depth)[:limit]
    )
    tables = r.fitting(links, MOST_TOKENS)
    cut = len(tables) < len(found)
    return r.Lineage(total=len(found), limit=limit, truncated=cut, tables=tables)


def example_queries(
    desk: "Workspace", asker: "Asker", table: TableId, limit: Limit = 5
) -> r.Examples:
    """Show SQL that people confirmed, and of views, that reads a table."""
    found = list(_examples(desk, asker, table))
    examples = r.fitting(found[:limit], MOST_TOKENS)
    cut = len(examples) < len(found)
    return r.Examples(total=len(found), limit=limit, truncated=cut, examples=examples)


def _examples(desk: "Workspace", asker: "Asker", table: str) -> Iterator[r.Example]:
    page = desk.table(table, readers=asker.readers)
    said = desk.confirmed_answers(readers=asker.readers, author=asker.name, limit=1_000)
    for one in said:
        if one.confirmed and one.sql and table in one.tables:
            whose = {"of": one.question, "author": one.author}
            yield r.Example(sql=one.sql, kind="confirmed answer", **whose)
    if page.definition:
        yield r.Example(sql=page.definition, kind="definition", of=table)
    below = [one for one in page.lineage if one.direction == "downstream" and one.depth == 1]
    for link in below[:_MOST_READERS]:
        sql = desk.table(link.table_id, readers=asker.readers).definition
        if sql:
            yield r.Example(sql=sql, kind="reader", of=link.table_id)
    if "sql" in page.snippets:
        yield r.Example(sql=page.snippets["sql"], kind="snippet", of=table)


TOOLS = (
    *(find_tables, describe_table, find_groups, answer, sample_rows),
    *(lineage, example_queries),
)
