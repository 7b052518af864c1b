"""Hashes of many texts or numbers at once, the same on every machine and in every version.

They decide by chance which of too many rows and cells are kept, and tell rows and cells of two
states of a table apart; that two of them may share a hash once in 2**64 does no harm.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

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


def of_rows(columns: Iterable[Hashes], rows: int) -> Hashes:
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
