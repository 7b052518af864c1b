"""A sample of a table's rows, by which two states of it are compared without keeping either.

Rows are named by hashes. Kept are the `ROWS_KEPT` lowest of the different ones, and how often each
occurs: a theta sketch with counts. (Dasgupta, Lang, Rhodes and Thaler, "A framework for estimating
stream expression cardinalities", ICDT 2016; the counts: Beyer, Haas, Reinwald, Sismanis and
Gemulla, "On synopses for distinct-value estimation under multiset operations", SIGMOD 2007.)
What has a low hash has it in both states, so those below the lower
of both limits are a uniform sample of all different rows, the same ones of either state.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import eq, le

import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter

ROWS_KEPT = 1 << 10
"""Different rows of the lowest hashes; a table of no more is compared exactly."""

CELLS_KEPT = 32
"""Different cells of a column, by the upper half of their hashes."""

TABLE_CELLS = 8_192
"""Likewise of a table: fewer a column where these are many, of very many none."""

EVERYTHING = (1 << 64) - 1
"""The limit of a sketch that holds all different rows."""

MOST_BYTES = 1 << 18
"""Of any sketch, as `to_json` writes it."""

_MOST_COUNTED = (1 << 63) - 1

Hashes = npt.NDArray[np.uint64]


class SketchError(ValueError):
    """What is read is no sketch, or one of another version."""


@dataclass(frozen=True, slots=True)
class TableSketch:
    """What is kept of all rows of a table, some kilobytes whatever its size.

    Attributes:
        rows: How many rows there are, exactly.
        limit: Every row of a hash below this is here; `EVERYTHING`: all are.
        hashes: Of the different rows that are kept, ascending.
        counts: How often each of them occurs.
        columns: Of each column in order, the lowest hashes of its different cells, ascending; none
            where columns are too many.
    """

    rows: int
    limit: int
    hashes: tuple[int, ...]
    counts: tuple[int, ...]
    columns: tuple[tuple[int, ...], ...] = ()

    def to_json(self) -> bytes:
        """Return it as `from_json` reads it; raises `SketchError` of what another process made."""
        written = _SKETCH.dump_json(self, warnings=False)
        self.from_json(written)
        return written

    @classmethod
    def from_json(cls, data: bytes) -> "TableSketch":
        """Return what `to_json` wrote; raises `SketchError` where it did not."""
        try:
            found = _SKETCH.validate_json(data, strict=True)
        except ValueError as error:
            raise SketchError("this is no sketch of a table, or one of another version") from error
        truths = (
            0 <= found.rows <= _MOST_COUNTED and found.limit <= EVERYTHING,
            len(found.hashes) == len(found.counts) <= ROWS_KEPT,
            _ascending(found.hashes, found.limit) and all(count > 0 for count in found.counts),
            (eq if found.limit == EVERYTHING else le)(sum(found.counts), found.rows),
            all(len(c) <= CELLS_KEPT and _ascending(c, 1 << 32) for c in found.columns),
            sum(map(len, found.columns)) <= TABLE_CELLS,
        )
        if not all(truths):
            raise SketchError("this sketch of a table contradicts itself")
        return found


_SKETCH = TypeAdapter(TableSketch)


def _ascending(numbers: Sequence[int], below: int) -> bool:
    return all(one < other for one, other in pairwise((-1, *numbers, below)))


class RowSampler:
    """Takes the hashes of a table's rows as they are read; neither order nor batches matter."""

    def __init__(self) -> None:
        """Begin without rows."""
        self._rows = 0
        self._limit = EVERYTHING
        self._hashes = np.empty(0, np.uint64)
        self._counts = np.empty(0, np.int64)

    def add(self, rows: Hashes) -> None:
        """Take some rows, a hash each.

        The limit only falls, so a hash below it was never left out, and its count is exact.
        """
        self._rows += len(rows)
        rows = np.minimum(rows, np.uint64(EVERYTHING - 1))
        fresh, numbers = np.unique(rows[rows < self._limit], return_counts=True)
        hashes, places = np.unique(np.concatenate([self._hashes, fresh]), return_inverse=True)
        counts = np.zeros(len(hashes), np.int64)
        np.add.at(counts, places, np.concatenate([self._counts, numbers]))
        if len(hashes) > ROWS_KEPT:
            self._limit = int(hashes[ROWS_KEPT])
        self._hashes, self._counts = hashes[:ROWS_KEPT], counts[:ROWS_KEPT]

    def sketch(self, columns: Sequence[Hashes] = ()) -> TableSketch:
        """Return what is kept of all rows so far.

        Args:
            columns: Of each column, hashes of different cells: the lowest that there are.
        """
        return TableSketch(
            self._rows,
            self._limit,
            tuple(self._hashes.tolist()),
            tuple(self._counts.tolist()),
            tuple(_lowest(c, len(columns)) for c in columns) if cells_kept(len(columns)) else (),
        )


def _lowest(cells: Hashes, width: int) -> tuple[int, ...]:
    """Return the upper halves of the lowest hashes of a column of so many."""
    upper = np.unique(cells >> np.uint64(32))
    return tuple(upper[: cells_kept(width)].tolist())


def cells_kept(width: int) -> int:
    """Return how many different cells of each column are kept at most, of so many columns."""
    return min(CELLS_KEPT, TABLE_CELLS // max(1, width))
