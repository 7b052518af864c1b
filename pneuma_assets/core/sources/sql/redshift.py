"""Amazon Redshift, provisioned or serverless."""

from collections.abc import Sequence
from typing import Any, ClassVar

from sqlalchemy import VARCHAR, ColumnElement, cast, func, literal

from pneuma_assets.core.sources.sql.asking import AskingDialect, Questions, asked

_OURS = "NOT IN ('pg_catalog', 'information_schema', 'pg_internal', 'pg_automv', 'catalog_history')"
_TABLES = f"""
SELECT t.table_schema AS schema_name, t.table_name AS table_name, t.table_type AS kind,
       t.remarks AS comment, CAST(i.estimated_visible_rows AS BIGINT) AS row_count,
       i.size * 1048576 AS byte_count, i.table_id AS identity,
       CAST(i.tbl_rows AS VARCHAR) || '/' || CAST(i.size AS VARCHAR) AS signal,
       v.definition AS definition
FROM svv_tables t
LEFT JOIN svv_table_info i ON i."schema" = t.table_schema AND i."table" = t.table_name
LEFT JOIN pg_views v ON v.schemaname = t.table_schema AND v.viewname = t.table_name
WHERE t.table_schema {_OURS} AND {{schemas}}
ORDER BY t.table_schema, t.table_name
"""
_COLUMNS = f"""
SELECT table_schema AS schema_name, table_name AS table_name, column_name AS column_name,
       data_type AS type, remarks AS comment
FROM svv_columns WHERE table_schema {_OURS} AND {{schemas}}
ORDER BY table_schema, table_name, ordinal_position
"""
_KEYS = f"""
SELECT k.table_schema AS schema_name, k.table_name AS table_name,
       CASE WHEN c.constraint_type = 'PRIMARY KEY' THEN '' ELSE k.constraint_name END AS key_name,
       k.column_name AS column_name, o.table_schema AS other_schema, o.table_name AS other_table,
       o.column_name AS other_column
FROM information_schema.key_column_usage k
JOIN information_schema.table_constraints c
  ON c.constraint_schema = k.constraint_schema AND c.constraint_name = k.constraint_name
 AND c.table_name = k.table_name
LEFT JOIN information_schema.referential_constraints r
  ON r.constraint_schema = k.constraint_schema AND r.constraint_name = k.constraint_name
LEFT JOIN information_schema.key_column_usage o
  ON o.constraint_schema = r.unique_constraint_schema
 AND o.constraint_name = r.unique_constraint_name AND o.ordinal_position = k.ordinal_position
WHERE c.constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY') AND k.table_schema {_OURS}
  AND {{schemas}}
ORDER BY k.table_schema, k.table_name, k.constraint_name, k.ordinal_position
"""


class Redshift(AskingDialect):
    """One database. Rows and blocks tell of changes, and move with VACUUM, too."""

    sql: ClassVar[str] = "redshift"

    def connect_arguments(self) -> dict[str, Any]:
        """Return how long a cluster may take to answer."""
        return {"connect_timeout": 30}

    def prepare(self, cursor: Any) -> None:
        """Make a new connection read-only and its statements bounded in time."""
        cursor.execute("SET default_transaction_read_only = on")
        cursor.execute(f"SET statement_timeout = {int(self.bounds.seconds * 1000)}")
        cursor.execute("SET timezone = 'UTC'")

    def questions(self, database: str, schemas: Sequence[str]) -> Questions:  # noqa: ARG002
        """Return three statements for the connection's database."""
        return Questions(
            (asked(_TABLES, schemas, "t.table_schema"),),
            (asked(_COLUMNS, schemas),),
            (asked(_KEYS, schemas, "k.table_schema"),),
        )

    def cell(self, column: ColumnElement[Any], kind: str) -> ColumnElement[Any]:
        """Return a column as text; a cast without a length would end it after 256 bytes."""
        if kind.lower() == "super":
            return func.json_serialize(column)
        return cast(column, VARCHAR(65535))

    def hashed(
        self, cells: Sequence[ColumnElement[Any]], one_of: int, seed: int
    ) -> ColumnElement[bool] | None:
        """Return a condition by Redshift's hash of a row's cells; it has no TABLESAMPLE."""
        whole: ColumnElement[Any] = literal(str(seed))
        for cell in cells:
            whole = whole.op("||")(func.coalesce(cell, literal("\x1f")))
        hashed = func.farmfingerprint64(whole)
        condition: ColumnElement[bool] = func.mod(hashed, one_of) == 0
        return condition
