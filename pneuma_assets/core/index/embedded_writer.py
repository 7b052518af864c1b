"""Writing the embedded index: a table is replaced inside one transaction."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from pneuma_assets.core.index.analysis import Analyzer
from pneuma_assets.core.index.bm25 import count_terms
from pneuma_assets.core.index.embedded_records import Records
from pneuma_assets.core.index.sqlite_file import select_in, to_blob
from pneuma_assets.core.tables import Block, source_of

_REMOVALS_LOGGED = 50_000
"""Beyond this many, the log starts anew, and readers that are behind load everything."""


class Writer:
    """Changes the tables of one open transaction; call `finish` before it commits."""

    def __init__(self, connection: sqlite3.Connection, analyzer: Analyzer) -> None:
        self._connection = connection
        self._analyzer = analyzer
        (generation,) = connection.execute(
            "SELECT value FROM meta WHERE name = 'generation'"
        ).fetchone()
        self._generation = generation + 1
        self._changed = False

    def replace(self, table_id: str, records: Records) -> None:
        """Make the table's blocks exactly these; equal ones stay untouched."""
        key = self._table_key(table_id)
        stored = self._connection.execute(
            "SELECT block_id, seq, vector FROM blocks JOIN features USING (seq)"
            " WHERE table_key = ?",
            (key,),
        ).fetchall()
        kept = {
            block_id
            for block_id, _, vector in stored
            if block_id in records and records[block_id][1] == vector
        }
        self._remove([seq for block_id, seq, _ in stored if block_id not in kept])
        for block_id, (block, vector) in records.items():
            if block_id not in kept:
                self._insert(key, block_id, block, vector)

    def delete(self, table_ids: Sequence[str]) -> None:
        """Remove tables and their blocks; unknown ids are ignored."""
        keys: list[Any] = [
            key
            for (key,) in select_in(
                self._connection,
                "SELECT key FROM tables WHERE table_id IN ({values})",
                [to_blob(table_id) for table_id in table_ids],
            )
        ]
        seqs: list[Any] = [
            seq
            for (seq,) in select_in(
                self._connection, "SELECT seq FROM blocks WHERE table_key IN ({values})", keys
            )
        ]
        self._remove(seqs)
        self._run("DELETE FROM tables WHERE key = ?", ((key,) for key in keys))

    def finish(self) -> None:
        """Tell readers that something changed, if it did, and keep the log of removals short."""
        if not self._changed:
            return
        self._set_meta("generation")
        (logged,) = self._connection.execute("SELECT count(*) FROM removed").fetchone()
        if logged > _REMOVALS_LOGGED:
            self._connection.execute("DELETE FROM removed")
            self._set_meta("log_since")

    def _table_key(self, table_id: str) -> int:
        name = to_blob(table_id)
        row = self._connection.execute(
            "SELECT key FROM tables WHERE table_id = ?", (name,)
        ).fetchone()
        if row is not None:
            return int(row[0])
        cursor = self._connection.execute(
            "INSERT INTO tables (table_id, source) VALUES (?, ?)",
            (name, to_blob(source_of(table_id))),
        )
        self._changed = True
        return int(cursor.lastrowid or 0)

    def _insert(self, key: int, block_id: bytes, block: Block, vector: bytes) -> None:
        terms, counts = count_terms(self._analyzer.terms(block.text))
        cursor = self._connection.execute(
            "INSERT INTO blocks (block_id, table_key, kind, text) VALUES (?, ?, ?, ?)",
            (block_id, key, block.kind.value, to_blob(block.text)),
        )
        self._connection.execute(
            "INSERT INTO features (seq, vector, terms, counts) VALUES (?, ?, ?, ?)",
            (
                cursor.lastrowid,
                vector,
                terms.astype("<u8").tobytes(),
                counts.astype("<u2").tobytes(),
            ),
        )
        self._changed = True

    def _remove(self, seqs: Sequence[int]) -> None:
        self._run("DELETE FROM blocks WHERE seq = ?", ((seq,) for seq in seqs))
        self._run("DELETE FROM features WHERE seq = ?", ((seq,) for seq in seqs))
        self._run("INSERT INTO removed VALUES (?, ?)", ((self._generation, seq) for seq in seqs))

    def _run(self, statement: str, parameters: Iterable[tuple[int, ...]]) -> None:
        if self._connection.executemany(statement, parameters).rowcount > 0:
            self._changed = True

    def _set_meta(self, name: str) -> None:
        self._connection.execute(
            "UPDATE meta SET value = ? WHERE name = ?", (self._generation, name)
        )
