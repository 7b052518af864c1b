"""Makes the manifest of what the store knows: at a run's end, and wherever it is out of date."""

import logging
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from operator import attrgetter

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.sources import SourceConfig, TableAddress
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.lineage.external import TableFields
from pneuma_assets.core.relations.join_graph import JoinEdge
from pneuma_assets.core.store.dagster_manifest import (
    DescribedTable,
    TablePage,
    made_of,
    write_described,
    write_pages,
)
from pneuma_assets.core.store.descriptions import table_description
from pneuma_assets.core.store.store import Store
from pneuma_assets.core.store.tables import TableRecord
from pneuma_assets.core.tables import Column, Description, Problem, Table, content_hash
from pneuma_assets.core.text.safe import plain_in_markdown, printable

logger = logging.getLogger(__name__)

RECIPE = "9"
"""Of how a manifest is made; another one makes every manifest anew."""

_IN_WORDS = {
    "listing": "could not be listed",
    "profile": "could not be read",
    "time": "it took too long to read",
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

MOST_JOINS = 30
"""Of one table, those that are believed first; a key that everything refers to has thousands."""

MOST_COLUMNS = 8
"""Of one join, on each side."""

JOIN_NAME_CHARS = 100
"""Of the name of a column or of a table."""


def keep_manifest(store: Store, deployment: Deployment, *, forced: bool = False) -> bool:
    """Write the manifest if store or deployment changed, or it is `forced`; tells whether it was.

    Raises `StateError`.
    """
    now = _made_of(store, deployment)
    if not forced and made_of(store.manifests) == now:
        return False
    sources = {source.name: source for source in deployment.sources}
    records = [record for record in store.tables.records() if record.source in sources]
    addresses = {r.table_id: address_of(sources[r.source], r) for r in records}
    said = said_of(store, records)
    write_described(store.manifests, list(described(store, addresses, said)), now)
    shown = [record for record in records if sources[record.source].visible]
    pages = pages_of(store, deployment.key_prefix, shown, addresses, said)
    write_pages(store.manifests, pages, now)
    return True


def refresh_manifest(store: Store, deployment: Deployment) -> None:
    """Bring the manifest up to date where that can be done; tables are indexed all the same."""
    try:
        keep_manifest(store, deployment)
    except StateError as error:
        logger.warning("Pages in Dagster are as they were: %s", error)


def _made_of(store: Store, deployment: Deployment) -> str:
    sources = [
        f"{source.name} {source.type} {source.location} {source.visible}"
        for source in deployment.sources
    ]
    known = [one.fingerprint() for one in (store.asset_keys, store.edges, store.joins)]
    return content_hash(RECIPE, deployment.key_prefix, *known, *sources)


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
    said_of_columns = store.narrations.of_all()
    for table_id, known in addresses.items():
        columns = said_of_columns.get(table_id, {})
        texts = {name: one for name, (_, one) in columns.items()}
        types = {name: kind for name, (kind, _) in columns.items()}
        said = words.get(table_id)
        yield DescribedTable(table_id, known.name, known.uri, texts, types, said)


def said_of(store: Store, records: Iterable[TableRecord]) -> dict[str, Description]:
    """Return what each table is in people's words, by id, where there are any."""
    corrected = {c.table_id: [c] for c in store.descriptions.corrections() if c.column is None}
    written = store.documents.beginnings()
    commented: dict[str, list[Column]] = defaultdict(list)
    for table in store.tables.profiles(written):
        commented[table.table_id] = [column for column in table.columns if column.comment]
    found = {
        one.table_id: table_description(
            one.comment,
            written.get(one.table_id, ()),
            corrected.get(one.table_id, ()),
            partial(commented.__getitem__, one.table_id),
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
    """Return what tables' pages show, where they have one, by addresses and people's words."""
    keys = {i: key for key, i in store.asset_keys.keys().items() if key == f"{key_prefix}/{i}"}
    paged = [record for record in records if record.table_id in keys]
    unsaid = store.tables.profiles(r.table_id for r in paged if r.table_id not in said)
    shown = {table.table_id: _columns_of(table) for table in unsaid if table.columns}
    shown |= {table_id: one.text for table_id, one in said.items()}
    problems = problems_by_table(store.problems.all())
    mine = {r.table_id: keys[r.table_id] for r in paged}
    deps = {
        table_id: tuple(mine[one] for one in sorted(others & mine.keys())[:MOST_DEPS])
        for table_id, others in store.edges.derived().items()
    }
    joins = joins_of_pages(store, mine.keys())
    outside = {i: list(said.values()) for i, said in store.edges.fields().items()}

    def page_of(record: TableRecord) -> TablePage:
        table_id, address = record.table_id, addresses[record.table_id]
        told = outside.get(table_id, ())
        return TablePage(
            *(table_id, record.source, keys[table_id], shown.get(table_id, "")),
            *(address.name, address.uri, _kinds(address, told)),
            owners=_distinct(one.owners for one in told),
            problem=problems.get(table_id),
            updated_at=record.updated_at,
            indexed=record.indexed_at is not None,
            deps=deps.get(table_id, ()),
            joins=tuple(joins.get(table_id, ())),
            tags=_distinct(one.tags for one in told),
            assets=_distinct(one.assets for one in told),
            facts=_distinct(one.facts for one in told),
        )

    return [page_of(record) for record in paged]


def _columns_of(table: Table) -> str:
    named = [printable(column.name)[:NAME_CHARS] for column in table.columns[:NAMED]]
    more = len(table.columns) - len(named)
    return f"Columns: {', '.join(named)}{f' and {more} more' if more else ''}."


def _distinct(said: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for some in said for one in some))


def _kinds(address: TableAddress, outside: Sequence[TableFields]) -> tuple[str, ...]:
    """Return kinds as Dagster takes them: lower-case letters, digits and '_'."""
    said = [*(kind for one in outside for kind in one.kinds), *address.kinds]
    kinds = (re.sub(r"[^a-z0-9_]", "", kind.lower())[:30] for kind in said)
    return tuple(dict.fromkeys(kind for kind in kinds if kind))[:MOST_KINDS]


def joins_of_pages(store: Store, table_ids: Collection[str]) -> dict[str, list[str]]:
    """Return how tables with a page are joined with each other, by the page's table."""
    edges = [edge for edge in store.joins.of_tables(table_ids) if {*edge.tables} <= {*table_ids}]
    found: dict[str, list[str]] = {}
    for edge in sorted(edges, key=attrgetter("doubt")):
        for refers in (True, False):
            shown = found.setdefault(edge.table if refers else edge.other, [])
            if len(shown) < MOST_JOINS:
                shown.append(_told(edge, refers=refers))
    return found


def _told(edge: JoinEdge, *, refers: bool) -> str:
    """Return a join as the page of one side tells it; names are anybody's and stand as they are."""
    sides = [(edge.table, edge.columns), (edge.other, edge.other_columns)]
    (_, mine), (other, theirs) = sides if refers else reversed(sides)
    share = "" if edge.share is None else f", {edge.share:.0%} of cells found"
    way = edge.way(refers=refers)
    return f"{_names(mine)} {way} {_names([other])} ({_names(theirs)}): {edge.kind}{share}"


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(_plain, names[:MOST_COLUMNS]))


@lru_cache(maxsize=100_000)
def _plain(name: str) -> str:
    return plain_in_markdown(printable(name)[:JOIN_NAME_CHARS])
