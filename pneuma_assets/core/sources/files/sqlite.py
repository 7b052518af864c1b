"""Reads the tables and views of SQLite files.

Whoever writes such a file writes programs: its views run in the process that reads it. They may
call functions and read their own file, and nothing else; their time and memory are those of any
reading.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.bounds import check_width
from pneuma_assets.core.sources.duckdb.session import quote_identifier
from pneuma_assets.core.sources.files.arrow import ArrowReader, ArrowTable, Batches, Part
from pneuma_assets.core.sources.files.names import split_inside
from pneuma_assets.core.sources.files.staging import OpenTable, library
from pneuma_assets.core.sources.names import unescape
from pneuma_assets.core.sources.sqlite_file import read_only
from pneuma_assets.core.tables import Column, Definition, ForeignKey, TableRef
from pneuma_assets.core.text.safe import one_line

MAGIC = b"SQLite format 3\0"

_BATCH_CELLS = 50_000
_BLOB_BYTES = 500
_CELL_BYTES = 100_000_000
_ALLOWED = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
_REFUSED_FUNCTIONS = frozenset(
    {"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"}
)
_MOST_SQL = 1_000_000
"""Characters of a view's query; the text may be anybody's."""

_MOST_KEY_COLUMNS = 10_000
_KEYS = 'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq LIMIT ?'
_COLUMNS = "SELECT name, type FROM pragma_table_xinfo(?) WHERE hidden <> 1"
"""What `SELECT *` gives: generated columns, too, and none that a virtual table hides."""
_VIEW = "SELECT CAST(substr(sql, 1, ?) AS TEXT) FROM sqlite_master WHERE type = 'view' AND name = ?"
_LISTED = (
    "SELECT name FROM pragma_table_list WHERE schema = 'main' "
    "AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
    "ORDER BY name"
)
_TELLS_SHADOWS = (3, 37)
"""The first version of SQLite whose list says what a full-text or spatial index is made of."""
_ALL_LISTED = (
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
    "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
)


_explained = partial(
    library,
    *("SQLite", "", "look whether the file is whole, and whether its views do nothing but read"),
    sqlite3.Error,
)


class SQLiteReader(ArrowReader):
    """Reads the tables and views of SQLite files, a table each."""

    def read(self, table: OpenTable, ref: TableRef) -> ArrowTable:
        """Open the file and ask for the columns of one table or view."""
        location, name = split_inside(ref.location, ref.format)
        with _explained():
            connection = _connected(table, table.storage.path(location))
            if connection is None:
                raise TableReadError("it is no SQLite database any more")
            found = connection.execute(_COLUMNS, [name]).fetchall()
            if not found:
                raise TableReadError("the database has no such table any more")
            check_width(len(found))
            place = [unescape(part) for part in ref.table_id.split("/")[1:-1]][-2:]
            foreign_keys = tuple(_foreign_keys(connection, name, place))
            keys, definition = _primary_key(connection, name), _view(connection, name, place)
            _guard(connection)
            query = f"SELECT * FROM {quote_identifier(name)}"
            (rows,) = connection.execute(f"SELECT count(*) FROM ({query})").fetchone()
        described = [Column(column, one_line(kind) or "ANY") for column, kind in found]
        schema = pa.schema([(f"c{i}", pa.string()) for i in range(len(found))])
        part = Part(partial(_batches, connection, query, schema), rows)
        return ArrowTable(
            table.connection,
            schema,
            [part],
            described,
            primary_key=keys,
            foreign_keys=foreign_keys,
            definition=definition,
        )

    def names_inside(self, ref: TableRef) -> tuple[str, ...]:
        """Return the names of tables and views; none of a file that is no SQLite database.

        Other programs, too, call their files `.db`.
        """
        listed = _ALL_LISTED if sqlite3.sqlite_version_info < _TELLS_SHADOWS else _LISTED
        with self.staged(ref) as table, _explained():
            connection = _connected(table, table.path)
            return tuple(row[0] for row in connection.execute(listed)) if connection else ()


def _connected(table: OpenTable, path: str) -> sqlite3.Connection | None:
    """Open a file without ever writing to it, nor beside it; None if it is no database."""
    name = Path(table.place(path, table.scratch / "f.sqlite"))
    with name.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return None
    real = name.resolve()
    for beside in (real.with_name(f"{real.name}{end}") for end in ("-wal", "-shm")):
        if beside.is_symlink():
            raise TableReadError(f"{one_line(beside.name)} beside it is a link; remove it")
    read, options = read_only(real, name, table.scratch)
    connection = sqlite3.connect(f"{read.as_uri()}?{options}", uri=True, check_same_thread=False)
    table.undo.enter_context(closing(connection))
    name = name if read == real else read
    # SQLite opens it by its name, which may lead elsewhere by now; links beside it it refuses.
    held = name.is_symlink()  # and so once open already
    if _times_open(name) <= held:
        raise TableReadError("another file took its place meanwhile; run again")
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _CELL_BYTES)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def _times_open(name: Path) -> int:
    """Return how often this process has the file of a name open."""
    wanted, times = name.stat(), 0
    for number in os.listdir("/dev/fd"):  # noqa: PTH208
        with suppress(OSError):  # The one that lists them is closed again.
            times += os.path.samestat(os.fstat(int(number)), wanted)
    return times


def _primary_key(connection: sqlite3.Connection, name: str) -> tuple[str, ...]:
    columns = "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk"
    return tuple(row[0] for row in connection.execute(columns, [name]))


def _foreign_keys(
    connection: sqlite3.Connection, name: str, place: Sequence[str]
) -> Iterator[ForeignKey]:
    """Yield the foreign keys of a table; what they point to is in the same file.

    `place` is what the ids of its tables have before their names, as a database and schema.
    """
    rows = connection.execute(_KEYS, [name, _MOST_KEY_COLUMNS])
    for _, grouped in groupby(rows, key=itemgetter(0)):
        key = list(grouped)
        other, others = key[0][1], tuple(row[3] for row in key)
        if None in others:  # None are named, so they are its primary key.
            others = _primary_key(connection, other)
        yield ForeignKey(tuple(row[2] for row in key), (*place, other), others)


def _view(connection: sqlite3.Connection, name: str, place: Sequence[str]) -> Definition | None:
    """Return the query of a view; None of a table. Names in it are those of the file's tables."""
    row = connection.execute(_VIEW, [_MOST_SQL, name]).fetchone()
    if row is None or not row[0]:
        return None
    catalog, schema = ("", "", *place)[-2:]
    return Definition(row[0], "sqlite", catalog, schema)


