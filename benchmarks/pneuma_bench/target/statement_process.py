"""The process that runs one statement of a stranger: started by `executing`, which ends it in time.

Run as `python -I -S FILE`, FILE being this one, with the standard library alone. A request of JSON
comes on standard input, and one of these goes to standard output: `{"rows": [[CELL]]}`, a blob as
`[HEX]`, or `{"error": TEXT}`.
"""

import json
import resource
import sqlite3
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from typing import Any

_STEPS = 10_000
"""Instructions of SQLite between two looks at the clock: some tenths of a millisecond."""

_NUMBER = 8
"""Bytes that a number counts for, and a null: many of them take memory, too."""

_ALLOWED = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)
_FORBIDDEN = frozenset({"load_extension", "fts3_tokenizer"})
"""Functions that load code, or tell where it lies."""
_LIMITS = {
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 20_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 500,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
}


def main() -> None:
    """Answer the one request."""
    request = json.load(sys.stdin)
    _bound_process(request)
    reply: dict[str, Any]
    try:
        reply = {"rows": _rows(request)}
    # OverflowError and ValueError: a text that sqlite3 itself does not take, such as one with NUL.
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
        reply = {"error": str(error)}
    except MemoryError:
        reply = {"error": "it takes too much memory"}
    sys.stdout.write(json.dumps(reply))


def _rows(request: Mapping[str, Any]) -> list[list[Any]]:
    until = time.monotonic() + request["seconds"]
    with closing(sqlite3.connect(request["address"], uri=True)) as connection:
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, request["value_bytes"])
        connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
        connection.set_authorizer(_may)
        rows: list[list[Any]] = []
        size = 0
        for row in connection.execute(request["sql"]):
            if len(rows) == request["rows"]:
                raise ValueError(f"it gives more than {len(rows):,} rows")
            size += sum(len(cell) if isinstance(cell, str | bytes) else _NUMBER for cell in row)
            if size > request["bytes"]:
                raise ValueError(f"its rows are larger than {request['bytes']:,} bytes together")
            rows.append([[cell.hex()] if isinstance(cell, bytes) else cell for cell in row])
    return rows


def _may(action: int, *names: str | None) -> int:
    """Allow what reads, and no function that is forbidden."""
    forbidden = action == sqlite3.SQLITE_FUNCTION and not _FORBIDDEN.isdisjoint(
        name.lower() for name in names if name
    )
    return sqlite3.SQLITE_OK if action in _ALLOWED and not forbidden else sqlite3.SQLITE_DENY


def _bound_process(request: Mapping[str, Any]) -> None:
    """Let the system refuse what SQLite does not bound: memory, temporary files, and time."""
    for kind, wanted in (
        (resource.RLIMIT_DATA, request["memory"]),
        (resource.RLIMIT_FSIZE, request["memory"]),
        # A function may take long between two looks at the clock; and who waits may be killed.
        (resource.RLIMIT_CPU, int(request["seconds"]) + 1),
        (resource.RLIMIT_CORE, 0),
    ):
        _, most = resource.getrlimit(kind)
        value = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(kind, (value, value))


if __name__ == "__main__":
    main()
