"""Checksums of the state file's rows, so that a damaged one is never taken for what was written.

The table `row_sums` holds 64 bits of SHA-256 of every row of every other table. Triggers keep it,
so no statement need know of it: a new row's checksum is added, an old row's is taken out, and a
row whose checksum is not there cannot be changed or removed. Reading goes by views that refuse
such rows. What is missing shows in the set: a checksum without a row.
"""

import json
import sqlite3
import threading
from collections import Counter
from hashlib import sha256
from typing import Any

from pneuma_assets.core.errors import StateDamagedError

SUMS = "row_sums"
DAMAGED = "a row is not as it was written"
REMEDY = "run `pneuma-assets salvage` to save what is whole"

_EVENTS = ("insert", "update", "delete")
_FUNCTION, _REFUSAL = "row_sum", "refuse_row"
RAISED = "user-defined function raised exception"
"""SQLite's words for an exception in one of these."""
_met = threading.local()
_encode = json.JSONEncoder(default=bytes.hex, check_circular=False).encode


def row_sum(name: str, *values: Any) -> int:
    """Return the checksum of a table's row; the same in every version of Python."""
    digest = sha256(_encode((name, values)).encode()).digest()
    return int.from_bytes(digest[:8], "little", signed=True)


def damaged(what: str) -> StateDamagedError:
    """Return the error that names damage and its remedy."""
    return StateDamagedError(f"The state file state.db is damaged ({what}); {REMEDY}.")


def prepare(connection: sqlite3.Connection) -> None:
    """Let a connection compute checksums; REPLACE must tell of the row that it removes."""
    connection.create_function(_FUNCTION, -1, _sum, deterministic=True)
    connection.create_function(_REFUSAL, 0, _refuse)
    connection.execute("PRAGMA secure_delete = ON")  # salvage finds no row that was removed
    connection.execute("PRAGMA trusted_schema = ON")  # triggers may call the function
    connection.execute("PRAGMA recursive_triggers = ON")


def install(connection: sqlite3.Connection) -> None:
    """Begin to keep checksums of all rows that are there, inside the open transaction."""
    remove(connection)
    connection.execute(
        f"CREATE TABLE {SUMS} (name TEXT NOT NULL, checksum INTEGER NOT NULL,"
        " PRIMARY KEY (name, checksum)) WITHOUT ROWID"
    )
    for name, columns in tables_of(connection).items():
        old, new = _call(name, columns, "OLD."), _call(name, columns, "NEW.")
        forget = (
            f"DELETE FROM {SUMS} WHERE name = '{name}' AND checksum = {old};"
            f" SELECT RAISE(ABORT, '{DAMAGED}') WHERE changes() = 0;"
        )
        keep = f"INSERT INTO {SUMS} VALUES ('{name}', {new});"
        for event, what in zip(_EVENTS, (keep, forget + keep, forget), strict=True):
            connection.execute(
                f"CREATE TRIGGER {name}_{event}_sum AFTER {event} ON {name} BEGIN {what} END"
            )
        connection.execute(
            f"INSERT INTO {SUMS} SELECT '{name}', {_call(name, columns)} FROM {name}"
        )


def remove(connection: sqlite3.Connection) -> None:
    """Keep no checksums from now on, so that tables may change, inside the open transaction."""
    for name in tables_of(connection):
        for event in _EVENTS:
            connection.execute(f"DROP TRIGGER IF EXISTS {name}_{event}_sum")
    connection.execute(f"DROP TABLE IF EXISTS {SUMS}")


def cover(connection: sqlite3.Connection) -> None:
    """Put a view before each table of a reading connection that refuses damaged rows."""
    for name, columns in tables_of(connection).items():
        connection.execute(
            f'CREATE TEMP VIEW "{name}" AS SELECT {", ".join(columns)} FROM main."{name}" AS row'
            f" WHERE CASE WHEN EXISTS (SELECT 1 FROM main.{SUMS} AS kept WHERE kept.name = '{name}'"
            f" AND kept.checksum = {_call(name, columns, 'row.')}) THEN 1 ELSE {_REFUSAL}() END"
        )


def check_shape(connection: sqlite3.Connection) -> None:
    """Make sure that looking a row up finds it, and that there are as many as were written.

    SQLite does it alone, in 80 ms for ten thousand tables; what a row holds is compared when it
    is read.

    Raises:
        StateDamagedError: Pages do not hang together, or rows are missing.
        sqlite3.Error: SQLite cannot read it.
    """
    check_pages(connection)
    kept = dict(connection.execute(f"SELECT name, count(*) FROM main.{SUMS} GROUP BY name"))
    for name in tables_of(connection):
        (rows,) = connection.execute(f"SELECT count(*) FROM main.{name}").fetchone()
        if rows != kept.pop(name, 0):
            raise damaged(f"rows of {name!r} are missing")
    if kept:
        raise damaged("whole tables are missing")


def check_pages(connection: sqlite3.Connection) -> None:
    """Raise `StateDamagedError` where SQLite finds that pages do not hang together."""
    (verdict,) = connection.execute("PRAGMA main.integrity_check(1)").fetchone()
    if verdict != "ok":
        raise damaged(" ".join(str(verdict).split()))


def check_everything(connection: sqlite3.Connection) -> None:
    """Read all rows and compare them with what was written.

    Raises:
        StateDamagedError: Something is not as it was written, or is missing.
        sqlite3.Error: SQLite cannot read it.
    """
    check_shape(connection)
    for name, columns in tables_of(connection).items():
        check_table(connection, name, columns)


def check_table(connection: sqlite3.Connection, name: str, columns: list[str]) -> None:
    """Raise `StateDamagedError` unless a table's rows are those that were written."""
    rows = connection.execute(f"SELECT {_call(name, columns)} FROM main.{name}")
    found = Counter(checksum for (checksum,) in rows)
    kept = connection.execute(f"SELECT checksum FROM main.{SUMS} WHERE name = ?", (name,))
    if found != Counter(checksum for (checksum,) in kept):
        raise damaged(f"rows of {name!r} are not as they were written")


def tables_of(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """Return the columns of every table but that of the checksums."""
    names = connection.execute(
        "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        " AND name <> ? ORDER BY name",
        (SUMS,),
    )
    return {
        name: [row[1] for row in connection.execute(f'PRAGMA main.table_info("{name}")')]
        for (name,) in names.fetchall()
    }


def _call(name: str, columns: list[str], prefix: str = "") -> str:
    return f"{_FUNCTION}('{name}', {', '.join(prefix + column for column in columns)})"


def interruption() -> BaseException | None:
    """Return what ended the last statement of this thread inside a function, if not damage.

    SQLite says of any exception only that there was one, of Ctrl-C, too.
    """
    refused, error = getattr(_met, "refused", False), getattr(_met, "error", None)
    _met.refused, _met.error = False, None
    return None if refused else error


def _sum(name: str, *values: Any) -> int:
    try:
        return row_sum(name, *values)
    except BaseException as error:
        _met.error = error
        raise


def _refuse() -> None:
    _met.refused = True
    raise damaged(DAMAGED)
