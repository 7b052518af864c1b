"""Checking every row of the embedded index against what was written."""

import sqlite3
from collections import Counter
from collections.abc import Mapping

from pneuma_assets.core.index.embedded.evidence_rows import TERMS, check_text, to_terms
from pneuma_assets.core.index.embedded.facts import all_facts
from pneuma_assets.core.index.embedded.meta import Meta
from pneuma_assets.core.index.embedded.sums import damaged, reading_rows, wrapped
from pneuma_assets.core.index.embedded.tables import TableRow, read_tables, to_stored

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
    _check_counts(connection, ("blocks", "features"), meta.blocks)
    _check_evidence(connection, meta, tables)
    facts = all_facts(connection)
    if facts.by_key.keys() != tables.keys() or not facts.is_complete(meta.tables, meta.facts_sums):
        raise damaged("facts of tables are missing")


def _check_evidence(
    connection: sqlite3.Connection, meta: Meta, tables: Mapping[int, TableRow]
) -> None:
    rows = connection.execute(
        f"SELECT {TERMS}, parts, rows FROM evidence_terms JOIN evidence USING (seq, table_key)"
    )
    found = 0
    for *terms, parts, text in rows:
        with reading_rows("evidence"):
            seq, key, text_sum, checksum = terms[:4]
            check_text(seq, key, parts, text, text_sum)
            to_terms(terms)
            if tables[key].evidence != wrapped(text_sum + checksum):
                raise damaged("evidence is not that of its table")
        found += 1
    expected = sum(table.evidence is not None for table in tables.values())
    if not found == expected == meta.evidence:
        raise damaged("evidence is missing")
    _check_counts(connection, ("evidence", "evidence_terms"), meta.evidence)


def _check_counts(connection: sqlite3.Connection, parts: tuple[str, str], expected: int) -> None:
    """Rows of one part that the other lacks are not met where they are joined."""
    for part in parts:
        (found,) = connection.execute(f"SELECT count(*) FROM {part}").fetchone()
        if found != expected:
            raise damaged(f"{parts[0]} are incomplete")
