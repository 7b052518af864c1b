"""Which rows stand for a table, and how a row reads as text (Pneuma, section 4, figure 4)."""

import random
from collections.abc import Sequence

from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.sources.names import one_line
from pneuma_assets.core.tables import Document, DocumentKind, Table

CELL_CHARACTERS = 200
"""A longer cell is cut here: its beginning tells what it is."""

ROW_CHARACTERS = 20_000
"""A row with more text than this (thousands of columns) is cut after a whole cell."""

_SEPARATOR = " | "


def sample_positions(row_count: int, rows: int, seed: int) -> list[int]:
    """Draw up to `rows` distinct row numbers below `row_count` uniformly, in ascending order.

    The same arguments give the same numbers on every machine. (DuckDB's `USING SAMPLE reservoir`
    is no help: with 2.0.0 some tenths of a table are drawn 1.8 times as often as others.)
    """
    drawn = random.Random(seed).sample(range(row_count), min(rows, row_count))  # noqa: S311
    return sorted(drawn)


def row_document(columns: Sequence[str], row: Row) -> str:
    """Return a row as `column: value | column: value`, on one line.

    Empty cells are left out, as "price: null" would only make rows of different tables alike.
    Long cells are cut; so is a very wide row, which then says how many cells are missing.
    """
    parts: list[str] = []
    size = 0
    for number, (column, value) in enumerate(zip(columns, row, strict=True)):
        text = "" if value is None else one_line(str(value), CELL_CHARACTERS)
        if not text:
            continue
        part = f"{column}: {text}"
        size += len(part) + len(_SEPARATOR)
        if parts and size > ROW_CHARACTERS:
            parts.append(f"… ({len(columns) - number} more columns)")
            break
        parts.append(part)
    return _SEPARATOR.join(parts)


def row_documents(table: Table, rows: Sequence[Row]) -> list[Document]:
    """Return one document a sampled row; rows without any value have none."""
    columns = [one_line(column.name) for column in table.columns]
    texts = (row_document(columns, row) for row in rows)
    return [Document(table.table_id, DocumentKind.ROWS, text) for text in texts if text]
