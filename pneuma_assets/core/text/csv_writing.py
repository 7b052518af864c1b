"""Rows as CSV, for files that people open in spreadsheets."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_AT_ONCE = 500
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001


def csv_parts(names: Sequence[str], parts: Iterable[Sequence[Sequence[Any]]]) -> Iterator[bytes]:
    """Yield rows as CSV, some at a time, below the names of their columns.

    Lists are JSON. A spreadsheet takes a text that begins with such as `=` for a formula, so an
    apostrophe stands before it.
    """
    for some in chain([[names]], parts):
        text = io.StringIO()
        csv.writer(text).writerows([_cell(one) for one in row] for row in some)
        yield text.getvalue().encode("utf-8", "replace")


def table_parts(table: "pa.Table") -> Iterator[bytes]:
    """Yield a whole table as `csv_parts` does."""
    batches = table.to_batches(max_chunksize=_ROWS_AT_ONCE)
    rows = ([tuple(row.values()) for row in batch.to_pylist()] for batch in batches)
    return csv_parts(table.column_names, rows)


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False, default=str)
    is_formula = isinstance(value, str) and value.startswith(_FORMULA) and not _is_number(value)
    return f"'{value}" if is_formula else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
