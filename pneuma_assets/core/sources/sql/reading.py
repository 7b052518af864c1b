"""Reading rows of one table in batches of bounded memory."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from sqlalchemy import Connection, Select

from pneuma_assets.core.text.safe import well_formed

_BATCH_CELLS = 50_000
"""Of 1,000 characters each in the worst of tables: 200 MB."""

BATCH_ROWS = 2_000


def batches(
    connection: Connection,
    statement: Select[tuple[Any, ...]],
    columns: Sequence[str],
    batch_rows: int = BATCH_ROWS,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of an answer as text, at most `batch_rows` at once, fewer where wide.

    The engine keeps the rest of the answer where its driver knows how (a cursor on the server).

    Args:
        connection: Where to ask.
        statement: Selects texts.
        columns: What to call them; none of a table without columns.
        batch_rows: How many at once.
    """
    if not columns:
        return
    rows = max(1, min(batch_rows, _BATCH_CELLS // len(columns)))
    streamed = connection.execution_options(stream_results=True, max_row_buffer=rows)
    with streamed.execute(statement) as result:
        for some in result.partitions(rows):
            cells = [
                pa.array(map(_text, column), pa.string()) for column in zip(*some, strict=True)
            ]
            yield pa.record_batch(cells, names=list(columns))


def _text(cell: Any) -> str | None:
    """Return a cell as text; a driver may return what it does not take for text."""
    if cell is None:
        return None
    if isinstance(cell, bytes | bytearray | memoryview):
        return bytes(cell).decode("utf-8", "replace")
    text = cell if isinstance(cell, str) else str(cell)
    return text if text.isascii() else well_formed(text)
