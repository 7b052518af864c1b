"""Counts the columns of a wide file by its beginning, before DuckDB spends minutes on them."""

import json
from pathlib import Path

from pneuma_assets.core.sources import encoding
from pneuma_assets.core.sources.bounds import check_width

_LINE_BYTES = 1 << 24
_DELIMITERS = (b",", b";", b"|", b"\t")


def check_first_line(path: Path, head: bytes, file_format: str) -> None:
    """Refuse a text file whose first line, too long for its `head`, has too many columns.

    Raises:
        TableReadError: It has more than the limits allow.
        OSError: The file cannot be read.
    """
    if b"\n" in head or len(head) < encoding.HEAD_BYTES:
        return
    with encoding.open_text(path) as file:
        line = file.readline(_LINE_BYTES)
    if file_format != "jsonl":
        check_width(1 + max(map(line.count, _DELIMITERS)))
        return
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return  # Longer than a line may be, or no JSON: DuckDB finds the words for that.
    check_width(len(record) if isinstance(record, dict) else 1)
