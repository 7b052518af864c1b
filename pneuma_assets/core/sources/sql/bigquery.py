"""BigQuery: datasets of a project; nothing sleeps, and every query is billed.

No query is billed for more than `read_gigabytes`: BigQuery refuses a larger one before it runs.
Each of a listing is billed for 10 MB, three a dataset.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from sqlalchemy import URL, ColumnElement, Connection, Engine, String, cast, func, inspect

from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.sources.sql.asking import AskingDialect, Questions, asked, quoted
from pneuma_assets.core.sources.sql.catalog import CatalogTable, Wanted

_TABLES = """
SELECT t.table_schema AS schema_name, t.table_name AS table_name, t.table_type AS kind,
       JSON_VALUE(o.option_value) AS comment, m.row_count AS row_count,
       m.size_bytes AS byte_count, m.last_modified_time / 1000 AS changed_at,
       UNIX_MILLIS(t.creation_time) AS `signal`, v.view_definition AS definition
FROM {dataset}.INFORMATION_SCHEMA.TABLES t
LEFT JOIN {dataset}.__TABLES__ m ON m.table_id = t.table_name
LEFT JOIN {dataset}.INFORMATION_SCHEMA.TABLE_OPTIONS o
  ON o.table_name = t.table_name AND o.option_name = 'description'
LEFT JOIN {dataset}.INFORMATION_SCHEMA.VIEWS v ON v.table_name = t.table_name
ORDER BY t.table_name
"""
_COLUMNS = """
SELECT c.table_schema AS schema_name, c.table_name AS table_name, c.column_name AS column_name,
       c.data_type AS type, p.description AS comment
FROM {dataset}.INFORMATION_SCHEMA.COLUMNS c
LEFT JOIN {dataset}.INFORMATION_SCHEMA.COLUMN_FIELD_PATHS p
  ON p.table_name = c.table_name AND p.column_name = c.column_name AND p.field_path = c.column_name
ORDER BY c.table_name, c.ordinal_position
"""
_KEYS = """
SELECT k.table_schema AS schema_name, k.table_name AS table_name,
       IF(c.constraint_type = 'PRIMARY KEY', '', k.constraint_name) AS key_name,
       k.column_name AS column_name, u.table_catalog AS other_database,
       u.table_schema AS other_schema, u.table_name AS other_table, o.column_name AS other_column
FROM {dataset}.INFORMATION_SCHEMA.KEY_COLUMN_USAGE k
JOIN {dataset}.INFORMATION_SCHEMA.TABLE_CONSTRAINTS c ON c.constraint_name = k.constraint_name
LEFT JOIN (
    SELECT DISTINCT constraint_name, table_catalog, table_schema, table_name
    FROM {dataset}.INFORMATION_SCHEMA.CONSTRAINT_COLUMN_USAGE
) u ON c.constraint_type = 'FOREIGN KEY' AND u.constraint_name = k.constraint_name
LEFT JOIN {dataset}.INFORMATION_SCHEMA.KEY_COLUMN_USAGE o
  ON o.table_name = u.table_name AND o.constraint_name = CONCAT(u.table_name, '.pk$')
 AND o.ordinal_position = k.position_in_unique_constraint
ORDER BY k.table_name, k.constraint_name, k.ordinal_position
"""


class BigQuery(AskingDialect):
    """Projects; what is a database elsewhere."""

    sql: ClassVar[str] = "bigquery"
    rows_are_counted = True

    def engine(self, url: URL) -> Engine:
        """Return what sends queries, none billed for more than is allowed."""
        bounded = {"maximum_bytes_billed": str(self.bounds.size)}
        return super().engine(url.update_query_dict(bounded))

    def prepare(self, cursor: Any) -> None:
        """Do nothing: all is in the URL; what it signs in as must not be able to write."""

    def can_quote(self, name: str) -> bool:
        """Tell whether a name can be quoted: its dialect of SQLAlchemy escapes none of these.

        BigQuery gives no table or column such a name.
        """
        return not set(name) & {"`", '"', "\\", "\n", "\r"}

    def databases(self, url: URL, names: Sequence[str]) -> list[tuple[str, URL]]:
        """Return each project."""
        return [(name, url.set(host=name)) for name in names] or [("", url)]

    def schemas(self, connection: Connection, database: str, wanted: Wanted) -> Sequence[str]:  # noqa: ARG002
        """Return the datasets: each has a catalogue of its own, and listing them costs nothing."""
        if wanted.schemas:
            return wanted.schemas
        return [name.rpartition(".")[2] for name in inspect(connection).get_schema_names()]

    def questions(self, database: str, schemas: Sequence[str]) -> Questions:
        """Return three statements a dataset."""
        strange = [name for name in (database, *schemas) if not self.can_quote(name)]
        if strange:
            raise SourceError(
                f"BigQuery has no project or dataset of the name {strange[0]!r}; correct "
                "databases or schemas of the source"
            )
        places = [
            ".".join(quoted(name, "`") for name in (database, schema) if name) for schema in schemas
        ]

        def of_all(sql: str) -> list[Any]:
            return [asked(sql.replace("{dataset}", place)) for place in places]

        return Questions(of_all(_TABLES), of_all(_COLUMNS), of_all(_KEYS))

    def cell(self, column: ColumnElement[Any], kind: str) -> ColumnElement[Any]:
        """Return nested values as JSON, bytes in hexadecimal digits."""
        upper = kind.upper()
        if upper.startswith(("ARRAY", "STRUCT", "JSON", "RANGE", "INTERVAL")):
            return func.to_json_string(column)
        if upper.startswith("GEOGRAPHY"):
            return func.st_astext(column)
        return func.to_hex(column) if upper.startswith("BYTES") else cast(column, String)

    def sampling(self, table: CatalogTable, share: float, seed: int) -> str | None:  # noqa: ARG002
        """Return a share of a table's blocks, which is what is billed; BigQuery takes no seed."""
        return f"TABLESAMPLE SYSTEM ({100 * share:.6f} PERCENT)" if table.kind == "table" else None
