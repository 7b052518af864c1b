"""The different cells of a column: a uniform sample of them, in constant memory.

Which cells and rows are kept is decided by hashes that are the same on every machine and in every
version; that two texts may share a hash once in 2**64 does no harm.
"""

import re
from collections.abc import Container, Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pneuma_assets.core.terms.extremes import Extremes

Hashes = npt.NDArray[np.uint64]

_SLICE_BYTES = 1 << 17
"""Text hashed at a time; what is computed beside it fits a processor's cache."""

_BASE = np.uint64(0x9E3779B97F4A7C15)
_INVERSE = np.uint64(pow(int(_BASE), -1, 1 << 64))
_MIX = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mixed(numbers: Hashes) -> Hashes:
    """Return 64 bits for each number, of which all depend on all of its bits (SplitMix64)."""
    with np.errstate(over="ignore"):
        numbers = numbers + _BASE
        numbers = (numbers ^ (numbers >> np.uint64(30))) * _MIX[0]
        numbers = (numbers ^ (numbers >> np.uint64(27))) * _MIX[1]
        return numbers ^ (numbers >> np.uint64(31))


def hashes_of(texts: pa.StringArray) -> Hashes:
    """Return 64 bits for each text; none may be null.

    A text's bytes are the digits of a number to the base of `_BASE`. Differences of a running sum
    give all of them at once; multiplying by a power's inverse makes the place not matter.
    """
    result = np.empty(len(texts), np.uint64)
    _, offsets_buffer, data_buffer = texts.buffers()
    if len(texts) == 0 or data_buffer is None:
        result[:] = mixed(np.zeros(1, np.uint64))[0]
        return result
    offsets = np.frombuffer(offsets_buffer, np.int32)[texts.offset :][: len(texts) + 1]
    data = np.frombuffer(data_buffer, np.uint8)
    first = 0
    while first < len(texts):
        last = int(np.searchsorted(offsets, offsets[first] + _SLICE_BYTES, "right")) - 1
        last = min(max(last, first + 1), len(texts))
        piece = data[offsets[first] : offsets[last]]
        result[first:last] = _hashed(piece, offsets[first : last + 1] - offsets[first])
        first = last
    return result


def row_hashes(columns: Iterable[Hashes], rows: int) -> Hashes:
    """Return 64 bits for each row, of the hashes of its cells in order."""
    result = np.zeros(rows, np.uint64)
    for column in columns:
        result += column
        result *= _BASE
    return mixed(result)


def _hashed(data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int32]) -> Hashes:
    powers, inverses = _powers(len(data) + 1)
    with np.errstate(over="ignore"):
        sums = np.zeros(len(data) + 1, np.uint64)
        np.cumsum((data + np.uint64(1)) * powers[:-1], dtype=np.uint64, out=sums[1:])
        starts, ends = offsets[:-1], offsets[1:]
        values: Hashes = (sums[ends] - sums[starts]) * inverses[starts]
    return mixed(values)


def _powers(count: int) -> tuple[Hashes, Hashes]:
    """Return the first powers of the base and of its inverse modulo 2**64."""
    powers, inverses = _known[0]
    if len(powers) < count:
        powers, inverses = _powers_of(_BASE, count), _powers_of(_INVERSE, count)
        _known[0] = powers, inverses  # at once: another thread must not see one without the other
    return powers[:count], inverses[:count]


def _powers_of(base: np.uint64, count: int) -> Hashes:
    factors = np.full(count, base, np.uint64)
    factors[0] = 1
    with np.errstate(over="ignore"):
        return np.cumprod(factors, dtype=np.uint64)


_known: list[tuple[Hashes, Hashes]] = [(np.ones(1, np.uint64), np.ones(1, np.uint64))]

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


