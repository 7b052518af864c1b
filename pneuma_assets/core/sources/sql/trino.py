"""Trino: catalogues of other systems behind one address."""

from collections.abc import Sequence
from typing import Any, ClassVar

from sqlalchemy import ColumnElement, String, cast, func
from sqlalchemy.types import UserDefinedType

from pneuma_assets.core.sources.sql.asking import AskingDialect, Questions, asked, quoted
from pneuma_assets.core.sources.sql.catalog import CatalogTable

_TABLES = """
SELECT t.table_schema AS schema_name, t.table_name AS table_name,
       CASE WHEN m.name IS NOT NULL THEN 'MATERIALIZED VIEW' ELSE t.table_type END AS kind,
       c.comment AS comment, coalesce(m.definition, v.view_definition) AS definition
FROM {database}.information_schema.tables t
LEFT JOIN {database}.information_schema.views v
  ON v.table_schema = t.table_schema AND v.table_name = t.table_name
LEFT JOIN system.metadata.table_comments c
  ON c.catalog_name = t.table_catalog AND c.schema_name = t.table_schema
 AND c.table_name = t.table_name
LEFT JOIN system.metadata.materialized_views m
  ON m.catalog_name = t.table_catalog AND m.schema_name = t.table_schema
 AND m.name = t.table_name
WHERE t.table_schema <> 'information_schema' AND {schemas}
ORDER BY 1, 2
"""
_COLUMNS = """
SELECT table_schema AS schema_name, table_name AS table_name, column_name AS column_name,
       data_type AS type
FROM {database}.information_schema.columns
WHERE table_schema <> 'information_schema' AND {schemas}
ORDER BY table_schema, table_name, ordinal_position
"""
_NESTED = ("array", "map", "row", "json")


class _Json(UserDefinedType[Any]):
    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "JSON"


class Trino(AskingDialect):
    """Catalogues; what they keep of changes differs, and Trino tells nothing of it."""

    sql: ClassVar[str] = "trino"

    def connect_arguments(self) -> dict[str, Any]:
        """Return the bounds of every statement, which Trino itself keeps."""
        seconds = max(1, int(self.bounds.seconds))
        return {
            "session_properties": {
                "query_max_execution_time": f"{seconds}s",
                "query_max_scan_physical_bytes": f"{self.bounds.size}B",
            }
        }

    def prepare(self, cursor: Any) -> None:
        """Do nothing: all is in the connection's arguments; its user must not be able to write."""

    def questions(self, database: str, schemas: Sequence[str]) -> Questions:
        """Return two statements a catalogue; that of the connection needs no name."""
        named = (one.replace("{database}.", f"{quoted(database)}." if database else "")
                 for one in (_TABLES, _COLUMNS))  # fmt: skip
        tables, columns = named
        return Questions((asked(tables, schemas, "t.table_schema"),), (asked(columns, schemas),))

    def cell(self, column: ColumnElement[Any], kind: str) -> ColumnElement[Any]:
        """Return nested values as JSON, bytes in hexadecimal digits."""
        if kind.lower().startswith(_NESTED):
            return func.json_format(cast(column, _Json()))
        return func.to_hex(column) if kind.lower() == "varbinary" else cast(column, String)

    def sampling(self, table: CatalogTable, share: float, seed: int) -> str | None:  # noqa: ARG002
        """Return a share of rows; Trino takes no seed, so another share comes each time."""
        return f"TABLESAMPLE BERNOULLI ({100 * share:.8f})"
