"""Engines whose catalogue is asked by a few statements, each for all tables of a schema or more.

Their SQL is checked by parsers of each dialect, not on servers (docs/warehouses.md says of which).
"""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, TextClause, bindparam, text

from pneuma_assets.core.sources.sql.catalog import (
    COLUMN_COMMENT_CHARACTERS,
    COMMENT_CHARACTERS,
    CatalogTable,
    Wanted,
)
from pneuma_assets.core.sources.sql.dialect import Dialect
from pneuma_assets.core.tables import Column, Definition, ForeignKey

Row = Mapping[str, Any]
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Questions:
    """Statements whose answers have these columns; whatever is not there is unknown.

    Attributes:
        tables: `schema_name`, `table_name`, `kind`, `comment`, `row_count`, `byte_count`,
            `changed_at` (seconds since 1970), `signal`, `identity`, `definition`.
        columns: `schema_name`, `table_name`, `column_name`, `type`, `comment`, in their order.
        keys: `schema_name`, `table_name`, `key_name` (empty: the primary key), `column_name`,
            `other_database`, `other_schema`, `other_table`, `other_column`, in their order.
    """

    tables: Sequence[TextClause]
    columns: Sequence[TextClause]
    keys: Sequence[TextClause] = ()

    def __len__(self) -> int:
        return len(self.tables) + len(self.columns) + len(self.keys)


class AskingDialect(Dialect):
    """One engine, by the statements that it is asked."""

    rows_are_counted = False
    """Whether its catalogue tells the number of rows exactly."""

    @abstractmethod
    def questions(self, database: str, schemas: Sequence[str]) -> Questions:
        """Return what is asked of a database; no schemas: of all but the engine's own."""

    def answers(self, connection: Connection, statements: Iterable[TextClause]) -> Iterator[Row]:
        """Yield the rows of all answers, names of columns in lower case."""
        for statement in statements:
            for row in connection.execute(statement).mappings():
                yield {name.lower(): value for name, value in row.items()}

    def schemas(self, connection: Connection, database: str, wanted: Wanted) -> Sequence[str]:  # noqa: ARG002
        """Return which schemas are asked about; none: all, by one statement."""
        return wanted.schemas

    def catalog(
        self, connection: Connection, database: str, wanted: Wanted
    ) -> Iterator[CatalogTable]:
        """Yield all wanted tables."""
        questions = self.questions(database, self.schemas(connection, database, wanted))
        self.check_statements(len(questions))
        columns: dict[Key, list[Column]] = defaultdict(list)
        for row in self.answers(connection, questions.columns):
            comment = (row.get("comment") or "")[: COLUMN_COMMENT_CHARACTERS + 1]
            columns[_key(row)].append(Column(row["column_name"], self.type_of(row), comment))
        keys: dict[Key, list[Row]] = defaultdict(list)
        for row in self.answers(connection, questions.keys):
            keys[_key(row)].append(row)
        for row in self.answers(connection, questions.tables):
            schema, name = key = _key(row)
            if wanted.admits(database, schema, name):
                yield self._table(database, row, tuple(columns[key]), keys[key])

    def type_of(self, row: Row) -> str:
        """Return a column's type as people write it."""
        return str(row["type"])

    def _table(
        self, database: str, row: Row, columns: tuple[Column, ...], keys: Sequence[Row]
    ) -> CatalogTable:
        schema, name = _key(row)
        kind = _kind_of(row["kind"])
        rows, size = row.get("row_count"), row.get("byte_count")
        told = (row.get(name) for name in ("identity", "changed_at", "signal"))
        exact = (rows, size) if self.rows_are_counted else ()
        sql = row.get("definition")
        return CatalogTable(
            database=database,
            schema=schema,
            name=name,
            kind=kind,
            columns=columns,
            signals=tuple(str(value) for value in (*told, *exact)),
            comment=(row.get("comment") or "")[: COMMENT_CHARACTERS + 1],
            primary_key=tuple(one["column_name"] for one in keys if not one.get("key_name")),
            foreign_keys=tuple(_foreign_keys(keys)),
            definition=Definition(sql, self.sql, database, schema) if sql else None,
            rows=None if rows is None or kind == "view" else int(rows),
            counted=self.rows_are_counted and rows is not None and kind != "view",
            size=None if size is None else int(size),
            identity=None if row.get("identity") is None else str(row["identity"]),
            updated_at=None if row.get("changed_at") is None else float(row["changed_at"]),
        )


def asked(sql: str, schemas: Sequence[str] = (), column: str = "table_schema") -> TextClause:
    """Return a statement with `{schemas}` in it as a condition on the schemas' names, bound.

    Args:
        sql: The statement; what stands in it beside `{schemas}` is ours, or quoted.
        schemas: Only these; none: all.
        column: What holds their names.
    """
    if not schemas:
        return text(sql.replace("{schemas}", "1 = 1"))
    statement = text(sql.replace("{schemas}", f"{column} IN :schemas"))
    return statement.bindparams(bindparam("schemas", list(schemas), expanding=True))


def quoted(name: str, mark: str = '"') -> str:
    """Return a name as an identifier, safe in `text`, where a colon begins a parameter."""
    return mark + name.replace(mark, mark * 2).replace(":", "\\:") + mark


def _key(row: Row) -> Key:
    return str(row["schema_name"]), str(row["table_name"])


def _kind_of(told: str) -> str:
    """Return which of our kinds an engine means."""
    kind = told.casefold().replace("_", " ")
    for ours in ("materialized view", "view"):
        if ours in kind:
            return ours
    return "foreign table" if {"external", "foreign"} & set(kind.split()) else "table"


def _foreign_keys(keys: Sequence[Row]) -> Iterator[ForeignKey]:
    by_name: dict[str, list[Row]] = defaultdict(list)
    for row in keys:
        if row.get("key_name"):
            by_name[row["key_name"]].append(row)
    for rows in by_name.values():
        names = [rows[0].get(f"other_{part}") for part in ("database", "schema", "table")]
        yield ForeignKey(
            tuple(row["column_name"] for row in rows),
            tuple(str(name) for name in names if name),
            tuple(row["other_column"] for row in rows),
        )
