"""What people said and API keys, in a file of JSON Lines beside the state file, which it outlives.

A line is a row of a table, which `said` names. What is new is appended; with any other change the
file is written anew as one act, so what is withdrawn leaves it, too.
"""

import json
import logging
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, delete, select

from pneuma_assets.core.atomic_write import replace_file
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.schema import (
    access_keys,
    answers,
    corrections,
    join_verdicts,
    knowledge,
    meta,
    upsert,
    user_contexts,
)

logger = logging.getLogger(__name__)

FILE_NAME = "said.jsonl"
SAID = (user_contexts, corrections, join_verdicts, answers, knowledge, access_keys)
_TABLES = {table.name: table for table in SAID}
_MARK = "said.jsonl"
"""Under which the database knows the file as its last transaction left it, if it was not killed."""


def watch(connection: sqlite3.Connection, notice: Callable[..., None]) -> None:
    """Tell a function each change of what people said: its table and, of a new row, the values.

    That a key was used, which happens every minute, is none.
    """
    connection.create_function("said", -1, notice)
    for name, table in _TABLES.items():
        values = "".join(f', new."{column.name}"' for column in table.columns)
        named = ", ".join(f'"{one.name}"' for one in table.columns if one.name != "used_at")
        for change, given in (("INSERT", values), (f"UPDATE OF {named}", ""), ("DELETE", "")):
            connection.execute(
                f"CREATE TEMP TRIGGER said_{change[:6]}_{name} AFTER {change} ON {name} "
                f"BEGIN SELECT said('{name}'{given}); END"
            )


def keep(connection: Connection, path: Path, changes: Sequence[tuple[str, Sequence[Any]]]) -> None:
    """Make the file say what the tables do, in the transaction of the `changes` that `watch` told.

    Raises `StateError` where it cannot be written.
    """
    left = connection.execute(select(meta.c.value).where(meta.c.key == _MARK)).scalar()
    if all(row for _, row in changes) and left == _mark_of(path):
        with write_errors(path, "What people said"), path.open("ab") as file:
            file.write(_lines(changes))
            file.flush()
            os.fsync(file.fileno())
    else:
        write_journal(connection, path)
    upsert(connection, meta, [{"key": _MARK, "value": _mark_of(path)}])


def _mark_of(path: Path) -> str:
    with write_errors(path, "What people said"):
        if not path.exists():
            return ""
        found = path.stat()
        return f"{found.st_ino} {found.st_size} {found.st_mtime_ns}"


def _lines(rows: Iterable[tuple[str, Sequence[Any]]]) -> bytes:
    names = {name: ["said", *table.columns.keys()] for name, table in _TABLES.items()}
    found = (dict(zip(names[name], (name, *row), strict=True)) for name, row in rows)
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in found).encode()


def write_journal(connection: Connection, path: Path) -> None:
    """Write the file anew; raises `StateError`."""
    rows = (
        (name, row)
        for name, table in _TABLES.items()
        for row in connection.execute(select(table).order_by(*table.primary_key.columns))
    )
    # Of one name, so that what a killed process leaves is overwritten: it may have been withdrawn.
    with write_errors(path, "What people said"):
        replace_file(path, _lines(rows))


@contextmanager
def write_errors(path: Path, what: str) -> Iterator[None]:
    """Raise what the system refuses as `StateError`, which says `what` cannot be kept."""
    try:
        yield
    except OSError as error:
        raise StateError(
            f"{what} cannot be kept in {str(path)!r} ({error.strerror}); free disk space, or let "
            "this user write there, and run again."
        ) from error


def replay(connection: Connection, path: Path) -> int:
    """Make the tables say what the file does; returns how much that is, 0 without a file.

    Damaged lines are left out, and a warning names a copy of the file. Raises `StateError`.
    """
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise StateError(
            f"What people said cannot be read in {str(path)!r} ({error.strerror}); let this user "
            "read it."
        ) from error
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in _TABLES}
    unread = []
    for number, line in enumerate(lines, 1):
        try:
            table, row = _row_of(line)
        except (ValueError, TypeError, KeyError, RecursionError):
            unread.append(str(number))
        else:
            rows[table.name].append(row)
    if unread:
        kept = aside(path)
        logger.warning(
            "What people said in %s is damaged in line %s, which is left out; the file is kept as "
            "%s: read it there, and say it again.", path, ", ".join(unread), kept
        )  # fmt: skip
    for name, table in _TABLES.items():
        if table is not access_keys:  # of which none is ever removed
            connection.execute(delete(table))
        upsert(connection, table, rows[name])
    return sum(map(len, rows.values()))


def aside(path: Path) -> Path:
    """Copy a damaged file to a name of its own beside it, which is returned."""
    date = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    kept = path.with_name(f"{path.name}.damaged-{date}")
    try:
        shutil.copy2(path, kept)
    except OSError as error:
        raise StateError(
            f"{str(path)!r} is damaged and cannot be kept as {kept.name!r} ({error.strerror}); free"
            " disk space, or let this user write there, and do the same again."
        ) from error
    return kept


def _row_of(line: bytes) -> tuple[Table, dict[str, Any]]:
    row = json.loads(line)
    if not isinstance(row, dict):
        raise TypeError("no row")
    table = _TABLES[row.pop("said")]
    columns, known = table.columns, {one.name: one.type.python_type for one in table.columns}
    nulls = [name for name, one in row.items() if one is None and columns[name].nullable]
    if {n: known[n] if n in nulls else type(one) for n, one in row.items()} != known:
        raise ValueError("no such row")
    return table, row
