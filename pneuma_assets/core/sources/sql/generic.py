"""Engines whose catalogue is ANSI's INFORMATION_SCHEMA, or as far as SQLAlchemy's Inspector sees.

MySQL reads INFORMATION_SCHEMA in this way on a server of the tests, SQLite is inspected in files.
All other engines that come here were never met: their dialects of SQLAlchemy quote names and make
SELECTs, and nothing else is sent to them. Nothing that moves when rows change is standard, so where
an engine tells no such thing, changed rows go unnoticed (docs/warehouses.md).
"""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    Inspector,
    NullPool,
    bindparam,
    create_engine,
    inspect,
    text,
)
from sqlalchemy.engine.interfaces import Dialect as SQLAlchemyDialect
from sqlalchemy.engine.reflection import ObjectKind
from sqlalchemy.exc import CompileError, DBAPIError, NoSuchTableError

from pneuma_assets.core.sources.bounds import reading_file
from pneuma_assets.core.sources.sql.dialect import (
    COLUMN_COMMENT_CHARACTERS,
    COMMENT_CHARACTERS,
    CatalogTable,
    Dialect,
)
from pneuma_assets.core.sources.sql.engines import Wanted
from pneuma_assets.core.sources.sqlite_file import read_only
from pneuma_assets.core.tables import Column, Definition, ForeignKey

Row = Mapping[str, Any]
Found = Mapping[tuple[str | None, str], Any]

_SYSTEM = frozenset(
    ("information_schema", "pg_catalog", "pg_internal", "sys", "mysql", "performance_schema")
)


class InformationSchema(Dialect):
    """An engine with INFORMATION_SCHEMA; what it has there beyond the standard is taken, too."""

    keys: ClassVar[str] = ""
    """Asks for declared keys: `table_schema`, `table_name`, `key_name` (empty: the primary key),
    `column_name`, `other_schema`, `other_table`, `other_column`, in their order."""

    def catalog(
        self, connection: Connection, database: str, wanted: Wanted
    ) -> Iterator[CatalogTable]:
        """Yield all wanted tables, by three or four statements for each INFORMATION_SCHEMA."""
        for place in self._places(connection, database, wanted.schemas):
            yield from self._tables(connection, database, place, wanted)

    def _places(self, connection: Connection, database: str, schemas: Sequence[str]) -> list[str]:
        """Return how names of INFORMATION_SCHEMA begin: quoted, and safe in `text`."""
        names: Sequence[str] = [database] if database else []
        if self.kind.dataset_catalogs:
            found = schemas or inspect(connection).get_schema_names()
            names = [name.rpartition(".")[2] for name in found]
        mark = connection.dialect.identifier_preparer.quote_identifier
        quoted = [f"{mark(name)}.".replace(":", "\\:") for name in names if self.can_quote(name)]
        return quoted or [""]

    def _tables(
        self, connection: Connection, database: str, place: str, wanted: Wanted
    ) -> Iterator[CatalogTable]:
        ask = partial(_rows, connection, place, wanted.schemas)
        columns: dict[tuple[str, str], list[Column]] = defaultdict(list)
        for row in ask("SELECT * FROM {place}INFORMATION_SCHEMA.COLUMNS WHERE {ours} "
                       "ORDER BY table_schema, table_name, ordinal_position"):  # fmt: skip
            kind = _first(row, "column_type", "full_data_type", "data_type")
            comment = _first(row, "column_comment", "comment")[: COLUMN_COMMENT_CHARACTERS + 1]
            columns[_key(row)].append(Column(row["column_name"], kind, comment))
        queries = {
            _key(row): row["view_definition"]
            for row in ask("SELECT table_schema, table_name, view_definition "
                           "FROM {place}INFORMATION_SCHEMA.VIEWS WHERE {ours}")
        }  # fmt: skip
        keys: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in ask(self.keys) if self.keys else ():
            keys[_key(row)].append(row)
        for row in ask("SELECT * FROM {place}INFORMATION_SCHEMA.TABLES WHERE {ours} "
                       "ORDER BY table_schema, table_name"):  # fmt: skip
            key = _key(row)
            if wanted.admits(database, *key) and "sequence" not in str(row["table_type"]).lower():
                described = self._described(database, row)
                query = queries.get(key)
                yield replace(
                    described,
                    columns=tuple(columns[key]),
                    primary_key=tuple(one["column_name"] for one in keys[key]
                                      if not one["key_name"]),
                    foreign_keys=tuple(_foreign_keys(keys[key])),
                    definition=Definition(query, self.kind.sql, database, key[0])
                    if query else None,
                )  # fmt: skip

    def _described(self, database: str, row: Row) -> CatalogTable:
        """Return what INFORMATION_SCHEMA.TABLES says of a table."""
        kind = _kind_of(row["table_type"])
        size = _number(row, "bytes", "data_length")
        altered = row.get("last_altered") or row.get("update_time")
        created = _first(row, "create_time", "created", "creation_time")
        comment = _first(row, "comment", "table_comment")
        return CatalogTable(
            *(database, row["table_schema"], row["table_name"], kind, ()),
            signals=(str(altered or ""), created, str(size)),
            comment="" if comment == "VIEW" else comment[: COMMENT_CHARACTERS + 1],
            rows=None if kind == "view" else _number(row, "row_count", "table_rows"),
            size=size,
            updated_at=_seconds(altered),
        )


