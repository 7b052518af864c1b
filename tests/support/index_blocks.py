"""Filling an index with tables of which only their blocks matter."""

from collections.abc import Mapping, Sequence

from pneuma_assets.core.index.base import SearchIndex, TableContents
from pneuma_assets.core.tables import EmbeddedBlock


def replace_blocks(index: SearchIndex, tables: Mapping[str, Sequence[EmbeddedBlock]]) -> None:
    """Make each table's blocks exactly these, and let it have nothing else."""
    index.replace_tables({table_id: TableContents(blocks) for table_id, blocks in tables.items()})