class LowestHashes:
    """Counts different cells by the lowest of their hashes: up to `most` exactly, then about.

    The estimate is that of Beyer and others, "On synopses for distinct-value estimation under
    multiset operations", SIGMOD 2007; its standard error is 1 / sqrt(most).
    """

    def __init__(self, most: int) -> None:
        self._most, self._room, self._limit = most, 2 * most, _ALL
        self._found = [np.empty(0, np.uint64)]

    def add(self, hashes: Hashes) -> None:
        """Take the hashes of some cells; a cell may come again."""
        self._found.append(hashes[hashes <= self._limit])
        self._room -= len(self._found[-1]) + self._most // 64 + 1  # even if empty
        if self._room < 0:
            self._shorten()

    def distinct(self) -> tuple[int, bool]:
        """Return the number of different cells, and whether it is exact."""
        self._shorten()
        count = len(self._found[0])
        if self._limit == _ALL:
            return count, True
        return round((count - 1) * (1 << 64) / int(self._limit)), False

    def _shorten(self) -> None:
        ordered = np.sort(np.concatenate(self._found))  # np.unique takes 17 times as long
        lowest = np.append(ordered[:1], ordered[1:][ordered[1:] != ordered[:-1]])
        self._found, self._room = [lowest[: self._most]], self._most
        if len(lowest) > self._most:
            self._limit = lowest[self._most - 1]


class DistinctCells:
    """Which cells a column has, and how often each, while its rows pass by.

    Kept are those of the lowest hashes. What has a low hash has it in every batch, so a cell that
    is kept at the end was never left out: its number is exact, and neither the order of the rows
    nor how they are cut into batches makes a difference.

    Attributes:
        nulls: Rows without a value.
        missing: The cells found that are none.
        extremes: Of all cells; None as long as all that differ are kept.
        lowest: Counts the different cells.
    """

    def __init__(self, most: int, hashed: int, none: pa.StringArray) -> None:
        """Take the number of cells to keep and of hashes to count others by; and which are none.

        `none` holds null and the cells that are counted as it.
        """
        self.nulls = 0
        self.missing: set[str] = set()
        self._none = none
        self.extremes: Extremes | None = None
        self._most = most
        self.lowest = LowestHashes(hashed)
        self._whole = True
        self._limit = _ALL
        self._found: dict[str, tuple[int, int]] = {}
        """The hash of each cell, and how often it occurs."""

    def add(self, column: pa.StringArray) -> Hashes:
        """Take the cells of some rows; returns the hash of each, also where there is no value."""
        hashes = self._add_all(column) if self._limit == _ALL else self._add_some(column)
        none = pc.is_in(column, self._none)
        if none.true_count:
            self.nulls += none.true_count
            self.missing.update(column.filter(none).drop_null().unique().to_pylist())
        if self.extremes is not None:
            valued = pc.invert(none)
            self.extremes.add(column.filter(valued))
            self.lowest.add(hashes[valued.to_numpy(zero_copy_only=False)])
        return hashes

    def _add_some(self, column: pa.StringArray) -> Hashes:
        """Do so where cells of high hashes are left out."""
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
        if self.extremes is None and len(self._found) + len(values) > self._most:
            self.extremes = Extremes()  # from here on some cells may be left out
            valued = {one: at for one, (at, _) in self._found.items() if one not in self.missing}
            self.extremes.add(pa.array(valued, pa.string()))
            self.lowest.add(np.array([*valued.values()], np.uint64))
        self._count(values, hashes, np.bincount(places, minlength=len(values))[: len(values)])
        found: Hashes = np.append(hashes, _NOTHING)[places]
        return found

    def _count(self, values: pa.StringArray, hashes: Hashes, counts: npt.NDArray[np.int64]) -> None:
        if len(values) > self._most:
            self._whole = False
            lowest = np.argpartition(hashes, self._most - 1)[: self._most]
            values, counts, hashes = values.take(pa.array(lowest)), counts[lowest], hashes[lowest]
        self._take(values, hashes, counts.tolist())
        if len(self._found) > 2 * self._most:
            self._shorten()

    def hashes(self) -> Hashes:
        """Return those of the cells that are kept: the lowest of all."""
        self._shorten()
        return np.array([number for number, _ in self._found.values()], np.uint64)

    def counts(self) -> dict[str, int] | None:
        """Return how often each cell occurs; None where they are too many to be kept."""
        self._shorten()
        return {text: count for text, (_, count) in self._found.items()} if self._whole else None

    def _take(self, values: pa.StringArray, hashes: Hashes, counts: list[int]) -> None:
        found = self._found
        for text, number, count in zip(values.to_pylist(), hashes.tolist(), counts, strict=True):
            found[text] = (number, found.get(text, (0, 0))[1] + count)

    def _shorten(self) -> None:
        if len(self._found) > self._most:
            self._whole = False
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
