"""What people said, in a file of JSON Lines beside the state file: a copy that outlives it.

Everything else that a state holds is read or asked again; this nobody would say twice. The file is
written anew as one act with each change, so what is withdrawn leaves it, too. A line is a row of a
table, which `said` names. A state on a server has none: its database is backed up there.
"""

import json
import logging
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, delete, select

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.schema import (
    answers,
    corrections,
    join_verdicts,
    knowledge,
    upsert,
    user_contexts,
)

logger = logging.getLogger(__name__)

FILE_NAME = "said.jsonl"
SAID = (user_contexts, corrections, join_verdicts, answers, knowledge)
_TABLES = {table.name: table for table in SAID}


def write_journal(connection: Connection, path: Path) -> None:
    """Make the file say what the tables do, inside the transaction that changed them.

    Raises:
        StateError: It cannot be written.
    """
    rows = [
        {"said": table.name, **row._mapping}
        for table in SAID
        for row in connection.execute(select(table).order_by(*table.primary_key.columns))
    ]
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    # Of one name, so that what a killed process leaves is overwritten: it may have been withdrawn.
    replace_file(path, path.with_name(f"{path.name}.new"), lines.encode(), "What people said")


def replace_file(path: Path, fresh: Path, contents: bytes, what: str) -> None:
    """Write a fresh file, then put it in the place of one that readers see as it was until then.

    Raises:
        StateError: It cannot be written, which is told of `what`.
    """
    try:
        try:
            with fresh.open("wb") as file:
                file.write(contents)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)
    except OSError as error:
        raise StateError(
            f"{what} cannot be kept in {str(path)!r} ({error.strerror}); free disk space, or let "
            "this user write there, and run again."
        ) from error


def replay(connection: Connection, path: Path) -> int:
    """Make the tables say what the file does; returns how much that is, 0 without a file.

    Lines that are cut off or changed are left out: the file is kept under another name then, and
    a warning names it.

    Raises:
        StateError: The file cannot be read.
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
    columns = {column.name: column.type.python_type for column in table.columns}
    if {name: type(value) for name, value in row.items()} != columns:
        raise ValueError("no such row")
    return table, row
