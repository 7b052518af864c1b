"""What is in the index: its tables, their blocks with vectors, and their evidence."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from pneuma_assets.core.errors import IndexDamagedError
from pneuma_assets.core.grouping import chunks, portions
from pneuma_assets.core.index.base import TableContents
from pneuma_assets.core.index.elastic.documents import (
    BLOCK,
    BLOCK_FIELDS,
    FACTS,
    FACTS_FIELDS,
    TABLE,
    TABLE_FIELDS,
    block_from,
    facts_of,
)
from pneuma_assets.core.index.elastic.evidence import EVIDENCE, EVIDENCE_FIELDS, ROW, evidence_from
from pneuma_assets.core.index.elastic.requests import Search, given_tables, table_records
from pneuma_assets.core.index.elastic.target import Opened
from pneuma_assets.core.index.elastic.text import unescape
from pneuma_assets.core.index.elastic.transport import Transport
from pneuma_assets.core.index.identity import REBUILD
from pneuma_assets.core.tables import DocumentKind, EmbeddedBlock, TableFacts, TableTerms

_VECTORS_A_PAGE = 500
_EVIDENCE_A_PAGE = 50
_EVIDENCE_A_REQUEST = 200
_DOCUMENTS_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class TableRecord:
    """What one table's record says.

    Attributes:
        generation: Of all its documents.
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
    transport: Transport, opened: Opened, table_ids: Sequence[str] | None = None
) -> dict[str, TableRecord]:
    """Return the records of these tables (all if None) that one state shows, by table id."""
    filters: list[Search] = [{"term": {"doc": TABLE}}, *opened.state.visible()]
    if table_ids is not None:
        filters.append(given_tables(table_ids))
    search: Search = {
        "query": {"bool": {"filter": filters}},
        "sort": [{"table_id": "asc"}, {"generation": "asc"}],
        "_source": list(TABLE_FIELDS),
    }
    found: dict[str, TableRecord] = {}
    for page in transport.pages(opened, search):
        for hit in page:
            source = hit["_source"]
            found[unescape(source["table_id"])] = TableRecord(
                source["generation"], source["blocks"], source["documents"], source["digest"]
            )
    return found


def facts_at(
    transport: Transport, opened: Opened, table_ids: Sequence[str] | None = None
) -> dict[str, FactsRecord]:
    """Return the facts of these tables (all if None) that one state shows."""
    filters: list[Search] = [{"term": {"doc": FACTS}}, *opened.state.visible()]
    if table_ids is not None:
        filters.append(given_tables(table_ids))
    search: Search = {
        "query": {"bool": {"filter": filters}},
        "sort": [{"table_id": "asc"}, {"generation": "asc"}],
        "_source": list(FACTS_FIELDS),
    }
    return {
        unescape(hit["_source"]["table_id"]): FactsRecord(
            hit["_source"]["generation"], facts_of(hit)
        )
        for page in transport.pages(opened, search)
        for hit in page
    }


def facts_kept(transport: Transport, table_ids: Sequence[str]) -> dict[str, TableFacts]:
    """Return the facts of these tables."""
    wanted = list(dict.fromkeys(table_ids))

    def read(some: Sequence[str], opened: Opened) -> dict[str, TableFacts]:
        return _read_facts(transport, tables_at(transport, opened, some), opened)

    found: dict[str, TableFacts] = {}
    for some in chunks(wanted, _DOCUMENTS_AT_ONCE):
        found |= transport.at_newest(partial(read, some))
    return found


def kinds_at(
    transport: Transport, opened: Opened, more: Sequence[Search] = ()
) -> frozenset[DocumentKind]:
    """Return the kinds of the blocks that one state shows, and further filters let through."""
    filters: list[Search] = [{"term": {"doc": BLOCK}}, *opened.state.visible(), *more]
    search: Search = {
        "query": {"bool": {"filter": filters}},
        "collapse": {"field": "kind"},  # one block of each kind
        "sort": [{"kind": "asc"}],
        "_source": list(BLOCK_FIELDS),
    }
    pages = transport.pages(opened, search)
    return frozenset(block_from(hit).kind for page in pages for hit in page)


def contents_of(
    transport: Transport, table_ids: Sequence[str] | None
) -> Iterator[tuple[str, TableContents]]:
    """Yield what is kept of tables, by table id, each as it is when its turn comes."""
    wanted = None if table_ids is None else list(dict.fromkeys(table_ids))
    known = transport.at_newest(lambda opened: tables_at(transport, opened, wanted))
    sizes = {table_id: record.blocks + record.documents for table_id, record in known.items()}
    for portion in portions(sizes, _DOCUMENTS_AT_ONCE):
        yield from transport.at_newest(partial(_read, transport, portion)).items()


def blocks_of(transport: Transport, table_ids: Sequence[str] | None) -> Iterator[EmbeddedBlock]:
    """Yield the blocks of `contents_of`; of the evidence, nothing is read."""
    wanted = None if table_ids is None else list(dict.fromkeys(table_ids))
    known = transport.at_newest(lambda opened: tables_at(transport, opened, wanted))
    sizes = {table_id: record.blocks for table_id, record in known.items() if record.blocks}
    for portion in portions(sizes, _DOCUMENTS_AT_ONCE):
        found = transport.at_newest(partial(_blocks_at, transport, portion))
        for blocks in found.values():
            yield from blocks


