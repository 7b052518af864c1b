"""Reading the embedded index's tables and their blocks, checked against what was written."""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pneuma_assets.core.index.embedded.meta import read_meta
from pneuma_assets.core.index.embedded.sqlite_file import from_blob, select_in, to_blob, to_kind
from pneuma_assets.core.index.embedded.sums import (
    block_sum,
    damaged,
    reading_rows,
    table_key,
    table_sum,
    wrapped,
)
from pneuma_assets.core.tables import Block

_TABLE = "SELECT key, table_id, blocks, total, checksum, evidence FROM tables"


@dataclass(frozen=True, slots=True)
class TableRow:
    """A table: its number of blocks, the sum of their checksums, and that of its evidence."""

    key: int
    table_id: bytes
    blocks: int
    total: int
    checksum: int
    evidence: int | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """A block as the file holds it."""

    seq: int
    block: Block
    vector: bytes
    checksum: int


def read_tables(connection: sqlite3.Connection) -> list[TableRow]:
    """Return all tables, ordered by id.

    Raises:
        IndexDamagedError: A table is not as it was written, or is missing.
    """
    meta = read_meta(connection)
    found = [_table(row) for row in connection.execute(_TABLE)]
    if len(found) != meta.tables or wrapped(sum(t.checksum for t in found)) != meta.table_sums:
        raise damaged("its list of tables is not complete")
    return sorted(found, key=lambda table: table.table_id)


def tables_by_key(connection: sqlite3.Connection, keys: Sequence[int]) -> dict[int, TableRow]:
    """Return the tables of blocks, by their keys; each of them must be there."""
    found = select_in(connection, f"{_TABLE} WHERE key IN ({{values}})", keys)
    tables = {table.key: table for table in map(_table, found)}
    if tables.keys() != set(keys):
        raise damaged("a block's table is missing")
    return tables


def read_table(connection: sqlite3.Connection, table_id: str) -> TableRow | None:
    """Return one table, None if there is none of that id."""
    name = to_blob(table_id)
    key = table_key(name)
    row = connection.execute(f"{_TABLE} WHERE key = ?", (key,)).fetchone()
    if row is not None:
        found = _table(row)
        if found.table_id == name:
            return found
        raise damaged(f"table {table_id!r} is not in its place")
    for part in ("blocks", "evidence"):
        orphan = connection.execute(f"SELECT 1 FROM {part} WHERE table_key = ?", (key,)).fetchone()
        if orphan is not None:
            raise damaged(f"table {table_id!r} is missing, though it has {part}")
    return None


def read_stored(connection: sqlite3.Connection, table: TableRow) -> list[Stored]:
    """Return a table's blocks in the order in which they were written.

    Raises:
        IndexDamagedError: One is not as it was written, or is missing.
    """
    rows = connection.execute(
        "SELECT seq, table_key, block_id, kind, text, vector, terms, counts, checksum"
        " FROM blocks JOIN features USING (seq) WHERE table_key = ? ORDER BY seq",
        (table.key,),
    )
    found = [to_stored(row, table) for row in rows]
    check_total(table, [stored.checksum for stored in found])
    return found


def to_stored(row: Sequence[Any], table: TableRow) -> Stored:
    """Return a row of `blocks` joined to `features` as a block of its table."""
    with reading_rows(f"a block of table {_shown(table)}"):
        seq, key, block_id, kind, text, vector, terms, counts, checksum = row
        if checksum != block_sum(seq, key, block_id, kind, vector, terms, counts):
            raise damaged(f"block {seq} is not as it was written")
        block = to_block(table.table_id, kind, text, block_id)
        return Stored(seq, block, vector, checksum)


def to_block(table_id: bytes, kind: bytes, text: bytes, block_id: bytes) -> Block:
    """Return a block whose id, a hash of all its parts, says that they belong together.

    Raises:
        IndexDamagedError: They do not.
        SearchIndexError: A newer version wrote its kind.
    """
    with reading_rows("a text"):
        block = Block(from_blob(table_id), to_kind(from_blob(kind)), from_blob(text))
        if to_blob(block.block_id) != block_id:
            raise damaged("a text is not as it was written")
        return block


def check_total(table: TableRow, checksums: Iterable[int]) -> None:
    """Raise `IndexDamagedError` unless these are the checksums of all blocks of a table."""
    found = list(checksums)
    if len(found) != table.blocks or wrapped(sum(found)) != table.total:
        raise damaged(f"blocks of table {_shown(table)} are missing")


def _table(row: Sequence[Any]) -> TableRow:
    with reading_rows("a table"):
        table = TableRow(*row)
        parts = (table.key, table.table_id, table.blocks, table.total, table.evidence)
        if table.checksum != table_sum(*parts):
            raise damaged("a table is not as it was written")
        return table


def _shown(table: TableRow) -> str:
    return repr(table.table_id.decode("utf-8", "backslashreplace"))
