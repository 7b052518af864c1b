"""Files of JSON lines, read strictly, a line at a time."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from pneuma_assets.core.errors import BenchmarkError

MOST_BYTES = 256 * 1024 * 1024
"""Of one line, so of one table with all of its rows."""

_MARK = b"\xef\xbb\xbf"


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each object with the number of its line; blank lines are passed over.

    Numbers come as text, spelled as in the file.

    Raises:
        BenchmarkError: The file cannot be read, or a line of it is no JSON object.
    """
    try:
        with path.open("rb") as stream:
            number = 0
            while line := stream.readline(MOST_BYTES + 1):
                number += 1
                line = line.removeprefix(_MARK) if number == 1 else line
                if line.strip():
                    yield number, _object(path, number, line)
    except OSError as error:
        raise BenchmarkError(f"cannot read {path} ({error.strerror or error})") from error


def refuse(path: Path, number: int, problem: str) -> NoReturn:
    """Raise `BenchmarkError` for what is wrong with a line."""
    raise BenchmarkError(f"{path}, line {number}: {problem}")


def _object(path: Path, number: int, line: bytes) -> dict[str, Any]:
    if len(line) > MOST_BYTES:
        refuse(path, number, f"the line has more than {MOST_BYTES // 1024**2} MiB; split the table")
    try:
        value = json.loads(
            line.decode("utf-8"), parse_int=str, parse_float=str, parse_constant=_no_number
        )
    except (ValueError, RecursionError) as error:
        refuse(path, number, f"not JSON in UTF-8 ({error}); write one object a line")
    if not isinstance(value, dict):
        refuse(path, number, f"a JSON object is needed, not {type(value).__name__}")
    return value


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON; use null")
