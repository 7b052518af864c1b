"""All that is shown of one table, for who asks."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.relations.families import Family, family_of
from pneuma_assets.core.relations.part_names import order_of
from pneuma_assets.core.service.catalog_snapshot import View
from pneuma_assets.core.service.catalog_types import (
    ColumnPage,
    SampleRows,
    TableDocument,
    TablePage,
)
from pneuma_assets.core.service.describe import ColumnDescription, descriptions_of, moment
from pneuma_assets.core.service.joins import joins_of_table
from pneuma_assets.core.service.lineage import lineage_of
from pneuma_assets.core.service.snippets import snippets
from pneuma_assets.core.service.status import notes_of
from pneuma_assets.core.service.visible_tables import check_table
from pneuma_assets.core.store.problems import ROWS
from pneuma_assets.core.tables import MISSING, DocumentKind, Table, TableTerms
from pneuma_assets.core.text.suggest import check_number

if TYPE_CHECKING:
    from pneuma_assets.core.store import Store
    from pneuma_assets.core.store.tables import TableRecord

MOST_ROWS = 50
"""Rows that are shown of a table: so many the index keeps."""

LINEAGE_DEPTH = 3
_MOST_JOINS = 200
_MOST_TEXT = 20_000
"""Characters of a text about a table."""
_MOST_DOCUMENTS = 100
_PROBLEM = "it cannot be read at present; who keeps this catalogue knows why"


def table_page(
    store: "Store",
    deployment: Deployment,
    table_id: str,
    readers: Sequence[str] | None,
    view: View,
) -> TablePage:
    """Return the page of a table, with what the asker may see of it.

    Raises:
        ConfigError: There is no such table, or they may not see it.
    """
    check_table(store, table_id, readers)
    description, *said = descriptions_of(store, deployment, table_id)
    record = store.tables.record(table_id)
    table = next(store.tables.profiles([table_id]), None)
    key = f"{deployment.key_prefix}/{table_id}"
    page = TablePage(
        view.card_of(table_id),
        description,
        () if table is None else _columns(store, table, said),
        row_counts=tuple((str(moment(at)), n) for at, n in store.statistics.row_counts(table_id)),
        joins=tuple(joins_of_table(store, table_id, readers)[:_MOST_JOINS]),
        lineage=tuple(lineage_of(store, table_id, depth=LINEAGE_DEPTH, readers=readers)),
        documents=tuple(islice(_documents(store, table_id), _MOST_DOCUMENTS)),
        copies=view.copies(table_id),
        family=_family(view, table_id),
        asset_key=key if store.asset_keys.has(key) else None,
    )
    return page if record is None else _with_record(page, deployment, record, table, readers, store)


def _columns(
    store: "Store", table: Table, said: Sequence[ColumnDescription]
) -> tuple[ColumnPage, ...]:
    profiles = store.statistics.column_profiles(table.table_id)
    descriptions = {one.column: one for one in said if one.present}
    return tuple(
        ColumnPage(
            one.name,
            one.type,
            descriptions[one.name],
            one.hidden,
            None if one.hidden else profiles.get(one.name),
        )
        for one in table.columns
    )


def _with_record(
    page: TablePage,
    deployment: Deployment,
    record: "TableRecord",
    table: Table | None,
    readers: Sequence[str] | None,
    store: "Store",
) -> TablePage:
    """Return a page with what tells where the table lies to those alone who may see all."""
    table_id = record.table_id
    found = (p for p in store.problems.all() if p.subject == table_id and p.stage != ROWS)
    cause = next((p.cause for p in found), None)  # of rows that are missing the notes tell
    location, definition = record.location, None if table is None else table.definition
    if readers is not None:
        cause, location, definition = cause and _PROBLEM, "", None
    config = next((one for one in deployment.sources if one.name == record.source), None)
    told = [one.profile for one in page.columns if one.profile is not None]
    missing = {"", *(cell for one in told for cell in one.missing)}
    some = sorted(missing) if len(told) == len(page.columns) else MISSING
    return replace(
        page,
        notes=notes_of(record),
        problem=cause,
        location=location,
        definition=None if definition is None else definition.sql,
        snippets=dict(
            snippets(config, table_id, location, record.format, table, some, page.asset_key)
        ),
    )


def _documents(store: "Store", table_id: str) -> Iterator[TableDocument]:
    """Yield what is written about a table, as the index has it."""
    for kind in (DocumentKind.CONTEXT, DocumentKind.FOLDER):
        for text in store.documents.of_kind(kind, [table_id]).get(table_id, ()):
            yield TableDocument("", str(kind), text[:_MOST_TEXT])
    for one in store.documents.user_contexts([table_id])[table_id]:
        yield TableDocument(one.name, "added", one.text[:_MOST_TEXT])
    for origin, text in store.edges.told(table_id):
        yield TableDocument(origin, "told", text[:_MOST_TEXT])
    for kind in (DocumentKind.LINEAGE, DocumentKind.SUMMARY):
        for text in store.documents.of_kind(kind, [table_id]).get(table_id, ()):
            yield TableDocument("", str(kind), text[:_MOST_TEXT])


def _family(view: View, table_id: str) -> Family | None:
    members = sorted(view.family_of(table_id), key=order_of, reverse=True)
    return family_of(table_id, members, members) if len(members) > 1 else None


def sample_rows(evidence: TableTerms | None, limit: int, total: int | None) -> SampleRows:
    """Return rows that the index keeps of a table.

    Raises:
        QueryError: The limit is out of range.
    """
    check_number("limit", limit, 1, MOST_ROWS)
    if evidence is None:
        return SampleRows((), (), total, whole=False)
    rows = evidence.rows[:limit]
    return SampleRows(evidence.columns, rows, total, whole=len(rows) == total)
