"""PostgreSQL, for real: tried on a server by the tests."""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from sqlalchemy import (
    URL,
    ClauseElement,
    ColumnElement,
    Connection,
    Engine,
    Executable,
    Select,
    TableClause,
    bindparam,
    event,
    func,
    literal,
    literal_column,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from pneuma_assets.core.lineage.dependency_views import POSTGRESQL
from pneuma_assets.core.sources.base import Statement, StatementRows
from pneuma_assets.core.sources.sql.catalog import (
    COLUMN_COMMENT_CHARACTERS,
    COMMENT_CHARACTERS,
    CatalogTable,
    Wanted,
)
from pneuma_assets.core.sources.sql.dialect import Dialect
from pneuma_assets.core.sources.sql.grants import Grants, Role
from pneuma_assets.core.sources.sql.postgresql_catalog import LISTED, QUERY, ROLES, SCHEMAS
from pneuma_assets.core.sources.sql.postgresql_statements import Bound, run
from pneuma_assets.core.sources.sql.postgresql_texts import prepare_texts, spelled, told
from pneuma_assets.core.sources.sql.selecting import from_clause
from pneuma_assets.core.tables import Activity, Column, Definition, ForeignKey

_KINDS = {
    "r": "table",
    "p": "table",
    "v": "view",
    "m": "materialized view",
    "f": "foreign table",
}
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


class _Explained(Executable, ClauseElement):
    """Asks how a whole table would be read; nothing of it is."""

    inherit_cache = False

    def __init__(self, table: TableClause) -> None:
        self.statement: Select[Any] = select(literal_column("1")).select_from(table)


@compiles(_Explained)
def _explain(element: _Explained, compiler: SQLCompiler, **options: Any) -> str:
    return f"EXPLAIN (FORMAT JSON) {compiler.process(element.statement, **options)}"


class PostgreSQL(Dialect):
    """PostgreSQL 12 and later, and what speaks as it does (AlloyDB, Aurora, Neon)."""

    sql: ClassVar[str] = "postgres"
    runs_statements: ClassVar[bool] = True
    dependencies: ClassVar[str] = POSTGRESQL

    def engine(self, url: URL) -> Engine:
        """Return what connects to a database, also to one that keeps texts of no encoding."""
        engine = super().engine(url)
        event.listen(engine, "before_cursor_execute", spelled, retval=True)
        return engine

    def connect_arguments(self) -> dict[str, Any]:
        """Return how long a server may take to answer, and the encoding of all text."""
        return {"connect_timeout": _CONNECT_SECONDS, "client_encoding": "utf8"}

    def prepare(self, cursor: Any) -> None:
        """Make a new connection read-only, its statements and waits bounded in time."""
        prepare_texts(cursor)
        milliseconds = int(self.bounds.seconds * 1000)
        for statement in (*_SESSION, f"SET statement_timeout = {milliseconds}"):
            cursor.execute(statement)
        cursor.execute(f"SET lock_timeout = {min(milliseconds, 10_000)}")

    def catalog(
        self, connection: Connection, database: str, wanted: Wanted
    ) -> Iterator[CatalogTable]:
        """Yield all wanted tables, by two statements."""
        here = connection.execute(text("SELECT pg_catalog.current_database()")).scalar_one()
        grants = _grants(connection)
        found = connection.execute(
            text(LISTED),
            {
                "everywhere": not wanted.schemas,
                "schemas": list(wanted.schemas),
                "table_comment": COMMENT_CHARACTERS + 1,
                "column_comment": COLUMN_COMMENT_CHARACTERS + 1,
            },
        )
        for row in found:
            if wanted.admits(here, row.schema, row.name):
                yield _table(database, here, row, grants)

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
        (plan,) = connection.execute(_Explained(from_clause(table))).scalar_one()
        return int(plan["Plan"]["Plan Rows"])

    def sampling(self, table: CatalogTable, share: float, seed: int) -> str | None:
        """Return which rows, or of a large table which blocks, are read; the seed decides."""
        if table.kind not in {"table", "materialized view"}:
            return None
        small = table.size is not None and table.size <= self.bounds.size
        method = "BERNOULLI" if small else "SYSTEM"
        return f"TABLESAMPLE {method} ({100 * share:.8f}) REPEATABLE ({seed % 2**31})"

    def hashed(
        self, cells: Sequence[ColumnElement[Any]], one_of: int, seed: int
    ) -> ColumnElement[bool] | None:
        """Return a condition by PostgreSQL's own hash of a row's cells."""
        starts = range(0, len(cells), _MOST_ARGUMENTS)
        whole = _joined([_joined(cells[at : at + _MOST_ARGUMENTS]) for at in starts])
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
        return told(str(said) if said else super().reason(error))


def _grants(connection: Connection) -> Grants:
    roles, may_connect = {}, []
    for row in connection.execute(text(ROLES)):
        roles[row.oid] = Role(row.name, row.super, row.bypasses, tuple(row.members))
        may_connect = row.may_connect
    return Grants(roles, may_connect)


def _table(database: str, here: str, row: Any, grants: Grants) -> CatalogTable:
    keys = _json(row.declared)
    own = row.kind in {"r", "p", "m"} and not row.elsewhere
    primary = next((tuple(key[3]) for key in keys if key[0] == "p"), ())
    is_view = row.kind in {"v", "m"}
    return CatalogTable(
        database=database,
        schema=row.schema,
        name=row.name,
        kind=_KINDS[row.kind],
        columns=tuple(
            Column(name, kind, comment or "", str(number))
            for number, name, kind, comment in _json(row.columns)
        ),
        signals=tuple(
            str(value)
            for value in (row.inserted, row.updated, row.deleted, row.files, row.query or "")
        ),
        comment=row.comment or "",
        primary_key=primary,
        foreign_keys=tuple(
            ForeignKey(tuple(columns), (schema, name), tuple(others))
            for kind, schema, name, columns, others in keys
            if kind == "f"
        ),
        definition=Definition("", PostgreSQL.sql, here, row.schema) if is_view else None,
        rows=row.rows,
        size=row.size if own else None,
        identity=row.oid,
        activity=Activity(row.inserted or 0, row.updated or 0, row.deleted or 0) if own else None,
        readers=grants.readers(
            row.owner,
            row.may_select,
            row.may_enter,
            also=_json(row.needs),
            secured=row.secured,
            forced=row.forced or row.kind == "v",
        ),
        queries=float(row.scans or 0) if own else None,
        readable=bool(row.readable),
    )


def _joined(cells: Sequence[ColumnElement[Any]]) -> ColumnElement[Any]:
    return func.concat_ws(literal("\x1f"), *cells)


def _json(found: Any) -> list[Any]:
    """Return what the driver may have parsed already."""
    parsed: list[Any] = json.loads(found) if isinstance(found, str) else (found or [])
    return parsed
