"""What the pages of tables show, and what others may know of them, by what the store knows."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from pneuma_assets.core.config.sources import SourceConfig, TableAddress
from pneuma_assets.core.lineage.outside import TableFields
from pneuma_assets.core.store.manifest.contents import DescribedTable, TablePage
from pneuma_assets.core.store.manifest.joins import joins_of_pages
from pneuma_assets.core.store.store import Store
from pneuma_assets.core.store.table_words import said_of_table
from pneuma_assets.core.store.worklist.records import TableRecord
from pneuma_assets.core.tables import Column, Description, Problem, Table
from pneuma_assets.core.text.safe import printable

_IN_WORDS = {
    "listing": "could not be listed",
    "profile": "could not be read",
    "sample": "its rows could not be sampled",
    "narrations": "its columns could not be described",
    "documents": "its texts could not be made",
}
"""What a stage that failed means for people who know no stages."""

MOST_KINDS = 3
"""More of an asset Dagster does not show."""

MOST_PROBLEM_CHARS = 1_000
MOST_DEPS = 200
"""Tables that one is built from, as its page shows it; the graph of more nobody can read."""

NAMED, NAME_CHARS = 8, 60
"""Columns that stand for a table of which nobody wrote, and characters of each name."""


def address_of(source: SourceConfig, record: TableRecord) -> TableAddress:
    """Return how a table is known to others; its source's kind may be anybody's."""
    return source.address_of(record.table_id, record.location, record.format)


def problems_by_table(problems: Iterable[Problem]) -> dict[str, str]:
    """Return what is wrong of each table or source, in one text."""
    found: dict[str, list[str]] = {}
    for problem in problems:
        found.setdefault(problem.subject, []).append(
            f"{_IN_WORDS.get(problem.stage, problem.stage)}: {problem.cause}"
        )
    return {subject: "; ".join(causes)[:MOST_PROBLEM_CHARS] for subject, causes in found.items()}


def described(
    store: Store, addresses: Mapping[str, TableAddress], words: Mapping[str, Description]
) -> Iterator[DescribedTable]:
    """Yield what others may know of tables: those of `addresses`, of which people say `words`."""
    said_of_columns = store.pages.described_columns()
    for table_id, known in addresses.items():
        columns = said_of_columns.get(table_id, {})
        texts = {name: one for name, (_, one) in columns.items()}
        types = {name: kind for name, (kind, _) in columns.items()}
        said = words.get(table_id)
        yield DescribedTable(table_id, known.name, known.uri, texts, types, said)


def said_of(store: Store, records: Iterable[TableRecord]) -> dict[str, Description]:
    """Return what each table is in people's words, by id, where there are any."""
    corrected = {c.table_id: [c] for c in store.corrections.all() if c.column is None}
    written = store.documents.beginnings()
    found = {
        one.table_id: said_of_table(
            one.comment,
            written.get(one.table_id, ()),
            corrected.get(one.table_id, ()),
            partial(_columns, store, one.table_id),
        )
        for one in records
    }
    return {table_id: said for table_id, said in found.items() if said is not None}


def pages_of(
    store: Store,
    key_prefix: str,
    records: Iterable[TableRecord],
    addresses: Mapping[str, TableAddress],
    said: Mapping[str, Description],
) -> list[TablePage]:
    """Return what the pages of tables show, of those that have one.

    Args:
        store: What else of them is read from.
        key_prefix: What the keys of this deployment's tables begin with.
        records: The tables.
        addresses: What others know them by, by id.
        said: What people say of them, by id.
    """
    keys = {i: key for key, i in store.pages.keys().items() if key == f"{key_prefix}/{i}"}
    paged = [record for record in records if record.table_id in keys]
    unsaid = store.tables.profiles(r.table_id for r in paged if r.table_id not in said)
    shown = {table.table_id: _columns_of(table) for table in unsaid if table.columns}
    shown |= {table_id: one.text for table_id, one in said.items()}
    problems = problems_by_table(store.problems())
    deps = _deps(store, {r.table_id: keys[r.table_id] for r in paged})
    joins = joins_of_pages(store, {record.table_id for record in paged})
    outside = {i: list(said.values()) for i, said in store.edges.fields().items()}
    return [
        TablePage(
            record.table_id,
            record.source,
            keys[record.table_id],
            shown.get(record.table_id, ""),
            addresses[record.table_id].name,
            addresses[record.table_id].uri,
            _kinds(addresses[record.table_id], outside.get(record.table_id, ())),
            _listed(outside, record.table_id, "owners"),
            problem=problems.get(record.table_id),
            updated_at=record.updated_at,
            indexed=record.indexed_at is not None,
            deps=deps.get(record.table_id, ()),
            joins=tuple(joins.get(record.table_id, ())),
            tags=_listed(outside, record.table_id, "tags"),
            assets=_listed(outside, record.table_id, "assets"),
            facts=_listed(outside, record.table_id, "facts"),
        )
        for record in paged
    ]


def _deps(store: Store, keys: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the keys of the pages of the tables that each table with a page is built from."""
    return {
        table_id: tuple(keys[one] for one in sorted(others & keys.keys())[:MOST_DEPS])
        for table_id, others in store.edges.derived().items()
        if table_id in keys
    }


def _columns(store: Store, table_id: str) -> Sequence[Column]:
    return next((table.columns for table in store.tables.profiles([table_id])), ())


def _columns_of(table: Table) -> str:
    named = [printable(column.name)[:NAME_CHARS] for column in table.columns[:NAMED]]
    more = len(table.columns) - len(named)
    return f"Columns: {', '.join(named)}{f' and {more} more' if more else ''}."


def _listed(
    outside: Mapping[str, Sequence[TableFields]], table_id: str, name: str
) -> tuple[str, ...]:
    """Return what anybody says in one field of a table, each once."""
    said = (getattr(one, name) for one in outside.get(table_id, ()))
    return tuple(dict.fromkeys(one for some in said for one in some))


def _kinds(address: TableAddress, outside: Sequence[TableFields]) -> tuple[str, ...]:
    """Return kinds as Dagster takes them: lower-case letters, digits and '_'."""
    said = [*(kind for one in outside for kind in one.kinds), *address.kinds]
    kinds = (re.sub(r"[^a-z0-9_]", "", kind.lower())[:30] for kind in said)
    return tuple(dict.fromkeys(kind for kind in kinds if kind))[:MOST_KINDS]
