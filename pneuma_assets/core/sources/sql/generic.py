"""Any other database that SQLAlchemy has a dialect for, as far as its Inspector tells.

It tells schema, comments and keys, and nothing that moves when rows change. So a change of rows is
not noticed by a listing; whoever writes says so, or everything is read anew now and then.
"""

from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Inspector, inspect
from sqlalchemy.engine.interfaces import Dialect as SQLAlchemyDialect
from sqlalchemy.engine.reflection import ObjectKind
from sqlalchemy.exc import CompileError, DBAPIError, NoSuchTableError

from pneuma_assets.core.sources.sql.catalog import CatalogTable, Wanted
from pneuma_assets.core.sources.sql.dialect import Dialect
from pneuma_assets.core.tables import Column, Definition, ForeignKey

Found = Mapping[tuple[str | None, str], Any]

_SYSTEM = frozenset({"information_schema", "pg_catalog", "sys", "performance_schema"})
_QUESTIONS = 6
"""Statements that one schema takes, at most, where a dialect asks for all its tables at once."""


class Generic(Dialect):
    """What SQLAlchemy reflects."""

    def prepare(self, cursor: Any) -> None:
        """Do nothing: no statement makes every engine's session read-only; let its user be."""

    def catalog(
        self, connection: Connection, database: str, wanted: Wanted
    ) -> Iterator[CatalogTable]:
        """Yield all wanted tables and views, a handful of questions a schema."""
        inspector = inspect(connection)
        schemas = wanted.schemas or [
            name for name in inspector.get_schema_names() if name.lower() not in _SYSTEM
        ]
        self.check_statements(_QUESTIONS * len(schemas))
        for schema in schemas:
            yield from self._tables(connection, inspector, database, schema, wanted)

    def definition_of(self, connection: Connection, table: CatalogTable) -> CatalogTable:
        """Return a view with its query."""
        if table.kind != "view" or not self.sql:
            return table
        with suppress(NotImplementedError, NoSuchTableError):
            sql = inspect(connection).get_view_definition(table.name, table.schema)
            return replace(table, definition=Definition(sql or "", self.sql, "", table.schema))
        return table

    def signals(self, connection: Connection) -> tuple[str, ...]:  # noqa: ARG002
        """Return what moves when any row changes; nothing is known of an engine that is not."""
        return ()

    def shadows(self, connection: Connection, schema: str) -> Set[str]:  # noqa: ARG002
        """Return the tables in which an engine keeps what others of its tables are made of."""
        return frozenset()

    def _tables(
        self,
        connection: Connection,
        inspector: Inspector,
        database: str,
        schema: str,
        wanted: Wanted,
    ) -> Iterator[CatalogTable]:
        signals = self.signals(connection)
        views = set(inspector.get_view_names(schema))
        names = {*inspector.get_table_names(schema), *views} - self.shadows(connection, schema)
        columns = _columns(inspector, schema, names)
        comments = _multi(inspector.get_multi_table_comment, schema)
        primary = _multi(inspector.get_multi_pk_constraint, schema)
        foreign = _multi(inspector.get_multi_foreign_keys, schema)
        for name in sorted(names):
            if wanted.admits(database, schema, name):
                key = (schema, name)
                yield CatalogTable(
                    database=database,
                    schema=schema,
                    name=name,
                    kind="view" if name in views else "table",
                    columns=tuple(_column(one, connection.dialect) for one in columns.get(key, ())),
                    signals=signals,
                    comment=(comments.get(key) or {}).get("text") or "",
                    primary_key=tuple((primary.get(key) or {}).get("constrained_columns") or ()),
                    foreign_keys=tuple(_foreign_key(one, schema) for one in foreign.get(key, ())),
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


def _foreign_key(found: Mapping[str, Any], schema: str) -> ForeignKey:
    return ForeignKey(
        tuple(found["constrained_columns"]),
        (found["referred_schema"] or schema, found["referred_table"]),
        tuple(found["referred_columns"]),
    )
