"""Snowflake, asked without waking a warehouse.

`SHOW` is answered by Snowflake's own services, and no warehouse resumes for it; a select from
INFORMATION_SCHEMA needs one. SHOW tells rows and bytes of a table, not when it was altered last,
and ends after 10,000 rows, so a schema with more columns needs `wake: true`.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

from sqlalchemy import ColumnElement, Connection, String, TextClause, cast, func, text

from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.lineage.dependency_views import SNOWFLAKE
from pneuma_assets.core.sources.sql.asking import AskingDialect, Questions, Row, asked, quoted
from pneuma_assets.core.sources.sql.catalog import CatalogTable, Wanted

MOST_SHOWN = 10_000

_TABLES = """
SELECT t.table_schema AS schema_name, t.table_name AS table_name, t.table_type AS kind,
       t.comment AS comment, t.row_count AS row_count, t.bytes AS byte_count,
       DATE_PART(EPOCH_SECOND, t.last_altered) AS changed_at, v.view_definition AS definition
FROM {database}.information_schema.tables t
LEFT JOIN {database}.information_schema.views v
  ON v.table_schema = t.table_schema AND v.table_name = t.table_name
WHERE t.table_schema <> 'INFORMATION_SCHEMA' AND {schemas}
ORDER BY t.table_schema, t.table_name
"""
_COLUMNS = """
SELECT table_schema AS schema_name, table_name AS table_name, column_name AS column_name,
       data_type AS type, comment AS comment
FROM {database}.information_schema.columns
WHERE table_schema <> 'INFORMATION_SCHEMA' AND {schemas}
ORDER BY table_schema, table_name, ordinal_position
"""
_NESTED = ("VARIANT", "OBJECT", "ARRAY", "VECTOR", "MAP")


class Snowflake(AskingDialect):
    """Databases of an account."""

    sql: ClassVar[str] = "snowflake"
    dependencies: ClassVar[str] = SNOWFLAKE
    rows_are_counted = True

    def prepare(self, cursor: Any) -> None:
        """Bound the statements of a new connection; its role must not be able to write."""
        seconds = max(1, int(self.bounds.seconds))
        cursor.execute(f"ALTER SESSION SET STATEMENT_TIMEOUT_IN_SECONDS = {seconds}")
        cursor.execute("ALTER SESSION SET TIMEZONE = 'UTC'")

    def schemas(self, connection: Connection, database: str, wanted: Wanted) -> Sequence[str]:
        """Return all schemas, of which each is shown by itself."""
        if wanted.schemas or self.bounds.wake:
            return wanted.schemas
        shown = connection.execute(text(f"SHOW SCHEMAS {_in('DATABASE', database)}")).mappings()
        return [row["name"] for row in shown if row["name"] != "INFORMATION_SCHEMA"]

    def questions(self, database: str, schemas: Sequence[str]) -> Questions:
        """Return what is asked: five statements a schema, or with a warehouse four a database."""
        keys = [
            text(f"SHOW {kind} KEYS {_in('DATABASE', database)}")
            for kind in ("PRIMARY", "IMPORTED")
        ]
        if self.bounds.wake:
            tables, columns = (
                one.replace("{database}.", f"{quoted(database)}." if database else "")
                for one in (_TABLES, _COLUMNS)
            )
            return Questions(
                (asked(tables, schemas, "t.table_schema"),), (asked(columns, schemas),), keys
            )
        places = [_in("SCHEMA", *filter(None, (database, schema))) for schema in schemas]
        return Questions(
            [text(f"SHOW {kind} {place}") for place in places for kind in ("TABLES", "VIEWS")],
            [text(f"SHOW COLUMNS {place}") for place in places],
            keys,
        )

    def answers(self, connection: Connection, statements: Iterable[TextClause]) -> Iterator[Row]:
        """Yield the rows of all answers, those of SHOW named as those of selects."""
        for statement in statements:
            rows = list(super().answers(connection, [statement]))
            if len(rows) >= MOST_SHOWN and statement.text.startswith("SHOW"):
                raise SourceError(
                    f"Snowflake shows no more than {MOST_SHOWN:,} rows for {statement.text}; name "
                    "fewer schemas, or set wake: true on the source, which wakes a warehouse"
                )
            yield from map(_renamed, rows)

    def cell(self, column: ColumnElement[Any], kind: str) -> ColumnElement[Any]:
        """Return nested values as JSON."""
        if kind.upper().startswith(_NESTED):
            return func.to_json(func.to_variant(column))
        return cast(column, String)

    def sampling(self, table: CatalogTable, share: float, seed: int) -> str | None:
        """Return a share of a table's rows; of a view Snowflake takes no seed."""
        if table.kind != "table":
            return None
        return f"TABLESAMPLE BERNOULLI ({100 * share:.6f}) SEED ({seed % 2**31})"

    def hashed(
        self, cells: Sequence[ColumnElement[Any]], one_of: int, seed: int
    ) -> ColumnElement[bool] | None:
        """Return a condition by Snowflake's hash of a row's cells."""
        condition: ColumnElement[bool] = func.mod(func.hash(seed, *cells), one_of) == 0
        return condition


def _in(kind: str, *names: str) -> str:
    return f"IN {kind} {'.'.join(map(quoted, names))}" if any(names) else f"IN {kind}"


def _renamed(row: Row) -> Row:
    """Return a row of SHOW as `Questions` wants it; one of a select is as it should be."""
    if "fk_name" in row:
        named = {
            "schema_name": row["fk_schema_name"],
            "table_name": row["fk_table_name"],
            "key_name": row["fk_name"],
            "column_name": row["fk_column_name"],
            "other_database": row["pk_database_name"],
            "other_schema": row["pk_schema_name"],
            "other_table": row["pk_table_name"],
            "other_column": row["pk_column_name"],
        }
    elif "key_sequence" in row or "table_name" in row:
        named = {**row, "type": _type(row.get("data_type"))} if "data_type" in row else dict(row)
    else:
        is_view = "text" in row
        named = {
            "schema_name": row["schema_name"],
            "table_name": row["name"],
            "kind": _view(row) if is_view else row.get("kind") or "TABLE",
            "comment": row.get("comment"),
            "row_count": row.get("rows"),
            "byte_count": row.get("bytes"),
            "signal": row.get("created_on"),
            "definition": row.get("text"),
        }
    return named


def _view(row: Row) -> str:
    return "MATERIALIZED VIEW" if str(row.get("is_materialized")).lower() == "true" else "VIEW"


def _type(told: Any) -> str:
    """Return a type of SHOW COLUMNS, which is JSON, as people write it."""
    try:
        found = json.loads(told)
    except (TypeError, ValueError):
        return str(told)
    kind = str(found.get("type", told))
    if kind == "FIXED":
        return f"NUMBER({found.get('precision')},{found.get('scale')})"
    return {"REAL": "FLOAT", "TEXT": "VARCHAR"}.get(kind, kind)
