"""The different cells of a column: a uniform sample of them, in constant memory."""

import re
from collections.abc import Container, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pneuma_assets.core.evidence.hashing import Hashes, hashes_of

NUMBERS_KEPT = 100
"""Of a column without a letter in any of its cells: what says one number of a measurement, or one
key, says little of the table."""

LONG = 32
"""Characters beyond which a cell is no longer for the rule of what stays."""

_LETTER = re.compile(r"[^\W\d_]")
_SAYS_SOMETHING = re.compile(r"\w")
_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


class DistinctCells:
    """Which cells a column has, and how often each, while its rows pass by.

    Kept are those of the lowest hashes. What has a low hash has it in every batch, so a cell that
    is kept at the end was never left out: its number is exact, and neither the order of the rows
    nor how they are cut into batches makes a difference.
    """

    def __init__(self, most: int) -> None:
        """Take the number of different cells to keep."""
        self._most = most
        self._limit = _ALL
        self._found: dict[str, tuple[int, int]] = {}
        """The hash of each cell, and how often it occurs."""

    def add(self, cells: pa.StringArray) -> None:
        """Take the cells of some rows; none is null."""
        if self._limit != _ALL:
            cells = cells.filter(pa.array(hashes_of(cells) <= self._limit))
        if len(cells) == 0:
            return
        counted = pc.value_counts(cells)
        values, counts = counted.field(0), counted.field(1).to_numpy()
        hashes = hashes_of(values)
        if len(values) > self._most:
            lowest = np.argpartition(hashes, self._most - 1)[: self._most]
            values, counts, hashes = values.take(pa.array(lowest)), counts[lowest], hashes[lowest]
        self._take(values, hashes, counts.tolist())
        if len(self._found) > 2 * self._most:
            self._shorten()

    def _take(self, values: pa.StringArray, hashes: Hashes, counts: list[int]) -> None:
        found = self._found
        for text, number, count in zip(values.to_pylist(), hashes.tolist(), counts, strict=True):
            found[text] = (number, found.get(text, (0, 0))[1] + count)

    def _shorten(self) -> None:
        if len(self._found) > self._most:
            lowest = sorted(self._found.items(), key=lambda item: (item[1][0], item[0]))
            self._found = dict(lowest[: self._most])
            self._limit = np.uint64(lowest[self._most - 1][1][0])

    def chosen(self, most: int, said: Container[str | None]) -> Iterator[str]:
        """Yield up to `most` cells that are not `said`, rare and long before common and short.

        That is by occurrences a character. Those without a letter or digit are left out; where no
        cell has a letter, few are kept.
        """
        self._shorten()
        ranked = sorted(
            (count / min(len(text), LONG), number, text)
            for text, (number, count) in self._found.items()
            if text not in said and _SAYS_SOMETHING.search(text)
        )
        if not any(_LETTER.search(text) for *_, text in ranked):
            most = min(most, NUMBERS_KEPT)
        return (text for *_, text in ranked[:most])
