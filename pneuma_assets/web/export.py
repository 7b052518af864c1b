"""The rows of an answer as a file."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from starlette.responses import Response, StreamingResponse

from pneuma_assets.core.answers.results import TableAnswer
from pneuma_assets.core.grouping import chunks

MEDIA_TYPES = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}
_ROWS_AT_ONCE = 500
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def exported(answer: TableAnswer, kind: str) -> Response:
    """Return the rows as CSV or Parquet, streamed; a header tells whether there are others.

    A spreadsheet takes a text that begins with such as `=` for a formula, so CSV has an apostrophe
    before it. Parquet has every text as it is.
    """
    names = _unlike(answer.columns)
    if kind == "csv":
        parts = _csv(names, chunks(answer.rows, _ROWS_AT_ONCE))
    else:
        columns = [_array([row[at] for row in answer.rows]) for at in range(len(names))]
        parts = _parquet(pa.Table.from_arrays(columns, names=list(names)))
    headers = {
        "Content-Disposition": f'attachment; filename="answer.{kind}"',
        "X-More-Rows": str(answer.more).lower(),
    }
    return StreamingResponse(parts, headers=headers, media_type=MEDIA_TYPES[kind])


def file_of(table: pa.Table, name: str, kind: str) -> Response:
    """Return a whole table as CSV or Parquet; texts of CSV as in `exported`."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.{kind}"'}
    batches = table.to_batches(max_chunksize=_ROWS_AT_ONCE)
    rows = ([tuple(row.values()) for row in batch.to_pylist()] for batch in batches)
    parts = _csv(table.column_names, rows) if kind == "csv" else _parquet(table)
    return StreamingResponse(parts, headers=headers, media_type=MEDIA_TYPES[kind])


def _csv(names: Sequence[str], parts: Iterable[Sequence[Sequence[Any]]]) -> Iterator[bytes]:
    for some in chain([[names]], parts):
        text = io.StringIO()
        csv.writer(text).writerows([_cell(one) for one in row] for row in some)
        yield text.getvalue().encode("utf-8", "replace")


def _cell(value: Any) -> Any:
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


def _parquet(table: pa.Table) -> Iterator[bytes]:
    written = io.BytesIO()
    pq.write_table(table, written)
    yield written.getvalue()


def _array(values: list[Any]) -> Any:
    """Return a column; of values of several kinds, their texts."""
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError):
        texts = (one if isinstance(one, str | None) else json.dumps(one) for one in values)
        return pa.array(list(texts), pa.string())


def _unlike(names: Sequence[str]) -> list[str]:
    """Return names of which no two are the same, as files want them."""
    found: dict[str, None] = {}
    for name in names:
        candidate, number = name, 2
        while candidate in found:
            candidate, number = f"{name}_{number}", number + 1
        found[candidate] = None
    return list(found)
