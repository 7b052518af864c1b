"""Writing the embedded index: a table is replaced inside one transaction."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pneuma_assets.core.index.base import TableContents
from pneuma_assets.core.index.embedded.file import damaged, read_meta, write_meta
from pneuma_assets.core.index.embedded.rows import (
    Inputs,
    TableRow,
    find_tables,
    insert_facts,
    insert_table,
    look_up,
    pack,
    read_facts,
    sum_of,
    table_key,
)
from pneuma_assets.core.tables import TableFacts
from pneuma_assets.core.text.analysis import Analyzer

_REMOVALS_LOGGED = 50_000
"""Beyond this many, the log starts over, and readers that are behind load everything."""


class Writer:
    """Changes the tables of one open transaction; call `finish` before it commits."""

    def __init__(self, connection: sqlite3.Connection, analyzer: Analyzer) -> None:
        self._connection = connection
        self._analyzer = analyzer
        self._before = self._meta = read_meta(connection)

    def replace(self, table_id: str, contents: TableContents) -> None:
        """Make all that is kept of a table exactly this; what is equal stays untouched."""
        key, inputs = table_key(table_id), Inputs.of(table_id, contents)
        old = look_up(self._connection, table_id)
        if old is None or not inputs.are_kept(self._connection, old.seq):
            if old is not None:
                self._remove("contents", old.seq)
            packed, blocks = pack(contents, inputs, self._analyzer), len(contents.blocks)
            total = sum_of(key, table_id, blocks, packed)
            new = TableRow(self._next_seq(), key, table_id, blocks, total)
            insert_table(self._connection, new, packed)
            self._count(old is None, blocks - (0 if old is None else old.blocks))
        self._facts(key, contents.facts)

    def set_facts(self, facts: Mapping[str, TableFacts]) -> None:
        """Replace what is known of tables; unknown ones are ignored."""
        for table in find_tables(self._connection, facts, self._meta):
            self._facts(table.key, facts[table.table_id])

    def delete(self, table_ids: Sequence[str]) -> None:
        """Remove tables and all that is kept of them; unknown ids are ignored."""
        for table in find_tables(self._connection, table_ids, self._meta):
            self._remove("contents", table.seq)
            self._facts(table.key, None)
            self._delete("tables", "key", table.key)
            self._count(-1, -table.blocks)

    def finish(self) -> None:
        """Let readers know that something changed, if it did, and keep the log of removals short.

        A reader that is behind the log finds tables that are none any more, and loads everything.
        """
        if self._meta == self._before:
            return
        (logged,) = self._connection.execute("SELECT count(*) FROM removed").fetchone()
        if logged > _REMOVALS_LOGGED:
            self._connection.execute("DELETE FROM removed")
        write_meta(self._connection, replace(self._meta, generation=self._generation))

    @property
    def _generation(self) -> int:
        return self._before.generation + 1

    def _count(self, tables: int, blocks: int) -> None:
        meta = self._meta
        self._meta = replace(meta, tables=meta.tables + tables, blocks=meta.blocks + blocks)

    def _facts(self, key: int, facts: TableFacts | None) -> None:
        """Make these a table's facts; None where it goes."""
        known = read_facts(self._connection, [key]).get(key)
        if known is not None:
            if known.facts == facts:
                return
            self._remove("facts", known.seq)
        if facts is not None:
            insert_facts(self._connection, self._next_seq(), key, facts)

    def _next_seq(self) -> int:
        self._meta = replace(self._meta, last_seq=self._meta.last_seq + 1)
        return self._meta.last_seq

    def _remove(self, part: str, seq: int) -> None:
        self._delete(part, "seq", seq)
        self._connection.execute("INSERT INTO removed VALUES (?, ?)", (self._generation, seq))

    def _delete(self, part: str, column: str, number: int) -> None:
        done = self._connection.execute(f"DELETE FROM {part} WHERE {column} = ?", (number,))
        if done.rowcount != 1:
            raise damaged("a row that is to be removed is not in its place")
