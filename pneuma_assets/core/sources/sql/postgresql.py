"""PostgreSQL, on a real server in the tests.

A database of encoding SQL_ASCII keeps whatever bytes it is given, and checks them when they are
sent: one wrong byte in a comment would fail the whole listing. Here the server is told that bytes
are Latin 1, as which any will do, and they are decoded, and statements encoded, by ourselves: as
UTF-8, with surrogates where a name is something else, so that it is found again, and U+FFFD in
all other text. Names of roles are the whole server's, so they may be such in any database.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from psycopg import Connection as DriverConnection
from psycopg.adapt import Buffer, Loader
from psycopg.types.string import StrDumperUnknown
from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Engine,
    Select,
    bindparam,
    event,
    func,
    literal,
    literal_column,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.functions import Function

from pneuma_assets.core.lineage.engines import POSTGRESQL
from pneuma_assets.core.sources.base import Statement, StatementRows
from pneuma_assets.core.sources.sql.dialect import Bound, CatalogTable, Dialect
from pneuma_assets.core.sources.sql.engines import Wanted
from pneuma_assets.core.sources.sql.postgresql_catalog import QUERY, SCHEMAS, read_tables
from pneuma_assets.core.sources.sql.postgresql_statements import run
from pneuma_assets.core.sources.sql.rows import from_clause

_WIRE = "LATIN1"
_TEXTS = ("text", "varchar", "bpchar")
_REFUSED = {"42501"}
_TIMED_OUT = {"57014", "55P03"}
_SESSION = (
    # What comes into the catalogue's place in a path of schemas could be anybody's.
    "SET search_path = pg_catalog",
    "SET default_transaction_read_only = on",
    # Rows in their order, whoever else reads the table; and their texts the same everywhere.
    "SET synchronize_seqscans = off",
    "SET timezone = 'UTC'",
    "SET datestyle = 'ISO, YMD'",
    "SET intervalstyle = 'postgres'",
    "SET bytea_output = 'hex'",
    "SET extra_float_digits = 1",
    "SET jit = off",
)
_CONNECT_SECONDS = 10
_MOST_ARGUMENTS = 90
"""PostgreSQL refuses a function more than 100."""


class PostgreSQL(Dialect):
    """PostgreSQL 12 and later, and what speaks as it does (AlloyDB, Aurora, Neon)."""

    dependencies: ClassVar[str] = POSTGRESQL

    def engine(self, url: URL) -> Engine:
        """Return what connects to a database, also to one that keeps texts of no encoding."""
        engine = super().engine(url)
        event.listen(engine, "before_cursor_execute", _spelled, retval=True)
        return engine

    def connect_arguments(self) -> dict[str, Any]:
        """Return how long a server may take to answer, and the encoding of all text."""
        return {"connect_timeout": _CONNECT_SECONDS, "client_encoding": "utf8"}

    def prepare(self, cursor: Any) -> None:
        """Make a new connection read-only, its statements and waits bounded in time."""
        _prepare_texts(cursor)
        milliseconds = int(self.bounds.seconds * 1000)
        for statement in (*_SESSION, f"SET statement_timeout = {milliseconds}"):
            cursor.execute(statement)
        cursor.execute(f"SET lock_timeout = {min(milliseconds, 10_000)}")

    def catalog(
        self, connection: Connection, database: str, wanted: Wanted
    ) -> Iterator[CatalogTable]:
        """Return all wanted tables, by three statements whatever their number."""
        return read_tables(connection, database, wanted)

    def schema_names(self, connection: Connection) -> Collection[str] | None:
        """Return all schemas: whoever connects may see their names."""
        return connection.execute(text(SCHEMAS)).scalars().all()

    def definition_of(self, connection: Connection, table: CatalogTable) -> CatalogTable:
        """Return a view with its query, which PostgreSQL spells anew from what it parsed."""
        if table.definition is None:
            return table
        sql = connection.execute(text(QUERY), {"oid": table.identity}).scalar()
        return replace(table, definition=replace(table.definition, sql=sql or ""))

    def estimate(self, connection: Connection, table: CatalogTable) -> int | None:
        """Return what the planner reckons with."""
        if table.rows is not None and table.kind not in {"view", "foreign table"}:
            return table.rows
        whole: Select[Any] = select(literal_column("1")).select_from(from_clause(table))
        asked = f"EXPLAIN (FORMAT JSON) {whole.compile(connection)}"
        (plan,) = connection.exec_driver_sql(asked).scalar_one()
        return int(plan["Plan"]["Plan Rows"])

    def sampling(self, table: CatalogTable, share: float) -> Function[Any] | None:
        """Return which rows, or of a large table which blocks, are read."""
        if table.kind not in {"table", "materialized view"}:
            return None
        small = table.size is not None and table.size <= self.bounds.size
        return (func.bernoulli if small else func.system)(literal(100 * share))

    def hashed(
        self, cells: Sequence[ColumnElement[Any]], one_of: int, seed: int
    ) -> ColumnElement[bool] | None:
        """Return a condition by PostgreSQL's own hash of a row's cells."""
        mark, starts = literal("\x1f"), range(0, len(cells), _MOST_ARGUMENTS)
        parts = (func.concat_ws(mark, *cells[at : at + _MOST_ARGUMENTS]) for at in starts)
        whole = func.concat_ws(mark, *parts)
        hashed = func.hashtextextended(whole, bindparam("seed", seed % 2**31))
        condition: ColumnElement[bool] = func.mod(hashed, one_of) == 0
        return condition

    def run_statement(
        self, connection: Connection, statement: Statement, tables: Bound
    ) -> StatementRows:
        """Return the rows of a checked statement, in the time of any statement at most."""
        return run(connection, statement, tables, min(statement.seconds, self.bounds.seconds))

    def refused(self, error: DBAPIError) -> bool:
        """Tell whether a privilege is missing."""
        return getattr(error.orig, "sqlstate", None) in _REFUSED

    def timed_out(self, error: DBAPIError) -> bool:
        """Tell whether a statement took longer than it may, or waited too long for a lock."""
        return getattr(error.orig, "sqlstate", None) in _TIMED_OUT

    def reason(self, error: DBAPIError) -> str:
        """Return what the server says, without where in the statement, which nobody here wrote."""
        said = getattr(getattr(error.orig, "diag", None), "message_primary", None)
        return _decoded(str(said) if said else super().reason(error))


class _NameLoader(Loader):
    """Reads a name, whatever its bytes."""

    errors = "surrogateescape"

    def load(self, data: Buffer) -> str:
        return bytes(data).decode("utf-8", self.errors)


class _TextLoader(_NameLoader):
    """Reads a text, with a mark in the place of what is none."""

    errors = "replace"


class _Dumper(StrDumperUnknown):
    """Sends a text as the bytes that it was read from."""

    def dump(self, obj: str) -> Buffer | None:
        return obj.encode("utf-8", "surrogateescape")


def _prepare_texts(cursor: Any) -> None:
    """Let a new connection read texts and names of any bytes."""
    connection: DriverConnection[Any] = cursor.connection
    adapters = connection.adapters
    adapters.register_loader("name", _NameLoader)
    if connection.info.parameter_status("server_encoding") != "SQL_ASCII":
        return
    cursor.execute(f"SET client_encoding = '{_WIRE}'")
    for kind in _TEXTS:
        adapters.register_loader(kind, _TextLoader)
    adapters.register_loader("json", _NameLoader)  # it holds names, and is parsed where it is used
    adapters.register_dumper(str, _Dumper)


def _spelled(
    _connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any
) -> tuple[str, Any]:
    """Return a statement as the server takes it, names in it as the bytes that they were read from.

    SQLAlchemy calls it before each statement (`before_cursor_execute`).
    """
    status = cursor.connection.info.parameter_status
    if status("server_encoding") == "SQL_ASCII" and status("client_encoding") == _WIRE:
        return statement.encode("utf-8", "surrogateescape").decode("latin-1"), parameters
    return statement, parameters


def _decoded(words: str) -> str:
    """Return what the server said of an error, which the driver may have read as Latin 1.

    Words that were read as they should be are not UTF-8 when they are spelled as Latin 1.
    """
    try:
        return words.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return words
