"""Grouping what is to be written into transactions."""

from collections.abc import Iterator, Mapping

from pneuma_assets.core.grouping import portions
from pneuma_assets.core.index.base import TableContents
from pneuma_assets.core.index.checked import check_blocks
from pneuma_assets.core.index.embedded.sqlite_file import to_blob
from pneuma_assets.core.tables import Block

BLOCKS_A_TRANSACTION = 1000
"""Small tables share a transaction, since each one waits for the disk."""

Records = Mapping[bytes, tuple[Block, bytes]]
"""One table's blocks and their vectors as they will be stored, by block id."""


def prepare(tables: Mapping[str, TableContents], dimension: int) -> Iterator[dict[str, Records]]:
    """Yield groups of tables that fit one transaction.

    Raises:
        SearchIndexError: A block belongs to another table, or its vector is of no use.
    """
    sizes = {table_id: len(contents.blocks) for table_id, contents in tables.items()}
    for table_ids in portions(sizes, BLOCKS_A_TRANSACTION):
        yield {table_id: _records(table_id, tables[table_id], dimension) for table_id in table_ids}


def _records(table_id: str, contents: TableContents, dimension: int) -> Records:
    return {
        to_blob(block_id): (item.block, item.vector.tobytes())
        for block_id, item in check_blocks(table_id, contents.blocks, dimension).items()
    }
