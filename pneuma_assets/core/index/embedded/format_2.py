"""Taking over an index of format 2, which kept no evidence: its file is copied and completed.

Nothing is counted anew. Everything is checked in the copy, whose rows then tell of evidence, too.
"""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from pneuma_assets.core.index.embedded.check import check_everything
from pneuma_assets.core.index.embedded.committed import (
    check_committed,
    note_committed,
    read_committed,
)
from pneuma_assets.core.index.embedded.meta import FORMAT_2, Meta, read_meta, write_meta
from pneuma_assets.core.index.embedded.schema import EVIDENCE_TABLES, FILE_NAME, SCHEMA_VERSION
from pneuma_assets.core.index.embedded.sqlite_file import SqliteFile
from pneuma_assets.core.index.embedded.sums import (
    damaged,
    reading_rows,
    table_sum,
    table_sum_2,
    wrapped,
)
from pneuma_assets.core.index.embedded.tables import TableRow


def complete_copy(old: SqliteFile, fresh: Path) -> None:
    """Make an index of today's format in the folder `fresh` of what the old file holds.

    The caller holds the old file's write lock.

    Raises:
        IndexDamagedError: Something is not as it was written.
    """
    committed = read_committed(old.path.parent)
    fresh.mkdir()
    with old.connection() as source, closing(sqlite3.connect(fresh / FILE_NAME)) as target:
        source.backup(target)
    file = SqliteFile(fresh / FILE_NAME, old.lock_timeout)
    try:
        with file.writing() as connection:
            before = read_meta(connection, FORMAT_2)
            check_committed(before, committed)
            meta = _completed(connection, before)
            write_meta(connection, meta)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            check_everything(connection, read_meta(connection))
        note_committed(fresh, meta.index_id, meta.generation)
    finally:
        file.close()


def _completed(connection: sqlite3.Connection, before: Meta) -> Meta:
    """Let every table's row tell that it has no evidence; returns the new state."""
    with reading_rows("its tables"):
        rows = connection.execute("SELECT key, table_id, blocks, total, checksum FROM tables")
        tables = [TableRow(*row) for row in rows]
        if any(table.checksum != table_sum_2(*_said(table)) for table in tables):
            raise damaged("a table is not as it was written")
    sums = wrapped(sum(table.checksum for table in tables))
    if (len(tables), sums) != (before.tables, before.table_sums):
        raise damaged("its list of tables is not complete")
    new = [(table_sum(*_said(table), None), table.key) for table in tables]
    connection.execute("ALTER TABLE tables ADD COLUMN evidence INTEGER")
    for statement in EVIDENCE_TABLES:
        connection.execute(statement)
    connection.executemany("UPDATE tables SET checksum = ? WHERE key = ?", new)
    return replace(
        before,
        generation=before.generation + 1,
        table_sums=wrapped(sum(checksum for checksum, _ in new)),
    )


def _said(table: TableRow) -> tuple[int, bytes, int, int]:
    """Return what a table's row told."""
    return table.key, table.table_id, table.blocks, table.total
