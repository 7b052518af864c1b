"""What is in the index: its tables, and their blocks with vectors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from pneuma_assets.core.errors import IndexDamagedError
from pneuma_assets.core.grouping import portions
from pneuma_assets.core.index.base import TableContents
from pneuma_assets.core.index.elastic.documents import (
    BLOCK,
    BLOCK_FIELDS,
    TABLE,
    TABLE_FIELDS,
    block_from,
    escape,
    unescape,
)
from pneuma_assets.core.index.elastic.requests import Search
from pneuma_assets.core.index.elastic.target import Opened
from pneuma_assets.core.index.elastic.transport import Transport
from pneuma_assets.core.index.identity import REBUILD
from pneuma_assets.core.tables import DocumentKind, EmbeddedBlock

_VECTORS_A_PAGE = 500
_BLOCKS_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class TableRecord:
    """What one table's record says: which generation it is of, and what it holds."""

    generation: int
    blocks: int
    digest: str


def tables_at(
    transport: Transport, opened: Opened, table_ids: Sequence[str] | None = None
) -> dict[str, TableRecord]:
    """Return the records of these tables (all if None) that one state shows, by table id."""
    filters: list[Search] = [{"term": {"doc": TABLE}}, *opened.state.visible()]
    if table_ids is not None:
        filters.append({"terms": {"table_id": [escape(one) for one in table_ids]}})
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
                source["generation"], source["blocks"], source["digest"]
            )
    return found


def kinds_at(transport: Transport, opened: Opened) -> frozenset[DocumentKind]:
    """Return the kinds of the blocks that one state shows."""
    search: Search = {
        "query": {"bool": {"filter": [{"term": {"doc": BLOCK}}, *opened.state.visible()]}},
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
    sizes = {table_id: record.blocks for table_id, record in known.items()}
    for portion in portions(sizes, _BLOCKS_AT_ONCE):
        blocks = transport.at_newest(partial(_read_blocks, transport, portion))
        for table_id, found in blocks.items():
            yield table_id, TableContents(found)


def _read_blocks(
    transport: Transport, table_ids: Sequence[str], opened: Opened
) -> dict[str, list[EmbeddedBlock]]:
    """Return the blocks of some tables at one state, all of them, by table id.

    Raises:
        IndexDamagedError: They do not add up to what the tables' records say.
    """
    records = tables_at(transport, opened, table_ids)
    filters: list[Search] = [
        {"term": {"doc": BLOCK}},
        {"terms": {"table_id": [escape(one) for one in records]}},
        *opened.state.visible(),
    ]
    search: Search = {
        "query": {"bool": {"filter": filters}},
        "sort": [{"table_id": "asc"}, {"block_id": "asc"}],
        "_source": list(BLOCK_FIELDS),
        "fields": ["vector"],
    }
    found: dict[str, list[EmbeddedBlock]] = {table_id: [] for table_id in records}
    for page in transport.pages(opened, search, _VECTORS_A_PAGE):
        for hit in page:
            block = block_from(hit)
            found[block.table_id].append(EmbeddedBlock(block, _vector_of(hit)))
    short = [one for one, record in records.items() if len(found[one]) != record.blocks]
    if short:
        blocks = len(found[short[0]])
        raise IndexDamagedError(
            f"The table {short[0]!r} has {blocks} blocks in the index {opened.index!r}, "
            f"but its record says {records[short[0]].blocks}; {REBUILD}."
        )
    return found


def _vector_of(hit: Search) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    try:
        return np.asarray(hit["fields"]["vector"], np.float32)
    except (KeyError, ValueError) as error:
        raise IndexDamagedError(
            f"The document {hit.get('_id')!r} has no vector; {REBUILD}."
        ) from error
