"""PostgreSQL, on a real server in the tests."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from psycopg.adapt import Buffer, Loader
from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    bindparam,
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

    def connect_arguments(self) -> dict[str, Any]:
        """Return how long a server may take to answer, and the encoding of all text."""
        return {"connect_timeout": _CONNECT_SECONDS, "client_encoding": "utf8"}

    def prepare(self, cursor: Any) -> None:
        """Make a new connection read-only, its statements and waits bounded in time."""
        cursor.connection.adapters.register_loader("name", _NameLoader)
        milliseconds = int(self.bounds.seconds * 1000)
        for statement in (*_SESSION, f"SET statement_timeout = {milliseconds}"):
            cursor.execute(statement)
        cursor.execute(f"SET lock_timeout = {min(milliseconds, 10_000)}")

    def catalog(
        self, connection: Connection, database: str, wanted: Wanted
    ) -> Iterator[CatalogTable]:
        """Return all wanted tables, by two statements whatever their number."""
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
        """Return what the server says and advises (REFRESH, for one), without the statement."""
        diagnosis = getattr(error.orig, "diag", None)
        said = (getattr(diagnosis, f"message_{part}", None) for part in ("primary", "hint"))
        return "; ".join(filter(None, said)) or super().reason(error)


class _NameLoader(Loader):
    """Reads a name, whatever its bytes: roles are named by users of any database of the server."""

    def load(self, data: Buffer) -> str:
        return bytes(data).decode("utf-8", "surrogateescape")
