"""Runs statements of strangers on databases of SQLite.

TARGET scores text-to-SQL by running what a model wrote. A model's answer may be shaped by what a
table holds, so it is run as hostile: on a connection that cannot write, that can do nothing but
read, in a process of its own within bounds of time, memory and size.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.target.databases import address_of, is_name

SECONDS = 20.0
"""Of one statement; the package gives a question's two 60."""
MOST_ROWS = 100_000
MOST_BYTES = 1_000_000
"""Of one value: nothing is made that is larger."""
_ROWS_BYTES = 32_000_000
"""Of all rows together."""
_MEMORY = 1_000_000_000
"""Bytes of the process, and of each of its temporary files."""
_LATE = 3.0
"""Seconds after which a process is ended that did not end by itself."""
_SCRIPT = Path(__file__).with_name("statement_process.py")

Rows = list[tuple[Any, ...]]


class StatementError(Exception):
    """A statement does not run, or does what it may not; says what, for whoever looks at it."""


def run(folder: Path, database: str, sql: str, seconds: float = SECONDS) -> Rows:
    """Return the rows that a stranger's statement gives.

    Raises:
        StatementError: There is no such database, the statement does not run, is not one that only
            reads, or is beyond the bounds of time, memory, rows or size.
        BenchmarkError: No process can be started.
    """
    file = folder / database / f"{database}.sqlite"
    if not is_name(database) or not file.is_file():
        raise StatementError(f"there is no database {database!r}")
    request = {
        "address": address_of(folder, database),
        "sql": sql,
        "seconds": seconds,
        "rows": MOST_ROWS,
        "bytes": _ROWS_BYTES,
        "value_bytes": MOST_BYTES,
        "memory": _MEMORY,
    }
    try:
        done = subprocess.run(  # noqa: S603 (our own script)
            [sys.executable, "-I", "-S", _SCRIPT],
            input=json.dumps(request).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds + _LATE,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise StatementError("it takes too much time") from error
    except OSError as error:
        raise BenchmarkError(f"{sys.executable} cannot be started ({error.strerror})") from error
    if done.returncode:
        raise StatementError("it takes too much time or memory, and its process was ended")
    reply = json.loads(done.stdout)
    if "error" in reply:
        raise StatementError(reply["error"])
    return [tuple(map(_cell, row)) for row in reply["rows"]]


def _cell(cell: Any) -> Any:
    """Return a cell; a blob came as its digits in a list."""
    return bytes.fromhex(cell[0]) if isinstance(cell, list) else cell
