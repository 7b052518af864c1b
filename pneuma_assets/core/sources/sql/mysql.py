"""MySQL and MariaDB."""

from collections.abc import Sequence
from typing import Any, ClassVar

from sqlalchemy import ColumnElement, func, literal
from sqlalchemy.exc import DBAPIError

from pneuma_assets.core.sources.sql.asking import AskingDialect, Questions, asked

_OURS = "table_schema NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')"
_TABLES = f"""
SELECT t.table_schema AS schema_name, t.table_name AS table_name, t.table_type AS kind,
       t.table_comment AS comment, t.table_rows AS row_count,
       t.data_length + t.index_length AS byte_count,
       UNIX_TIMESTAMP(t.update_time) AS changed_at, t.create_time AS `signal`,
       v.view_definition AS definition
FROM information_schema.tables t
LEFT JOIN information_schema.views v
  ON v.table_schema = t.table_schema AND v.table_name = t.table_name
WHERE t.{_OURS} AND {{schemas}}
ORDER BY t.table_schema, t.table_name
"""
_COLUMNS = f"""
SELECT table_schema AS schema_name, table_name AS table_name, column_name AS column_name,
       column_type AS type, column_comment AS comment
FROM information_schema.columns WHERE {_OURS} AND {{schemas}}
ORDER BY table_schema, table_name, ordinal_position
"""
_KEYS = f"""
SELECT table_schema AS schema_name, table_name AS table_name,
       CASE WHEN referenced_table_name IS NULL THEN '' ELSE constraint_name END AS key_name,
       column_name AS column_name, referenced_table_schema AS other_schema,
       referenced_table_name AS other_table, referenced_column_name AS other_column
FROM information_schema.key_column_usage
WHERE {_OURS} AND {{schemas}}
  AND (constraint_name = 'PRIMARY' OR referenced_table_name IS NOT NULL)
ORDER BY table_schema, table_name, constraint_name, ordinal_position
"""
_REFUSED = {1044, 1045, 1142, 1143, 1227, 1370}
_TIMED_OUT = {3024, 1969, 2013}


class MySQL(AskingDialect):
    """A server, whose schemas are its databases. The number of rows is InnoDB's estimate."""

    sql: ClassVar[str] = "mysql"

    def connect_arguments(self) -> dict[str, Any]:
        """Return how long a server may take to answer, and to send more of one."""
        return {"connect_timeout": 10, "read_timeout": max(1, int(self.bounds.seconds) + 5)}

    def prepare(self, cursor: Any) -> None:
        """Make a new connection read-only and bounded; MariaDB has other names for two of these.

        Without the last one, MySQL tells the state of tables as it was up to a day ago.
        """
        milliseconds = int(self.bounds.seconds * 1000)
        cursor.execute("SELECT VERSION()")
        ((version,),) = cursor.fetchall()
        cursor.execute("SET SESSION TRANSACTION READ ONLY")
        cursor.execute("SET SESSION time_zone = '+00:00'")
        if "mariadb" in str(version).lower():
            cursor.execute(f"SET SESSION max_statement_time = {self.bounds.seconds:g}")
        else:
            cursor.execute(f"SET SESSION max_execution_time = {milliseconds}")
            cursor.execute("SET SESSION information_schema_stats_expiry = 0")

    def questions(self, database: str, schemas: Sequence[str]) -> Questions:  # noqa: ARG002
        """Return three statements, whatever the number of schemas."""
        return Questions(
            (asked(_TABLES, schemas, "t.table_schema"),),
            (asked(_COLUMNS, schemas),),
            (asked(_KEYS, schemas),),
        )

    def hashed(
        self, cells: Sequence[ColumnElement[Any]], one_of: int, seed: int
    ) -> ColumnElement[bool] | None:
        """Return a condition by the CRC of a row's cells; MySQL has no TABLESAMPLE."""
        whole = func.concat_ws(literal("\x1f"), literal(str(seed)), *cells)
        condition: ColumnElement[bool] = func.mod(func.crc32(whole), one_of) == 0
        return condition

    def refused(self, error: DBAPIError) -> bool:
        """Tell whether a privilege is missing."""
        return _code(error) in _REFUSED

    def timed_out(self, error: DBAPIError) -> bool:
        """Tell whether a statement took longer than it may."""
        return _code(error) in _TIMED_OUT

    def reason(self, error: DBAPIError) -> str:
        """Return what the server says, without the number before it."""
        arguments: tuple[object, ...] = getattr(error.orig, "args", ())
        return str(arguments[1]) if len(arguments) > 1 else super().reason(error)


def _code(error: DBAPIError) -> object:
    return next(iter(getattr(error.orig, "args", ())), None)
