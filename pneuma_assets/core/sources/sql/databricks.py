"""Databricks with Unity Catalog, by a SQL warehouse, which is asked for only while it runs."""

import json
import re
from collections.abc import Sequence
from typing import Any, ClassVar

from sqlalchemy import URL, ColumnElement, String, cast, func

from pneuma_assets.core.asking_http import ask
from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.lineage.dependency_views import UNITY
from pneuma_assets.core.sources.sql.asking import AskingDialect, Questions, asked, quoted
from pneuma_assets.core.sources.sql.catalog import CatalogTable
from pneuma_assets.core.text.safe import one_line

_TABLES = """
SELECT t.table_schema AS schema_name, t.table_name AS table_name, t.table_type AS kind,
       t.comment AS comment, t.last_altered AS `signal`, v.view_definition AS definition
FROM {database}.information_schema.tables t
LEFT JOIN {database}.information_schema.views v
  ON v.table_schema = t.table_schema AND v.table_name = t.table_name
WHERE t.table_schema <> 'information_schema' AND {schemas}
ORDER BY t.table_schema, t.table_name
"""
_COLUMNS = """
SELECT table_schema AS schema_name, table_name AS table_name, column_name AS column_name,
       full_data_type AS type, comment AS comment
FROM {database}.information_schema.columns
WHERE table_schema <> 'information_schema' AND {schemas}
ORDER BY table_schema, table_name, ordinal_position
"""
_KEYS = """
SELECT k.table_schema AS schema_name, k.table_name AS table_name,
       CASE WHEN c.constraint_type = 'PRIMARY KEY' THEN '' ELSE k.constraint_name END AS key_name,
       k.column_name AS column_name, o.table_catalog AS other_database,
       o.table_schema AS other_schema, o.table_name AS other_table, o.column_name AS other_column
FROM {database}.information_schema.key_column_usage k
JOIN {database}.information_schema.table_constraints c
  ON c.constraint_schema = k.constraint_schema AND c.constraint_name = k.constraint_name
LEFT JOIN {database}.information_schema.referential_constraints r
  ON r.constraint_schema = k.constraint_schema AND r.constraint_name = k.constraint_name
LEFT JOIN {database}.information_schema.key_column_usage o
  ON o.constraint_schema = r.unique_constraint_schema
 AND o.constraint_name = r.unique_constraint_name
 AND o.ordinal_position = k.position_in_unique_constraint
WHERE c.constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY') AND {schemas}
ORDER BY k.table_schema, k.table_name, k.constraint_name, k.ordinal_position
"""
_WAREHOUSE = re.compile(r"/?sql/1\.0/(?:warehouses|endpoints)/([A-Za-z0-9]+)")
_AWAKE = {"RUNNING"}
_SECONDS = 10.0
_MOST_BYTES = 1_000_000


class Databricks(AskingDialect):
    """Catalogues. Unity tells when a table's definition was altered, not when its rows were."""

    sql: ClassVar[str] = "databricks"
    dependencies: ClassVar[str] = UNITY

    def prepare(self, cursor: Any) -> None:
        """Bound the statements of a new connection; its user must not be able to write."""
        cursor.execute(f"SET STATEMENT_TIMEOUT = {max(1, int(self.bounds.seconds))}")
        cursor.execute("SET TIME ZONE 'UTC'")

    def databases(self, url: URL, names: Sequence[str]) -> list[tuple[str, URL]]:
        """Return each catalogue."""
        return [(name, url.update_query_dict({"catalog": name})) for name in names] or [("", url)]

    def check_awake(self, url: URL) -> None:
        """Ask Databricks, which answers without the warehouse, whether that runs.

        Raises:
            SourceError: It does not, nobody can tell, or Databricks does not answer.
        """
        if self.bounds.wake:
            return
        path = str(url.query.get("http_path", ""))
        found = _WAREHOUSE.fullmatch(path)
        if found is None:
            raise SourceError(
                "whether a cluster sleeps cannot be told; name a SQL warehouse in http_path, or "
                "set wake: true on the source, which wakes it"
            )
        state = warehouse_state(f"https://{url.host}", found[1], str(url.password or ""))
        if state not in _AWAKE:
            raise SourceError(
                f"its SQL warehouse is {state.lower()}, and a listing does not wake it; it is "
                "listed while the warehouse runs, or set wake: true on the source"
            )

    def questions(self, database: str, schemas: Sequence[str]) -> Questions:
        """Return three statements a catalogue."""
        place = f"{quoted(database, '`')}." if database else ""
        tables, columns, keys = (
            one.replace("{database}.", place) for one in (_TABLES, _COLUMNS, _KEYS)
        )
        return Questions(
            (asked(tables, schemas, "t.table_schema"),),
            (asked(columns, schemas),),
            (asked(keys, schemas, "k.table_schema"),),
        )

    def cell(self, column: ColumnElement[Any], kind: str) -> ColumnElement[Any]:
        """Return nested values as JSON, bytes in hexadecimal digits."""
        lower = kind.lower()
        if lower.startswith(("array", "map", "struct", "variant")):
            return func.to_json(column)
        return func.hex(column) if lower == "binary" else cast(column, String)

    def sampling(self, table: CatalogTable, share: float, seed: int) -> str | None:
        """Return a share of rows; the seed decides."""
        if table.kind == "view":
            return None
        return f"TABLESAMPLE ({100 * share:.6f} PERCENT) REPEATABLE ({seed % 2**31})"


def warehouse_state(address: str, warehouse: str, token: str) -> str:
    """Return the state of a SQL warehouse in Databricks' words (RUNNING, STOPPED).

    Raises:
        SourceError: Databricks does not answer.
    """
    url = f"{address}/api/2.0/sql/warehouses/{warehouse}"
    headers = {"Authorization": f"Bearer {token}"}
    try:
        answer = ask(url, headers, seconds=_SECONDS, most_bytes=_MOST_BYTES)
        return str(json.loads(answer)["state"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        why = str(error).replace(token, "***") if token else str(error)
        raise SourceError(
            f"Databricks does not tell whether its SQL warehouse runs ({one_line(why, 300)}); "
            "check the source's url and token, or set wake: true on it"
        ) from error
