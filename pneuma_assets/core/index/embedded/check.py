"""Checking every row of the embedded index against what was written."""

import sqlite3
from collections import Counter

from pneuma_assets.core.index.embedded.meta import Meta
from pneuma_assets.core.index.embedded.sums import damaged, wrapped
from pneuma_assets.core.index.embedded.tables import read_tables, to_stored

_ROWS_AT_ONCE = 1000


def check_everything(connection: sqlite3.Connection, meta: Meta) -> None:
    """Read all that the index holds; SQLite checks how its pages hang together.

    Takes about 15 us a block (docs/index-engine.md) and memory for a thousand blocks.

    Raises:
        IndexDamagedError: Something is not as it was written, or is missing.
        sqlite3.Error: SQLite cannot read it.
    """
    (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict != "ok":
        raise damaged(" ".join(str(verdict).split()))
    tables = {table.key: table for table in read_tables(connection)}
    rows = connection.execute(
        "SELECT seq, table_key, block_id, kind, text, vector, terms, counts, checksum"
        " FROM blocks JOIN features USING (seq)"
    )
    counts: Counter[int] = Counter()
    totals: Counter[int] = Counter()
    while chunk := rows.fetchmany(_ROWS_AT_ONCE):
        for row in chunk:
            table = tables.get(row[1])
            if table is None:
                raise damaged("a block's table is missing")
            counts[table.key] += 1
            totals[table.key] += to_stored(row, table).checksum
    wrong = [t for t in tables.values() if counts[t.key] != t.blocks]
    wrong += [t for t in tables.values() if wrapped(totals[t.key]) != t.total]
    if wrong or counts.total() != meta.blocks:
        raise damaged("blocks are missing")
    for name in ("blocks", "features"):
        (found,) = connection.execute(f"SELECT count(*) FROM {name}").fetchone()
        if found != meta.blocks:
            raise damaged("blocks are incomplete")