def _blocks_at(
    transport: Transport, table_ids: Sequence[str], opened: Opened
) -> dict[str, list[EmbeddedBlock]]:
    return _read_blocks(transport, tables_at(transport, opened, table_ids), opened)


def evidence_of(transport: Transport, table_ids: Sequence[str]) -> dict[str, TableTerms]:
    """Return the evidence of these tables, in one request for up to some hundred of them."""
    found: dict[str, TableTerms] = {}
    for some in chunks(list(dict.fromkeys(table_ids)), _EVIDENCE_A_REQUEST):

        def make(opened: Opened, wanted: Sequence[str] = some) -> list[Search]:
            tables = [*opened.state.visible(), given_tables(wanted)]
            kept = _evidence_search(wanted, opened)
            return [
                table_records(tables, len(wanted)),
                {**kept, "size": len(wanted), "track_total_hits": False},
            ]

        records, hits = transport.ask(make)
        kept = dict(map(evidence_from, hits))
        known = (unescape(record["sort"][0]) for record in records)
        found |= {table_id: kept.get(table_id, TableTerms()) for table_id in known}
    return found


def _read(
    transport: Transport, table_ids: Sequence[str], opened: Opened
) -> dict[str, TableContents]:
    """Return the contents of some tables at one state, all of them, by table id.

    Raises:
        IndexDamagedError: They do not add up to what the tables' records say.
    """
    records = tables_at(transport, opened, table_ids)
    blocks = _read_blocks(transport, records, opened)
    evidence = _read_evidence(transport, records, opened)
    _check_rows(transport, records, opened)
    facts = _read_facts(transport, records, opened)
    return {i: TableContents(blocks[i], evidence[i], facts[i]) for i in records}


def _read_blocks(
    transport: Transport, records: Mapping[str, TableRecord], opened: Opened
) -> dict[str, list[EmbeddedBlock]]:
    search: Search = {
        **_documents_of(BLOCK, records, opened),
        "sort": [{"table_id": "asc"}, {"block_id": "asc"}],
        "_source": list(BLOCK_FIELDS),
        "fields": ["vector"],
    }
    found: dict[str, list[EmbeddedBlock]] = {table_id: [] for table_id in records}
    for page in transport.pages(opened, search, _VECTORS_A_PAGE):
        for hit in page:
            block = block_from(hit)
            found[block.table_id].append(EmbeddedBlock(block, _vector_of(hit)))
    for table_id, record in records.items():
        _check(table_id, "blocks", len(found[table_id]), record.blocks, opened)
    return found


def _read_evidence(
    transport: Transport, records: Mapping[str, TableRecord], opened: Opened
) -> dict[str, TableTerms]:
    """Return the evidence of all these tables; that of a table without any is empty."""
    having = {table_id: record for table_id, record in records.items() if record.documents}
    search = _evidence_search(having, opened)
    pages = transport.pages(opened, search, _EVIDENCE_A_PAGE) if having else ()
    found = dict(evidence_from(hit) for page in pages for hit in page)
    for table_id in having:
        _check(table_id, "documents of evidence", int(table_id in found), 1, opened)
    return {table_id: found.get(table_id, TableTerms()) for table_id in records}


def _read_facts(
    transport: Transport, table_ids: Iterable[str], opened: Opened
) -> dict[str, TableFacts]:
    """Return the facts of all these tables, which are there.

    Raises:
        IndexDamagedError: Those of a table are missing.
    """
    wanted = list(table_ids)
    found = facts_at(transport, opened, wanted)
    for table_id in wanted:
        _check(table_id, "documents of facts", int(table_id in found), 1, opened)
    return {table_id: found[table_id].facts for table_id in wanted}


def _check_rows(transport: Transport, records: Mapping[str, TableRecord], opened: Opened) -> None:
    """Raise `IndexDamagedError` if a row cannot be found that is searched."""
    having = {table_id: record.documents - 1 for table_id, record in records.items()}
    having = {table_id: rows for table_id, rows in having.items() if rows > 0}
    search: Search = {
        **_documents_of(ROW, having, opened),
        "sort": [{"table_id": "asc"}, {"row": "asc"}],
        "stored_fields": "_none_",
    }
    pages = transport.pages(opened, search) if having else ()
    found = Counter(unescape(hit["sort"][0]) for page in pages for hit in page)
    for table_id, rows in having.items():
        _check(table_id, "rows of evidence", found[table_id], rows, opened)


def _evidence_search(table_ids: Iterable[str], opened: Opened) -> Search:
    return {
        **_documents_of(EVIDENCE, table_ids, opened),
        "sort": [{"table_id": "asc"}],
        "_source": list(EVIDENCE_FIELDS),
    }


def _documents_of(doc: str, table_ids: Iterable[str], opened: Opened) -> Search:
    filters = [{"term": {"doc": doc}}, given_tables(list(table_ids)), *opened.state.visible()]
    return {"query": {"bool": {"filter": filters}}}


def _check(table_id: str, what: str, found: int, recorded: int, opened: Opened) -> None:
    if found != recorded:
        raise IndexDamagedError(
            f"The table {table_id!r} has {found} {what} in the index {opened.index!r}, "
            f"but its record says {recorded}; {REBUILD}."
        )


def _vector_of(hit: Search) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    try:
        return np.asarray(hit["fields"]["vector"], np.float32)
    except (KeyError, ValueError) as error:
        raise IndexDamagedError(
            f"The document {hit.get('_id')!r} has no vector; {REBUILD}."
        ) from error
