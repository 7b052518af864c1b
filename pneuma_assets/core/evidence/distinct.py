"""The different cells of a column: a uniform sample of them, in constant memory."""

import re
from collections.abc import Container, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pneuma_assets.core.evidence.hashing import Hashes, hashes_of, mixed

NUMBERS_KEPT = 100
"""Of a column without a letter in any of its cells: what says one number of a measurement, or one
key, says little of the table."""

LONG = 32
"""Characters beyond which a cell is no longer for the rule of what stays."""

_LETTER = re.compile(r"[^\W\d_]")
_SAYS_SOMETHING = re.compile(r"\w")
_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_NOTHING = mixed(np.array([_ALL]))[0]
"""Stands for the hash of a cell without a value."""


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

    def add(self, column: pa.StringArray) -> Hashes:
        """Take the cells of some rows; returns the hash of each, also where there is no value."""
        if self._limit == _ALL:
            return self._add_all(column)
        hashes = hashes_of(column)
        low = hashes <= self._limit
        if column.null_count:
            missing = column.is_null().to_numpy(zero_copy_only=False)
            hashes[missing] = _NOTHING
            low &= ~missing
        if low.any():
            counted = pc.value_counts(column.filter(pa.array(low)))
            values, counts = counted.field(0), counted.field(1).to_numpy()
            self._count(values, hashes_of(values), counts)
        return hashes

    def _add_all(self, column: pa.StringArray) -> Hashes:
        """Do so while every cell counts: those that occur again are hashed once."""
        encoded = column.dictionary_encode()
        values = encoded.dictionary
        places = encoded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
        hashes = hashes_of(values)
        self._count(values, hashes, np.bincount(places, minlength=len(values))[: len(values)])
        found: Hashes = np.append(hashes, _NOTHING)[places]
        return found

    def _count(self, values: pa.StringArray, hashes: Hashes, counts: npt.NDArray[np.int64]) -> None:
        if len(values) > self._most:
            lowest = np.argpartition(hashes, self._most - 1)[: self._most]
            values, counts, hashes = values.take(pa.array(lowest)), counts[lowest], hashes[lowest]
        self._take(values, hashes, counts.tolist())
        if len(self._found) > 2 * self._most:
            self._shorten()

    def hashes(self) -> Hashes:
        """Return those of the cells that are kept: the lowest of all."""
        self._shorten()
        return np.array([number for number, _ in self._found.values()], np.uint64)

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
