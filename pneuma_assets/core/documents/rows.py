"""How a row reads as text (Pneuma, section 4, figure 4)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pneuma_assets.core.documents.maker import DocumentMaker, DrawnRows
from pneuma_assets.core.sources.names import one_line
from pneuma_assets.core.tables import DocumentKind

if TYPE_CHECKING:
    from pneuma_assets.core.sources.base import Row

CELL_CHARACTERS = 200
"""A longer cell is cut here: its beginning tells what it is."""

ROW_CHARACTERS = 20_000
"""A row with more text than this (thousands of columns) is cut after a whole cell."""

_SEPARATOR = " | "


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
