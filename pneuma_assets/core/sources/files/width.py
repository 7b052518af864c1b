"""Looks at a text file's first line, before DuckDB spends minutes on it."""

import json
from pathlib import Path

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.bounds import check_width
from pneuma_assets.core.text import encoding

LINE_BYTES = 1 << 24
"""The longest row that is read, its values included."""
_DELIMITERS = (b",", b";", b"|", b"\t")


def check_first_line(path: Path, head: bytes, file_format: str) -> None:
    """Refuse a text file whose first line, too long for its `head`, is no row of a table.

    Raises:
        TableReadError: It has more columns than the limits allow, or is longer than a row may be.
        OSError: The file cannot be read.
    """
    if b"\n" in head or len(head) < encoding.HEAD_BYTES:
        return
    with path.open("rb") as file:
        line = encoding.unpacked(file).readline(LINE_BYTES)
    if file_format != "jsonl":
        check_width(1 + max(map(line.count, _DELIMITERS)))
        _check_end(line)
        return
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        _check_end(line)
        return  # DuckDB finds the words for what is no JSON.
    check_width(len(record) if isinstance(record, dict) else 1)


def _check_end(line: bytes) -> None:
    if len(line) == LINE_BYTES and not line.endswith(b"\n"):
        raise TableReadError(
            f"its first line is longer than {LINE_BYTES >> 20} MiB, which no row of a table is; "
            "look whether a quotation mark is missing, and write the file again"
        )
