"""Reading and writing the evidence of tables, checked against what was written."""

import sqlite3
import zlib
from collections.abc import Sequence
from typing import Any

from pneuma_assets.core.index.embedded.evidence_terms import PackedTerms
from pneuma_assets.core.index.embedded.evidence_text import PackedText, unpack_text
from pneuma_assets.core.index.embedded.sums import (
    damaged,
    evidence_sum,
    reading_rows,
    terms_sum,
    wrapped,
)
from pneuma_assets.core.index.embedded.tables import TableRow
from pneuma_assets.core.tables import TableTerms

TERMS = "seq, table_key, text_sum, checksum, terms, entries, places, counts"
"""The columns of `evidence_terms`."""


def read_evidence(connection: sqlite3.Connection, table: TableRow) -> TableTerms:
    """Return a table's evidence.

    Raises:
        IndexDamagedError: It is not as it was written.
    """
    stored = read_text(connection, table)
    return TableTerms() if stored is None else unpack_text(stored[1])


def read_text(connection: sqlite3.Connection, table: TableRow) -> tuple[int, PackedText] | None:
    """Return the number of a table's evidence and its text; None where it has none."""
    row = connection.execute(
        "SELECT seq, parts, rows, text_sum, checksum FROM evidence"
        " JOIN evidence_terms USING (seq) WHERE evidence.table_key = ?",
        (table.key,),
    ).fetchone()
    if row is None and table.evidence is None:
        return None
    if row is None or table.evidence is None:
        raise damaged("a table's evidence is missing")
    with reading_rows("evidence"):
        seq, parts, rows, text_sum, checksum = row
        check_text(seq, table.key, parts, rows, text_sum)
        if wrapped(text_sum + checksum) != table.evidence:
            raise damaged("evidence is not that of its table")
        return seq, PackedText(parts, rows)


def check_text(seq: int, key: int, parts: bytes, rows: bytes, text_sum: int) -> None:
    """Raise `IndexDamagedError` unless a text of evidence is as it was written."""
    if text_sum != evidence_sum(seq, key, parts, rows):
        raise damaged(f"evidence {seq} is not as it was written")


def to_terms(row: Sequence[Any]) -> PackedTerms:
    """Return a row of `evidence_terms` as what it holds, checked."""
    with reading_rows("the terms of evidence"):
        seq, key, text_sum, checksum, *blobs = row
        if checksum != terms_sum(seq, key, text_sum, *blobs):
            raise damaged(f"evidence {seq} is not as it was written")
        terms, *packed = blobs
        return PackedTerms(terms, *map(zlib.decompress, packed))


def check_terms(connection: sqlite3.Connection, seq: int) -> None:
    """Raise `IndexDamagedError` unless the terms of this evidence are as they were written."""
    row = connection.execute(f"SELECT {TERMS} FROM evidence_terms WHERE seq = ?", (seq,)).fetchone()
    with reading_rows("the terms of evidence"):
        to_terms(row)


def insert_evidence(
    connection: sqlite3.Connection, seq: int, key: int, text: PackedText, terms: PackedTerms
) -> int:
    """Write a table's evidence; returns the sum that its table's row tells of."""
    text_sum = evidence_sum(seq, key, text.parts, text.rows)
    # A term's key is a hash, which nothing makes smaller.
    packed = map(zlib.compress, (terms.entries, terms.places, terms.counts))
    blobs = (terms.terms, *packed)
    checksum = terms_sum(seq, key, text_sum, *blobs)
    connection.execute(
        "INSERT INTO evidence (seq, table_key, parts, rows) VALUES (?, ?, ?, ?)",
        (seq, key, text.parts, text.rows),
    )
    connection.execute(
        f"INSERT INTO evidence_terms ({TERMS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (seq, key, text_sum, checksum, *blobs),
    )
    return wrapped(text_sum + checksum)
