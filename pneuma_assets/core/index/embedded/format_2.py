"""What an index of format 2 lacks: evidence of its tables."""

import sqlite3
from dataclasses import replace

from pneuma_assets.core.index.embedded.meta import Meta
from pneuma_assets.core.index.embedded.schema import EVIDENCE_TABLES
from pneuma_assets.core.index.embedded.sums import (
    damaged,
    reading_rows,
    table_sum,
    table_sum_2,
    wrapped,
)
from pneuma_assets.core.index.embedded.tables import TableRow


def with_evidence(connection: sqlite3.Connection, before: Meta) -> Meta:
    """Let every table's row tell that it has no evidence; returns the new state.

    Raises:
        IndexDamagedError: A table's row is not as it was written, or is missing.
    """
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