def _rows(connection: Connection, place: str, schemas: Sequence[str], sql: str) -> Iterator[Row]:
    """Yield the rows of an answer, names of columns in lower case.

    `{place}` in the statement is replaced by how INFORMATION_SCHEMA is named, `{ours}` by the
    condition that a table is of these schemas (none given: of all but the engine's own).
    """
    ours = "table_schema IN :schemas" if schemas else "LOWER(table_schema) NOT IN :schemas"
    statement = text(sql.replace("{place}", place).replace("{ours}", ours))
    named: Any = bindparam("schemas", list(schemas or sorted(_SYSTEM)), expanding=True)
    for row in connection.execute(statement.bindparams(named)).mappings():
        yield {name.lower(): value for name, value in row.items()}


def _key(row: Row) -> tuple[str, str]:
    return str(row["table_schema"]), str(row["table_name"])


def _first(row: Row, *names: str) -> str:
    """Return the first of these columns that an engine has, as text; empty: none."""
    return next((str(row[name]) for name in names if row.get(name) is not None), "")


def _number(row: Row, *names: str) -> int | None:
    found = _first(row, *names)
    return int(float(found)) if found else None


def _seconds(moment: object) -> float | None:
    """Return the seconds since 1970 of a moment, in UTC where it has no zone of its own."""
    if not isinstance(moment, datetime):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _kind_of(table_type: str) -> str:
    """Return which of our kinds an engine means."""
    kind = table_type.casefold().replace("_", " ")
    for ours in ("materialized view", "view"):
        if ours in kind:
            return ours
    return "foreign table" if {"external", "foreign"} & set(kind.split()) else "table"


def _foreign_keys(keys: Sequence[Row]) -> Iterator[ForeignKey]:
    by_name: dict[str, list[Row]] = defaultdict(list)
    for row in keys:
        if row["key_name"]:
            by_name[row["key_name"]].append(row)
    for rows in by_name.values():
        yield ForeignKey(
            tuple(row["column_name"] for row in rows),
            (rows[0]["other_schema"], rows[0]["other_table"]),
            tuple(row["other_column"] for row in rows),
        )


class Inspected(Dialect):
    """What SQLAlchemy reflects: schema, comments and keys."""

    def catalog(
        self, connection: Connection, database: str, wanted: Wanted
    ) -> Iterator[CatalogTable]:
        """Yield all wanted tables and views, by at most six questions a schema or a table.

        How many statements these become is the business of SQLAlchemy's dialect.
        """
        inspector = inspect(connection)
        schemas = wanted.schemas or [
            name for name in inspector.get_schema_names() if name.lower() not in _SYSTEM
        ]
        for schema in schemas:
            for table in self._tables(connection, inspector, schema):
                if wanted.admits(database, schema, table.name):
                    yield replace(table, database=database)

    def definition_of(self, connection: Connection, table: CatalogTable) -> CatalogTable:
        """Return a view with its query."""
        if table.kind != "view" or not self.kind.sql:
            return table
        with suppress(NotImplementedError, NoSuchTableError):
            sql = inspect(connection).get_view_definition(table.name, table.schema)
            return replace(table, definition=Definition(sql or "", self.kind.sql, "", table.schema))
        return table

    def signals(self, connection: Connection) -> tuple[str, ...]:  # noqa: ARG002
        """Return what moves when any row changes; nothing is known of an engine in general."""
        return ()

    def shadows(self, connection: Connection, schema: str) -> Set[str]:  # noqa: ARG002
        """Return the tables in which an engine keeps what others of its tables are made of."""
        return frozenset()

    def _tables(
        self, connection: Connection, inspector: Inspector, schema: str
    ) -> Iterator[CatalogTable]:
        signals = self.signals(connection)
        views = set(inspector.get_view_names(schema))
        names = {*inspector.get_table_names(schema), *views} - self.shadows(connection, schema)
        columns = _columns(inspector, schema, names)
        comments = _multi(inspector.get_multi_table_comment, schema)
        primary = _multi(inspector.get_multi_pk_constraint, schema)
        foreign = _multi(inspector.get_multi_foreign_keys, schema)
        for name in sorted(names):
            key = (schema, name)
            yield CatalogTable(
                *("", schema, name, "view" if name in views else "table"),
                tuple(_column(one, connection.dialect) for one in columns.get(key, ())),
                signals,
                comment=(comments.get(key) or {}).get("text") or "",
                primary_key=tuple((primary.get(key) or {}).get("constrained_columns") or ()),
                foreign_keys=tuple(
                    ForeignKey(
                        tuple(one["constrained_columns"]),
                        (one["referred_schema"] or schema, one["referred_table"]),
                        tuple(one["referred_columns"]),
                    )
                    for one in foreign.get(key, ())
                ),
            )


