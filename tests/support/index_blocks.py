"""Filling an index with tables of which only their blocks matter."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.index.base import SearchIndex, TableContents
from pneuma_assets.core.index.embedded.file import FILE_NAME
from pneuma_assets.core.index.embedded.pointer import read_pointer
from pneuma_assets.core.index.registry import open_index
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock
from tests.support.word_encoder import WordEncoder


def embedded(blocks: Sequence[Block]) -> dict[str, list[EmbeddedBlock]]:
    """Embed blocks by a `WordEncoder`; returns them by table."""
    tables: dict[str, list[EmbeddedBlock]] = {block.table_id: [] for block in blocks}
    for block, vector in zip(
        blocks, WordEncoder().encode_documents([block.text for block in blocks]), strict=True
    ):
        tables[block.table_id].append(EmbeddedBlock(block, vector))
    return tables


def replace_blocks(index: SearchIndex, tables: Mapping[str, Sequence[EmbeddedBlock]]) -> None:
    """Make each table's blocks exactly these, and let it have nothing else."""
    index.replace_tables({table_id: TableContents(blocks) for table_id, blocks in tables.items()})


def index_texts(home: Path, texts: Mapping[str, str]) -> None:
    """Write the index that a run would have left in a home: one document a table."""
    blocks = [Block(table_id, DocumentKind.CONTEXT, text) for table_id, text in texts.items()]
    name, dimension = WordEncoder.name, WordEncoder.dimension
    with closing(open_index(IndexConfig(), home, name, dimension, building=True)) as index:
        replace_blocks(index, embedded(blocks))


def file_of(folder: Path) -> Path:
    """Return the file of the build that is searched of the embedded index in a folder."""
    pointer = read_pointer(folder)
    assert pointer is not None
    return folder / pointer.current / FILE_NAME
