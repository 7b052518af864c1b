"""What one state of the index holds: its tables, their documents, counts, size and health."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from elasticsearch import ApiError, AuthorizationException, Elasticsearch

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.errors import IndexDamagedError
from pneuma_assets.core.grouping import chunks, portions
from pneuma_assets.core.index.base import IndexInfo, TableContents
from pneuma_assets.core.index.elastic.alias import Opened
from pneuma_assets.core.index.elastic.client import Transport
from pneuma_assets.core.index.elastic.documents import (
    BLOCK,
    BLOCK_FIELDS,
    EVIDENCE,
    EVIDENCE_FIELDS,
    FACTS,
    FACTS_FIELDS,
    ROW,
    TABLE,
    TABLE_FIELDS,
    block_from,
    embedded_from,
    evidence_from,
    facts_of,
)
from pneuma_assets.core.index.elastic.errors import is_transient
from pneuma_assets.core.index.elastic.mapping import quantization_of, unescape
from pneuma_assets.core.index.elastic.queries import (
    MAX_CANDIDATES,
    Search,
    filtered,
    given_tables,
    of_records,
)
from pneuma_assets.core.index.identity import REBUILD
from pneuma_assets.core.tables import DocumentKind, EmbeddedBlock, TableFacts, TableTerms

ENGINE = "elasticsearch"
RED = "red"
UNKNOWN_SIZE = 0
"""Where the key may not know, or no shard is there."""

_VECTORS_A_PAGE = 500
_EVIDENCE_A_PAGE = 50
_EVIDENCE_A_REQUEST = 200
_DOCUMENTS_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class TableRecord:
    """What one table's record says.

    Attributes:
        generation: Of all its documents but its facts.
        blocks: How many it has.
        documents: How many hold its evidence; 0 where there is none.
        digest: Names its contents.
    """

    generation: int
    blocks: int
    documents: int
    digest: str


@dataclass(frozen=True, slots=True)
class FactsRecord:
    """What is known of a table as a whole, and the generation of the document that says so."""

    generation: int
    facts: TableFacts


def tables_at(
    transport: Transport,
    opened: Opened,
    table_ids: Iterable[str] | None = None,
    more: Sequence[Search] = (),
) -> dict[str, TableRecord]:
    """Return the records of these tables (all if None) that one state shows, by table id.

    `more` are further filters.
    """
    search = _documents(opened, TABLE, table_ids, TABLE_FIELDS, "generation", more)
    return {
        table_id: TableRecord(
            source["generation"], source["blocks"], source["documents"], source["digest"]
        )
        for table_id, source in (
            (_table_of(hit), hit["_source"]) for hit in _hits(transport, opened, search)
        )
    }


def facts_at(
    transport: Transport, opened: Opened, table_ids: Iterable[str] | None = None
) -> dict[str, FactsRecord]:
    """Return the facts of these tables (all if None) that one state shows."""
    search = _documents(opened, FACTS, table_ids, FACTS_FIELDS, "generation")
    return {
        _table_of(hit): FactsRecord(hit["_source"]["generation"], facts_of(hit))
        for hit in _hits(transport, opened, search)
    }


def kinds_at(
    transport: Transport, opened: Opened, more: Sequence[Search] = ()
) -> frozenset[DocumentKind]:
    """Return the kinds of the blocks that one state shows, and further filters let through."""
    search: Search = {
        "query": filtered({"term": {"doc": BLOCK}}, *opened.state.visible(), *more),
        "collapse": {"field": "kind"},  # one block of each kind
        "sort": [{"kind": "asc"}],
        "_source": list(BLOCK_FIELDS),
    }
    return frozenset(block_from(hit).kind for hit in _hits(transport, opened, search))


def facts_of_tables(transport: Transport, table_ids: Iterable[str]) -> dict[str, TableFacts]:
    """Return the facts of these tables."""

    def read(some: Sequence[str], opened: Opened) -> dict[str, TableFacts]:
        return _read_facts(transport, tables_at(transport, opened, some), opened)

    found: dict[str, TableFacts] = {}
    for some in chunks(list(dict.fromkeys(table_ids)), _DOCUMENTS_AT_ONCE):
        found |= transport.at_newest(partial(read, some))
    return found


def evidence_of_tables(transport: Transport, table_ids: Iterable[str]) -> dict[str, TableTerms]:
    """Return the evidence of these tables, in one request for up to some hundred of them."""
    found: dict[str, TableTerms] = {}
    for some in chunks(list(dict.fromkeys(table_ids)), _EVIDENCE_A_REQUEST):

        def make(opened: Opened, wanted: Sequence[str] = some) -> list[Search]:
            kept = _documents(opened, EVIDENCE, wanted, EVIDENCE_FIELDS)
            return [
                of_records([*opened.state.visible(), given_tables(wanted)], len(wanted)),
                {**kept, "size": len(wanted), "track_total_hits": False},
            ]

        records, hits = transport.ask(make)
        kept = dict(map(evidence_from, hits))
        found |= {i: kept.get(i, TableTerms()) for i in map(_table_of, records)}
    return found


def contents_of(
    transport: Transport, table_ids: Iterable[str] | None
) -> Iterator[tuple[str, TableContents]]:
    """Yield what is kept of tables, so many at a time that their documents fit in memory.

    Raises:
        IndexDamagedError: Documents do not add up to what the tables' records say.
    """

    def read(some: Sequence[str], opened: Opened) -> dict[str, TableContents]:
        records = tables_at(transport, opened, some)
        blocks = _read_blocks(transport, records, opened)
        evidence = _read_evidence(transport, records, opened)
        facts = _read_facts(transport, records, opened)
        return {i: TableContents(blocks[i], evidence[i], facts[i]) for i in records}

    wanted = None if table_ids is None else list(dict.fromkeys(table_ids))
    known = transport.at_newest(lambda opened: tables_at(transport, opened, wanted))
    sizes = {i: record.blocks + record.documents for i, record in known.items()}
    for some in portions(sizes, _DOCUMENTS_AT_ONCE):
        yield from transport.at_newest(partial(read, some)).items()


def _read_blocks(
    transport: Transport, records: Mapping[str, TableRecord], opened: Opened
) -> dict[str, list[EmbeddedBlock]]:
    having = {i: record.blocks for i, record in records.items() if record.blocks}
    search = _documents(opened, BLOCK, having, BLOCK_FIELDS, "block_id")
    found: dict[str, list[EmbeddedBlock]] = {i: [] for i in records}
    for hit in _hits(transport, opened, {**search, "fields": ["vector"]}, _VECTORS_A_PAGE):
        item = embedded_from(hit)
        found[item.block.table_id].append(item)
    _check("blocks", {i: len(found[i]) for i in having}, having, opened)
    return found


def _read_evidence(
    transport: Transport, records: Mapping[str, TableRecord], opened: Opened
) -> dict[str, TableTerms]:
    """Return the evidence of all these tables; that of a table without any is empty.

    Raises:
        IndexDamagedError: It is missing, or a row that is searched cannot be found.
    """
    having = {i: 1 for i, record in records.items() if record.documents}
    search = _documents(opened, EVIDENCE, having, EVIDENCE_FIELDS)
    found = dict(map(evidence_from, _hits(transport, opened, search, _EVIDENCE_A_PAGE)))
    _check("documents of evidence", {i: int(i in found) for i in having}, having, opened)
    rows = {i: records[i].documents - 1 for i in having if records[i].documents > 1}
    search = _documents(opened, ROW, rows, None, "row")
    there = Counter(unescape(hit["sort"][0]) for hit in _hits(transport, opened, search))
    _check("rows of evidence", there, rows, opened)
    return {i: found.get(i, TableTerms()) for i in records}


def _read_facts(
    transport: Transport, table_ids: Iterable[str], opened: Opened
) -> dict[str, TableFacts]:
    """Return the facts of all these tables, which are there.

    Raises:
        IndexDamagedError: Those of a table are missing.
    """
    wanted = dict.fromkeys(table_ids, 1)
    found = facts_at(transport, opened, wanted)
    _check("documents of facts", {i: int(i in found) for i in wanted}, wanted, opened)
    return {i: found[i].facts for i in wanted}


def _documents(
    opened: Opened,
    doc: str,
    table_ids: Iterable[str] | None,
    fields: Sequence[str] | None,
    then_by: str | None = None,
    more: Sequence[Search] = (),
) -> Search:
    """Return the search for the documents of one kind of tables (all if None), in their order."""
    filters = [{"term": {"doc": doc}}, *opened.state.visible(), *more]
    if table_ids is not None:
        filters.append(given_tables(list(table_ids)))
    return {
        "query": filtered(*filters),
        "sort": [{"table_id": "asc"}, *([{then_by: "asc"}] if then_by else [])],
        **({"stored_fields": "_none_"} if fields is None else {"_source": list(fields)}),
    }


def _hits(
    transport: Transport, opened: Opened, search: Search, size: int = MAX_CANDIDATES
) -> Iterator[Search]:
    for page in transport.pages(opened, search, size):
        yield from page


def _table_of(hit: Search) -> str:
    return unescape(hit["sort"][0])


def _check(
    what: str, found: Mapping[str, int], recorded: Mapping[str, int], opened: Opened
) -> None:
    for table_id, count in recorded.items():
        if found[table_id] != count:
            raise IndexDamagedError(
                f"The table {table_id!r} has {found[table_id]} {what} in the index "
                f"{opened.index!r}, but its record says {count}; {REBUILD}."
            )


def measure(client: Elasticsearch, opened: Opened, config: ElasticsearchConfig) -> IndexInfo:
    """Count what one state shows, and ask the cluster for the rest."""
    identity = opened.described.identity
    details = {
        "index": opened.index,
        "address": ", ".join(config.urls),
        "analyzer": identity.analyzer,
        "quantization": opened.described.quantization,
        "shards": str(opened.described.shards),
    }
    if opened.state.successor is not None:
        details["being built"] = opened.state.successor.index
    if notes := _outdated(opened, config):
        details["reindex"] = notes
    health = _health(client, opened.index)
    tables, blocks = _counts(client, opened, health)
    return IndexInfo(
        engine=ENGINE,
        encoder=identity.encoder,
        dimension=identity.dimension,
        tables=tables,
        blocks=blocks,
        size_bytes=_size(client, opened.index),
        health=health,
        details=details,
    )


def _counts(client: Elasticsearch, opened: Opened, health: str) -> list[int]:
    """Return the numbers of tables and blocks; 0 while shards are missing that hold them."""
    try:
        shown = [
            filtered({"term": {"doc": doc}}, *opened.state.visible()) for doc in (TABLE, BLOCK)
        ]
        return [int(client.count(index=opened.index, query=one)["count"]) for one in shown]
    except ApiError as error:
        if health == RED and is_transient(error) and client.indices.exists(index=opened.index):
            return [0, 0]
        raise


def _size(client: Elasticsearch, index: str) -> int:
    """Return the bytes that all copies take; 0 where the key may not know."""
    try:
        stats = client.indices.stats(index=index, metric="store")
    except AuthorizationException:
        return UNKNOWN_SIZE
    total = stats["_all"]["total"]  # empty where no shard is there
    return int(total["store"]["size_in_bytes"]) if total else UNKNOWN_SIZE


def _health(client: Elasticsearch, index: str) -> str:
    """Return green, yellow (a copy is missing) or red (blocks are missing)."""
    try:
        return str(client.cluster.health(index=index, timeout="1s")["status"])
    except AuthorizationException:
        return "unknown (the key lacks the cluster privilege 'monitor')"
    except ApiError as error:
        if error.status_code == 408 and isinstance(error.body, dict) and "status" in error.body:
            return str(error.body["status"])  # it waited in vain for something better
        raise


def _outdated(opened: Opened, config: ElasticsearchConfig) -> str:
    """Say which settings need `pneuma-assets reindex` to take effect."""
    wanted = quantization_of(config, opened.described.identity.dimension)
    changes = []
    if opened.described.quantization != wanted:
        changes.append(f"quantization {wanted}")
    if opened.described.shards != config.shards:
        changes.append(f"shards {config.shards}")
    return f"run 'pneuma-assets reindex' for: {', '.join(changes)}" if changes else ""