def _multi(ask: Callable[..., Any], schema: str) -> Found:
    """Return what a dialect tells of all tables of a schema; nothing where it does not."""
    try:
        found: Found = ask(schema=schema, kind=ObjectKind.TABLE)
    except NotImplementedError:
        return {}
    return found


def _columns(inspector: Inspector, schema: str, names: set[str]) -> Found:
    """Return the columns of all tables; of a view that cannot be bound any more, none."""
    try:
        return inspector.get_multi_columns(schema=schema, kind=ObjectKind.ANY)
    except DBAPIError:
        inspector.clear_cache()
    found: dict[tuple[str | None, str], Any] = {}
    for name in names:
        with suppress(DBAPIError, NoSuchTableError):
            found[schema, name] = inspector.get_columns(name, schema)
    return found


def _column(found: Mapping[str, Any], dialect: SQLAlchemyDialect) -> Column:
    try:
        kind = found["type"].compile(dialect)
    except CompileError:
        kind = "unknown"
    return Column(found["name"], kind, found.get("comment") or "")


_TELLS_SHADOWS = (3, 37)
"""The first version of SQLite that does; distributions still have older ones."""

_SHADOWS = "SELECT name FROM pragma_table_list WHERE schema = :schema AND type = 'shadow'"


class SQLite(Inspected):
    """One file, opened read-only; its size and time tell that anything in it has changed."""

    check: ClassVar[str] = "check that the path in the source's url is that of a SQLite file"

    def engine(self, url: URL) -> Engine:
        """Return what opens the file, which has to be there, for as long as a call lasts."""
        self._path = Path(url.database or "").absolute()
        opened = partial(_open, self._path, self.bounds.seconds)
        return create_engine("sqlite://", creator=opened, poolclass=NullPool)

    def prepare(self, cursor: Any) -> None:
        """Let no view write, and no view call what its author could abuse."""
        cursor.execute("PRAGMA query_only = ON")
        cursor.execute("PRAGMA trusted_schema = OFF")

    def signals(self, connection: Connection) -> tuple[str, ...]:  # noqa: ARG002
        """Return size and time of the file, and of its log."""
        files = (self._path, Path(f"{self._path}-wal"))
        stamps = [one.stat() for one in files if one.exists()]
        return tuple(f"{stamp.st_size}-{stamp.st_mtime_ns}" for stamp in stamps)

    def shadows(self, connection: Connection, schema: str) -> Set[str]:
        """Return what a full-text or spatial index keeps its words and boxes in, if known."""
        if sqlite3.sqlite_version_info < _TELLS_SHADOWS:
            return frozenset()
        return {*connection.execute(text(_SHADOWS), {"schema": schema}).scalars()}


def _open(path: Path, seconds: float) -> sqlite3.Connection:
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    reading_file(path)
    with TemporaryDirectory(prefix="pneuma-") as scratch, path.open("rb") as file:
        has_log = file.read(20)[18:] == b"\2\2"
        read, options = read_only(path, path, Path(scratch)) if has_log else (path, "mode=ro")
        connection = sqlite3.connect(
            f"{read.as_uri()}?{options}", uri=True, timeout=seconds, check_same_thread=False
        )
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        if read != path:
            connection.execute("SELECT 1 FROM sqlite_master").close()  # a copy is open, and may go
    return connection
