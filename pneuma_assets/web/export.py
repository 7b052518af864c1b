"""The rows of an answer as a file."""

import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from starlette.responses import Response, StreamingResponse

from pneuma_assets.core.answers.results import TableAnswer
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.text.csv_writing import csv_parts, table_parts

MEDIA_TYPES = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}
_ROWS_AT_ONCE = 500


def exported(answer: TableAnswer, kind: str) -> Response:
    """Return the rows as CSV or Parquet, streamed; name and header tell whether there are others.

    CSV is as `csv_parts` has it; Parquet has every text as it is.
    """
    names = _unlike(answer.columns)
    if kind == "csv":
        parts = csv_parts(names, chunks(answer.rows, _ROWS_AT_ONCE))
    else:
        columns = [_array([row[at] for row in answer.rows]) for at in range(len(names))]
        parts = _parquet(pa.Table.from_arrays(columns, names=list(names)))
    name = f"first-{len(answer.rows)}-rows" if answer.more else "answer"
    headers = {
        "Content-Disposition": f'attachment; filename="{name}.{kind}"',
        "X-More-Rows": str(answer.more).lower(),
    }
    return StreamingResponse(parts, headers=headers, media_type=MEDIA_TYPES[kind])


def file_of(table: pa.Table, name: str, kind: str) -> Response:
    """Return a whole table as CSV or Parquet; texts of CSV as in `exported`."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.{kind}"'}
    parts = table_parts(table) if kind == "csv" else _parquet(table)
    return StreamingResponse(parts, headers=headers, media_type=MEDIA_TYPES[kind])


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
