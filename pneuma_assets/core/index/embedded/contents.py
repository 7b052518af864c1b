"""What the embedded index holds, how healthy it is, and its compaction."""

import sqlite3
from pathlib import Path

import numpy as np

from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.base import IndexInfo, TableContents
from pneuma_assets.core.index.embedded.check import check_everything
from pneuma_assets.core.index.embedded.committed import check_committed, read_committed
from pneuma_assets.core.index.embedded.evidence_rows import read_evidence
from pneuma_assets.core.index.embedded.facts import facts_of
from pneuma_assets.core.index.embedded.folder import finish_replacing
from pneuma_assets.core.index.embedded.info import info_of
from pneuma_assets.core.index.embedded.meta import read_meta
from pneuma_assets.core.index.embedded.schema import FILE_NAME, check_format
from pneuma_assets.core.index.embedded.sqlite_file import SqliteFile
from pneuma_assets.core.index.embedded.sums import damaged
from pneuma_assets.core.index.embedded.tables import TableRow, read_stored, read_table
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.tables import EmbeddedBlock

GREEN = "green"
_FREE_SHARE = 0.1
"""Share of a file's pages that must be unused before it is worth writing anew."""


def read_contents(
    connection: sqlite3.Connection, table_id: str, dimension: int
) -> TableContents | None:
    """Return what is kept of one table, blocks in the order in which they were written.

    It is None if there is no such table.

    Raises:
        IndexDamagedError: It is not as it was written.
    """
    table = read_table(connection, table_id)
    if table is None:
        return None
    blocks = _blocks_of(connection, table, table_id, dimension)
    facts = facts_of(connection, table.key).facts
    return TableContents(blocks, read_evidence(connection, table), facts)


def read_blocks(
    connection: sqlite3.Connection, table_id: str, dimension: int
) -> list[EmbeddedBlock]:
    """Return the blocks of `read_contents` alone; none if there is no such table."""
    table = read_table(connection, table_id)
    return [] if table is None else _blocks_of(connection, table, table_id, dimension)


def _blocks_of(
    connection: sqlite3.Connection, table: TableRow, table_id: str, dimension: int
) -> list[EmbeddedBlock]:
    found = []
    for stored in read_stored(connection, table):
        vector = np.frombuffer(stored.vector, "<f4").astype(np.float32)
        if vector.shape != (dimension,):
            raise damaged(f"a vector of table {table_id!r} has length {len(vector)}")
        found.append(EmbeddedBlock(stored.block, vector))
    return found


def measure(file: SqliteFile, identity: Identity) -> IndexInfo:
    """Count what the file holds and check all of it against what was written."""
    tables = blocks = 0
    committed = read_committed(file.path.parent)
    try:
        with file.reading() as connection:
            meta = read_meta(connection)
            tables, blocks = meta.tables, meta.blocks
            check_committed(meta, committed)
            check_everything(connection, meta)
        health = GREEN
    except SearchIndexError as error:
        health = str(error)
    return info_of(file, identity, tables, blocks, health, usable=health == GREEN)


def inspect(folder: Path) -> IndexInfo | None:
    """Return what is in a folder, whatever encoder built it; None if there is no index.

    Raises:
        SearchIndexError: There is a file, but no index of this version.
    """
    finish_replacing(folder)
    path = folder / FILE_NAME
    if not path.is_file():
        return None
    file = SqliteFile(path, lock_timeout=10.0)
    try:
        with file.reading() as connection:
            check_format(path, connection)
            identity = read_meta(connection).identity
        return measure(file, identity)
    finally:
        file.close()


def vacuum(file: SqliteFile) -> None:
    """Write the file anew if much of it is unused, and empty the log."""
    with file.connection() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (free,) = connection.execute("PRAGMA freelist_count").fetchone()
        if free > pages * _FREE_SHARE:
            connection.execute("VACUUM")
        # Readers of an older state keep some of the log; the next call empties it.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