def _guard(connection: sqlite3.Connection) -> None:
    """Refuse all but reading from now on; what a view asks for is compiled after this."""

    def allowed(action: int, first: str | None, second: str | None, *_: Any) -> int:
        if action == sqlite3.SQLITE_FUNCTION:
            refused = (second or "").lower() in _REFUSED_FUNCTIONS
            return sqlite3.SQLITE_DENY if refused else sqlite3.SQLITE_OK
        # A full-text table asks by this whether its file has changed meanwhile.
        asks = action == sqlite3.SQLITE_PRAGMA and (first, second) == ("data_version", None)
        return sqlite3.SQLITE_OK if asks or action in _ALLOWED else sqlite3.SQLITE_DENY

    connection.set_authorizer(allowed)


def _batches(connection: sqlite3.Connection, query: str, schema: pa.Schema) -> Batches:
    rows = max(1, _BATCH_CELLS // len(schema))
    with _explained():
        found = connection.execute(query)
        while batch := found.fetchmany(rows):
            columns = [
                pa.array(list(map(_spelled, column)), pa.string())
                for column in zip(*batch, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _spelled(cell: Any) -> str | None:
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bytes):
        return f"x'{cell[:_BLOB_BYTES].hex()}'"
    return repr(cell) if isinstance(cell, float) else str(cell)
