"""The page of one table."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from pneuma_assets.core.errors import PneumaError, QueryError
from pneuma_assets.core.service.catalog_types import ColumnPage, Marked, SearchAnswer, TablePage
from pneuma_assets.web.pages.drawings import join_graph, lineage_graph, trend
from pneuma_assets.web.pages.page import Page, ThePage
from pneuma_assets.web.pages.rendering import seconds_of, table_url
from pneuma_assets.web.pool import PooledRoute
from pneuma_assets.web.problems import problem_of

router = APIRouter(include_in_schema=False, route_class=PooledRoute)

COLUMNS = 100
"""Of a page; a table may have thousands."""
ROWS = 10

SNIPPETS = {"sql": "SQL", "pandas": "pandas", "dagster": "Dagster asset key"}
DOCUMENT_KINDS = {
    "context": "beside the table",
    "added": "added",
    "told": "told by another program",
    "lineage": "from its lineage",
    "summary": "written by a language model",
}


@router.get("/tables/{table_id:path}", response_class=HTMLResponse)
def table_page(
    page: ThePage,
    table_id: str,
    q: Annotated[str, Query(max_length=10_000)] = "",
    columns: Annotated[int, Query(ge=1, le=1_000)] = 1,
) -> HTMLResponse:
    """Show all that is known of a table, and mark what a question says."""
    table, question = page.desk.table(table_id, readers=page.asker.readers), q.strip()
    start = COLUMNS * (columns - 1)
    shown_columns = table.columns[start : start + COLUMNS]
    shown: dict[str, Any] = {
        "table": table,
        "question": question,
        "shown_columns": shown_columns,
        "column_pages": _column_pages(table, columns, q),
        "contents": _contents(table),
        "trend": trend([(seconds_of(at), count) for at, count in table.row_counts]),
        "lineage_graph": lineage_graph(table_id, table.lineage),
        "join_graph": join_graph(table_id, table.joins),
        "asset_url": _asset_url(page, table),
        "back": table_url(table_id, question),
        "snippet_names": SNIPPETS,
        "document_kinds": DOCUMENT_KINDS,
        "mark": _marker(page, question, table, shown_columns),
        **sampled(page, table_id),
        **_matched(page, table_id, question),
    }
    response = page.render("table.html", **shown)
    if question:
        page.note_later(response, question, "answered")
    return response


def _marker(
    page: Page, question: str, table: TablePage, columns: Sequence[ColumnPage]
) -> Callable[[str], Marked]:
    """Return what marks the words of a question in descriptions; of no question, none."""
    texts = [table.description.text, *(one.description.text for one in columns)]
    marked = page.desk.mark(question, texts) if question else []
    known = {one.text: one for one in marked}
    return lambda text: known.get(text, Marked(text))


def _matched(page: Page, table_id: str, question: str) -> dict[str, Any]:
    """Return what of the table a question names, as when it was found by it."""
    found: SearchAnswer | None = None
    if question:
        where = replace(page.where, tables=(table_id,))
        try:
            found = page.desk.search(
                question, k=1, where=where, judge=False, author=page.asker.name
            )
        except QueryError:  # the table is not indexed yet, or the question has no words
            found = None
    hit = found.hits[0] if found is not None and found.hits else None
    return {
        "passage": hit.passage if hit is not None and hit.passage.marks else None,
        "matched": () if hit is None else hit.columns,
        "confirmed": () if found is None else found.confirmed,
    }


def sampled(page: Page, table_id: str) -> dict[str, Any]:
    """Return some rows, or why there are none to show."""
    if not page.web.sample_rows:
        return {"sample": None, "sample_problem": "Rows are not shown here."}
    try:
        sample = page.desk.sample_rows(table_id, limit=ROWS, readers=page.asker.readers)
    except PneumaError as error:
        return {"sample": None, "sample_problem": problem_of(error).detail}
    return {"sample": sample, "sample_problem": "" if sample.rows else "No rows are kept yet."}


def _contents(table: TablePage) -> list[tuple[str, str]]:
    """Return the parts of the page with their ids, for the list of contents."""
    parts = [
        ("about", "About"),
        ("columns", "Columns"),
        ("rows", "Rows"),
        ("lineage", "Lineage"),
        ("joins", "Joins"),
        ("documents", "Documents"),
    ]
    return [*parts, *([("questions", "Questions")] if table.questions else []), ("use", "Use it")]


def _column_pages(table: TablePage, here: int, question: str) -> list[tuple[str, str, bool]]:
    """Return of each page of columns what it is called, its address, and whether it is shown."""
    count, made = len(table.columns), []
    for number in range(1, (count - 1) // COLUMNS + 2):
        first, last = COLUMNS * (number - 1) + 1, min(COLUMNS * number, count)
        given = {"q": question, "columns": number}
        address = f"?{urlencode({key: one for key, one in given.items() if one})}#columns"
        made.append((f"{first} to {last}", address, number == here))
    return made


def _asset_url(page: Page, table: TablePage) -> str | None:
    """Return the address of the table's asset in Dagster, where it has one."""
    if page.web.dagster_url is None or table.asset_key is None:
        return None
    return f"{page.web.dagster_url.rstrip('/')}/assets/{quote(table.asset_key, safe='/')}"
