"""What the store knows becomes the manifest: at a run's end, and wherever it is out of date."""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.sources import SourceConfig, TableAddress
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.manifest import (
    COLUMNS,
    PAGES,
    DescribedTable,
    TablePage,
    write_described,
    write_pages,
)
from pneuma_assets.core.store.packed import NotReadableError, head_of
from pneuma_assets.core.store.records import TableRecord
from pneuma_assets.core.store.store import Store
from pneuma_assets.core.store.table_words import said_of_table
from pneuma_assets.core.tables import Column, Description, Problem, Table, content_hash
from pneuma_assets.core.text.clean import printable

logger = logging.getLogger(__name__)

RECIPE = "5"
"""Of how a manifest is made; another one makes every manifest anew."""

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
NAMED, NAME_CHARS = 8, 60
"""Columns that stand for a table of which nobody wrote, and characters of each name."""


def keep_manifest(store: Store, deployment: Deployment, *, forced: bool = False) -> bool:
    """Write the manifest anew if the store or the deployment file says something else than it did.

    Asked whenever a run or a tick has opened the store, so that it comes into being also where
    nothing waits to be indexed: after an upgrade, or if it was lost. What that costs is a few
    short queries.

    Args:
        store: What the tables are read from.
        deployment: Names the sources, and whose tables these are.
        forced: Do not ask whether anything changed.

    Returns:
        Whether it was written.

    Raises:
        StateError: It cannot be written, or the store not be read.
    """
    made_of = _made_of(store, deployment)
    if not forced and _kept(store) == made_of:
        return False
    sources = {source.name: source for source in deployment.sources}
    records = [record for record in store.work.records() if record.source in sources]
    addresses = {r.table_id: address_of(sources[r.source], r) for r in records}
    said = _said(store, records)
    write_described(store.manifests, list(_described(store, addresses, said)), made_of)
    prefix = f"{deployment.key_prefix}/"
    keys = {i: key for key, i in store.pages.keys().items() if key == prefix + i}
    paged = [r for r in records if r.table_id in keys and sources[r.source].visible]
    unsaid = store.work.tables(r.table_id for r in paged if r.table_id not in said)
    shown = {table.table_id: _columns_of(table) for table in unsaid if table.columns}
    shown |= {table_id: one.text for table_id, one in said.items()}
    problems = problems_by_table(store.problems())
    pages = [
        TablePage(
            record.table_id,
            record.source,
            keys[record.table_id],
            shown.get(record.table_id, ""),
            addresses[record.table_id].name,
            addresses[record.table_id].uri,
            _kinds(addresses[record.table_id]),
            problem=problems.get(record.table_id),
            updated_at=record.updated_at,
            indexed=record.indexed_at is not None,
        )
        for record in paged
    ]
    write_pages(store.manifests, pages, made_of)
    return True


def refresh_manifest(store: Store, deployment: Deployment) -> None:
    """Bring the manifest up to date where that can be done; tables are indexed all the same."""
    try:
        keep_manifest(store, deployment)
    except StateError as error:
        logger.warning("Pages in Dagster are as they were: %s", error)


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


def _made_of(store: Store, deployment: Deployment) -> str:
    sources = [
        f"{source.name} {source.type} {source.location} {source.visible}"
        for source in deployment.sources
    ]
    return content_hash(RECIPE, deployment.key_prefix, store.pages.fingerprint(), *sources)


def _kept(store: Store) -> str | None:
    """Return what both parts of the manifest were made of; None if either cannot be used."""
    try:
        made = {head_of(store.manifests.begin(name)).made_of for name in (PAGES, COLUMNS)}
    except NotReadableError:
        return None
    return made.pop() if len(made) == 1 else None


def _described(
    store: Store, addresses: Mapping[str, TableAddress], words: Mapping[str, Description]
) -> Iterator[DescribedTable]:
    described = store.pages.described_columns()
    for table_id, known in addresses.items():
        columns = described.get(table_id, {})
        texts = {name: one for name, (_, one) in columns.items()}
        types = {name: kind for name, (kind, _) in columns.items()}
        said = words.get(table_id)
        yield DescribedTable(table_id, known.name, known.uri, texts, types, said)


def _said(store: Store, records: Iterable[TableRecord]) -> dict[str, Description]:
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


def _columns(store: Store, table_id: str) -> Sequence[Column]:
    return next((table.columns for table in store.work.tables([table_id])), ())


def _columns_of(table: Table) -> str:
    named = [printable(column.name)[:NAME_CHARS] for column in table.columns[:NAMED]]
    more = len(table.columns) - len(named)
    return f"Columns: {', '.join(named)}{f' and {more} more' if more else ''}."


def _kinds(address: TableAddress) -> tuple[str, ...]:
    """Return kinds as Dagster takes them: lower-case letters, digits and '_'."""
    kinds = (re.sub(r"[^a-z0-9_]", "", kind.lower())[:30] for kind in address.kinds)
    return tuple(dict.fromkeys(kind for kind in kinds if kind))[:MOST_KINDS]
