"""Grouping what is to be written into transactions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pneuma_assets.core.grouping import portions
from pneuma_assets.core.index.base import TableContents
from pneuma_assets.core.index.checked import check_blocks, check_evidence, check_facts
from pneuma_assets.core.index.embedded.sqlite_file import to_blob
from pneuma_assets.core.index.weighing import blocks_worth
from pneuma_assets.core.tables import Block, TableFacts, TableTerms

BLOCKS_A_TRANSACTION = 1000
"""Small tables share a transaction, since each one waits for the disk."""


@dataclass(frozen=True, slots=True)
class Records:
    """One table as it will be stored: its blocks and their vectors by block id, and all else."""

    blocks: Mapping[bytes, tuple[Block, bytes]]
    evidence: TableTerms
    facts: TableFacts


def prepare(tables: Mapping[str, TableContents], dimension: int) -> Iterator[dict[str, Records]]:
    """Yield groups of tables that fit one transaction.

    Raises:
        SearchIndexError: A block belongs to another table, a vector, evidence or facts are of no
            use.
    """
    for table_id, contents in tables.items():
        check_evidence(table_id, contents.evidence)
        check_facts(table_id, contents.facts)
    sizes = {table_id: blocks_worth(contents) for table_id, contents in tables.items()}
    for table_ids in portions(sizes, BLOCKS_A_TRANSACTION):
        yield {table_id: _records(table_id, tables[table_id], dimension) for table_id in table_ids}


def _records(table_id: str, contents: TableContents, dimension: int) -> Records:
    blocks = {
        to_blob(block_id): (item.block, item.vector.tobytes())
        for block_id, item in check_blocks(table_id, contents.blocks, dimension).items()
    }
    return Records(blocks, contents.evidence, contents.facts)
