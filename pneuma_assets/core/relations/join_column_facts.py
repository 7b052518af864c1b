"""What is known of a column when joins are looked for: its name's words, and a sample of its cells.

Cells are the lowest hashes of a column's different ones (`changes.sketch`), the same ones wherever
a cell occurs, so that how much of one column is in another is told without reading either.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pneuma_assets.core.changes.sketch import Hashes, TableSketch, cells_kept
from pneuma_assets.core.tables import Column

_NUMBER = r"""
(?: u?(?:tiny|small|medium|big|huge)? (?:int(?!erval)|serial)
  | (?:big)?num | dec | double | float | real | money | year )
"""
_KINDS = {
    "number": re.compile(_NUMBER, re.IGNORECASE | re.VERBOSE),
    "text": re.compile(r"n?(?:var)?char|character|text|string|uuid|enum", re.IGNORECASE),
    "time": re.compile(r"(?:small)?date|time|interval", re.IGNORECASE),
    "truth": re.compile(r"bool", re.IGNORECASE),
}
_OF_SEVERAL = re.compile(r"\[|^\w*range", re.IGNORECASE)
"""Lists, `integer[]`, and ranges, `int4range`: none of their cells is a number."""


def kind_of(type_name: str) -> str | None:
    """Return what values of a type are: number, text, time or truth; None where nobody knows."""
    name = type_name.strip()
    if _OF_SEVERAL.search(name):
        return None
    return next((kind for kind, names in _KINDS.items() if names.match(name)), None)


MOST_COLUMNS = 500
"""Of one table, so many are looked at, the first ones."""

_HASHES = 1 << 32
_LEAST_COMPARED = 2
"""Cells of which it can be told how many are in another column."""
_DIFFERENT = 0.75
"""Of the rows, the share of different cells from which on a column may be a key: an estimate of so
few hashes is off by a sixth."""
_MEASURES = re.compile(r"float|double|real|bool|timestamp|interval|json|blob|bytea|binary", re.I)
"""In types: values that are measured, or too large, and name nothing."""
_WHOLE_NUMBERS = re.compile(r"u?(?:tiny|small|medium|big|huge)?(?:int|integer|serial)\d*\b.*", re.I)


@dataclass(frozen=True, eq=False)
class JoinColumn:
    """A column that may be joined.

    `place` is its number among the `width` columns of its table of so many `rows`. `cells` are the
    lowest hashes of its different cells, ascending, and `whole` tells whether these are all; of no
    cells none are known. It is `declared` where it is, by itself, its table's declared key.
    """

    table_id: str
    name: str
    place: int
    rows: int
    cells: Hashes
    whole: bool
    declared: bool = False
    type: str = ""
    width: int = 1

    @cached_property
    def is_unique(self) -> bool | None:
        """Whether its cells name its rows, all but different in each; None where none is known."""
        if not len(self.cells) and not self.whole:
            return None
        if _MEASURES.search(self.type):
            return False
        return self.rows > 1 and self.different >= self.rows * (1.0 if self.whole else _DIFFERENT)

    @property
    def is_whole_number(self) -> bool:
        """Whether its type says that its cells are whole numbers."""
        return _WHOLE_NUMBERS.fullmatch(self.type) is not None

    @cached_property
    def kind(self) -> str | None:
        """What its values are by its type: numbers, text, times or truths; None where unknown."""
        return kind_of(self.type)

    @cached_property
    def different(self) -> float:
        """How many different cells it has; of many an estimate (Beyer et al., SIGMOD 2007)."""
        if self.whole or len(self.cells) < _LEAST_COMPARED:
            return len(self.cells)
        return (len(self.cells) - 1) * _HASHES / float(self.cells[-1])

    def share_in(self, other: "JoinColumn", least: int = _LEAST_COMPARED) -> float | None:
        """Return the share of its different cells that another column has, from 0 to 1.

        None where it cannot be told: of either none are known, or fewer than `least` of more can be
        compared.
        """
        mine = self.cells
        if not other.whole and len(other.cells):
            mine = mine[: np.searchsorted(mine, other.cells[-1], "right")]
        if not len(other.cells) or len(mine) < min(least, max(1, len(self.cells))):
            return None
        both = np.sort(np.concatenate((mine, other.cells)))
        return int(np.count_nonzero(both[1:] == both[:-1])) / len(mine)


def join_columns(
    table_id: str,
    columns: Sequence[Column],
    rows: int,
    sketch: TableSketch | None,
    key: tuple[str, ...] = (),
) -> Iterator[JoinColumn]:
    """Yield what is known of a table's columns; of those without a sketch, names and types alone.

    `key` is the table's declared one.
    """
    kept = cells_kept(len(columns))
    cells = () if sketch is None else sketch.columns
    for place, column in enumerate(columns[:MOST_COLUMNS]):
        known = place < len(cells) and not column.hidden
        hashes = np.array(cells[place] if known else (), np.uint64)
        yield JoinColumn(
            table_id, column.name, place, rows, hashes,
            whole=known and (len(hashes) < kept or rows <= kept),
            declared=key == (column.name,), type=column.type, width=len(columns),
        )  # fmt: skip
