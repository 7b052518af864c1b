"""MySQL and MariaDB."""

from collections.abc import Collection, Sequence
from typing import Any, ClassVar

from sqlalchemy import ColumnElement, Connection, func, inspect, literal
from sqlalchemy.exc import DBAPIError

from pneuma_assets.core.sources.sql.dialect import CELL_CHARACTERS
from pneuma_assets.core.sources.sql.generic import InformationSchema

_REFUSED = {1044, 1045, 1142, 1143, 1227, 1370}
_TIMED_OUT = {3024, 1969, 2013}
_SHAPES = ("geometry", "geomcollection", "point", "linestring", "polygon", "multi")


class MySQL(InformationSchema):
    """A server, whose schemas are its databases. The number of rows is InnoDB's estimate."""

    keys: ClassVar[str] = """
        SELECT table_schema, table_name, column_name,
               CASE WHEN referenced_table_name IS NULL THEN '' ELSE constraint_name END AS key_name,
               referenced_table_schema AS other_schema, referenced_table_name AS other_table,
               referenced_column_name AS other_column
        FROM information_schema.key_column_usage
        WHERE {ours} AND (constraint_name = 'PRIMARY' OR referenced_table_name IS NOT NULL)
        ORDER BY table_schema, table_name, constraint_name, ordinal_position
    """

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

    def schema_names(self, connection: Connection) -> Collection[str]:
        """Return the databases that the user may see."""
        return inspect(connection).get_schema_names()

    def cell(self, column: ColumnElement[Any], kind: str) -> ColumnElement[Any]:
        """Return bytes as hexadecimal digits and shapes as text; neither is cast to characters."""
        if "binary" in kind or "blob" in kind:
            return func.hex(func.substr(column, 1, CELL_CHARACTERS // 2))
        if kind.startswith(_SHAPES):
            return func.substr(func.st_astext(column), 1, CELL_CHARACTERS)
        return super().cell(column, kind)

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
