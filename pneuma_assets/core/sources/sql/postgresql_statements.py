"""Runs one checked statement in PostgreSQL, so that it can read its tables and do nothing else.

The statement is taken by `DECLARE ... CURSOR`, which takes a query alone, through the protocol that
takes one command alone, in a transaction that cannot write, is never committed, and ends with its
connection. It reads its tables themselves, by schema and name, so that they keep their keys, and
nothing but the catalogue is searched for names without a schema. What it may name with one is what
the source's user may read; which columns are hidden is looked at before (`privacy.statements`).
"""

import time
from typing import Any

from psycopg.adapt import Buffer, Loader
from psycopg.types.string import TextLoader
from sqlalchemy import Connection

from pneuma_assets.core.errors import SqlFailedError, SqlStoppedError
from pneuma_assets.core.sources.base import Statement, StatementRows
from pneuma_assets.core.sources.names import readable_names
from pneuma_assets.core.sources.sql.dialect import Bound

_BATCH_ROWS = 100
_CURSOR = "pneuma_answer"
_SETTINGS = (
    "SET TRANSACTION READ ONLY",
    # `pg_temp` would else be searched first.
    "SET LOCAL search_path = pg_catalog, pg_temp",
    "SET LOCAL standard_conforming_strings = on",
    "SET LOCAL max_parallel_workers_per_gather = 0",
)
_TEXTS = (
    *("date", "time", "timetz", "timestamp", "timestamptz", "interval", "uuid"),
    *("json", "jsonb", "inet", "cidr"),
    *("int4range", "int8range", "numrange", "daterange", "tsrange", "tstzrange"),
    *("int4multirange", "int8multirange", "nummultirange"),
    *("datemultirange", "tsmultirange", "tstzmultirange"),
)
"""Types whose texts say exactly what they hold, as Python's own types may not."""


_MOST_DIGITS = 4_000
"""Of a whole number; Python refuses to read one of more than 4,300."""


class _NumericLoader(Loader):
    """Reads whole numbers as such (a sum of `bigint`), longer ones and others as exact text."""

    def load(self, data: Buffer) -> int | str:
        text = bytes(data).decode("ascii")
        whole = len(text) <= _MOST_DIGITS and text.removeprefix("-").isdecimal()
        return int(text) if whole else text


def run(
    connection: Connection, statement: Statement, tables: Bound, seconds: float
) -> StatementRows:
    """Return the rows that a statement gives; the connection is closed.

    The statement was checked by `core.answers.guard`; what is done here holds without that.

    Raises:
        SqlFailedError: A column of it cannot be named.
        SqlStoppedError: It takes more than so many seconds, or its rows are too large.
        DBAPIError: The server does not run it.
    """
    _check_names(tables)
    driver: Any = connection.connection.driver_connection
    try:
        driver.prepare_threshold = 0  # One command a call: a prepared one cannot be several.
        driver.adapters.register_loader("numeric", _NumericLoader)
        for kind in _TEXTS:
            driver.adapters.register_loader(kind, TextLoader)
        for setting in _SETTINGS:
            _execute(connection, setting)
        return _fetched(connection, statement, seconds)
    finally:
        connection.invalidate()  # With it go locks, settings and all that a session keeps.


def _check_names(tables: Bound) -> None:
    """Refuse columns that are called otherwise than their tables have them: others may be meant."""
    for given, table in tables:
        own = [column.name for column in table.columns]
        changed = {
            name for name, real in zip(readable_names(own), own, strict=True) if name != real
        }
        if odd := sorted(changed.intersection(given.columns)):
            raise SqlFailedError(
                f"column {odd[0][:60]!r} of table {given.name[:60]!r} has a name that no statement "
                "can say; rename it, or read the table through a view"
            )


def _fetched(connection: Connection, statement: Statement, seconds: float) -> StatementRows:
    until = time.monotonic() + seconds
    _grant(connection, until, seconds)
    _execute(
        connection,
        f"DECLARE {_CURSOR} NO SCROLL CURSOR FOR SELECT * FROM (\n{statement.sql}\n) "
        f'AS "{_CURSOR}" LIMIT {int(statement.rows) + 1}',
    )
    rows: list[tuple[Any, ...]] = []
    columns: tuple[str, ...] = ()
    size = 0
    while len(rows) <= statement.rows:
        _grant(connection, until, seconds)
        result = _execute(connection, f"FETCH {_BATCH_ROWS} FROM {_CURSOR}")
        columns = tuple(result.keys())
        batch = [tuple(map(_plain, row)) for row in result]
        size += sum(len(str(cell)) for row in batch for cell in row)
        if size > statement.size:
            if rows:
                return StatementRows(columns, tuple(rows), more=True)
            raise SqlStoppedError(
                f"its rows are larger than {statement.size:,} bytes together; ask for less"
            )
        rows += batch
        if len(batch) < _BATCH_ROWS:
            break
    more = len(rows) > statement.rows
    return StatementRows(columns, tuple(rows[: statement.rows]), more)


def _grant(connection: Connection, until: float, seconds: float) -> None:
    """Let the next command take what is left of the time."""
    left = int((until - time.monotonic()) * 1000)
    if left <= 0:
        raise SqlStoppedError(f"it takes more than {seconds:g} s; ask for less")
    for setting in ("statement_timeout", "lock_timeout"):
        _execute(connection, f"SET LOCAL {setting} = {left}")


def _execute(connection: Connection, sql: str) -> Any:
    """Execute a command in which `%` stands for itself."""
    return connection.exec_driver_sql(sql, execution_options={"no_parameters": True})


def _plain(cell: Any) -> Any:
    """Return a value as JSON has it; what it has not as text, bytes as hexadecimal digits."""
    if cell is None or isinstance(cell, bool | int | str):
        return cell
    if isinstance(cell, float):
        return cell if cell - cell == 0 else str(cell)
    if isinstance(cell, bytes | bytearray | memoryview):
        return bytes(cell).hex()
    if isinstance(cell, list | tuple):
        return [_plain(one) for one in cell]
    return str(cell)
