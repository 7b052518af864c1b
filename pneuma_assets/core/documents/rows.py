"""Which rows stand for a table, and how a row reads as text (Pneuma, section 4, figure 4)."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pneuma_assets.core.documents.maker import DocumentMaker, DrawnRows
from pneuma_assets.core.sources.names import one_line
from pneuma_assets.core.tables import DocumentKind, RowMark

if TYPE_CHECKING:
    from pneuma_assets.core.sources.base import Row

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
    return sorted(_drawn(row_count, rows, seed))


def wanted_keys(kept: Sequence[RowMark]) -> Counter[int]:
    """Return how often a table must have each row for these to be still true."""
    return Counter(mark.key for mark in kept)


def resampled_positions(
    row_count: int,
    rows: int,
    seed: int,
    kept: Sequence[RowMark],
    found: Mapping[int, Sequence[int]],
) -> list[int] | None:
    """Return the rows of a sample in which only those that are gone were drawn anew.

    Args:
        row_count: Of the table now.
        rows: How many the sample should have.
        seed: Decides which of the other rows fill it, as in `sample_positions`.
        kept: The sample so far; empty for a table that has none.
        found: Where the table has rows of the keys in `kept`.

    Returns:
        Their positions in ascending order; None if no row of `kept` is gone.
    """
    true = {
        position
        for key, number in wanted_keys(kept).items()
        for position in found.get(key, ())[:number]
    }
    if kept and len(true) == len(kept):
        return None
    others = [position for position in _drawn(row_count, rows, seed) if position not in true]
    return sorted([*true, *others[: max(0, rows - len(true))]])


def _drawn(row_count: int, rows: int, seed: int) -> list[int]:
    return random.Random(seed).sample(range(row_count), min(rows, row_count))  # noqa: S311


def row_text(columns: Sequence[str], row: "Row") -> str:
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


def row_texts(drawn: DrawnRows) -> list[str]:
    """Return one text a row; rows without any value have none."""
    columns = [one_line(column.name) for column in drawn.table.columns]
    texts = (row_text(columns, row) for row in drawn.rows)
    return [text for text in texts if text]


MAKER = DocumentMaker(DocumentKind.ROWS, DrawnRows, row_texts, version=0, called="a sampled row")
