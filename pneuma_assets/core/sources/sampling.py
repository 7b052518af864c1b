"""Which rows stand for a table (Pneuma, section 4): drawn uniformly, kept while they are true."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from pneuma_assets.core.sources.base import Row, SampledRow
from pneuma_assets.core.tables import RowMark


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
    """Return the rows of a sample in which only those that are gone are drawn again.

    They are in ascending order; None if no row of `kept`, the sample so far, is gone. `found` says
    where the table has rows of the keys in `kept`. Others are drawn as by `sample_positions`.
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


def resample(
    rows: int,
    seed: int,
    kept: Sequence[RowMark],
    row_count: int,
    rows_at: Callable[[Sequence[int]], list[SampledRow]],
    positions_of: Callable[[Mapping[int, int]], Mapping[int, Sequence[int]]],
) -> list[SampledRow] | None:
    """Draw rows of a table that can be read in parts, and keep those of `kept` still there.

    Rows that stand where they stood cost their parts; the whole table is read only if one of them
    is gone or has moved.

    `rows_at` reads the rows at some positions, `positions_of` the whole table for rows by their
    keys, as often as each is wanted. Returns None if all of `kept` are there.
    """
    found: Mapping[int, Sequence[int]] = {}
    if kept:
        there = {row.mark for row in rows_at([m.position for m in kept if m.position < row_count])}
        if all(mark in there for mark in kept):
            return None
        found = positions_of(wanted_keys(kept))
    positions = resampled_positions(row_count, rows, seed, kept, found)
    return None if positions is None else rows_at(positions)


def positions_in(rows: Iterable[Row], wanted: Mapping[int, int]) -> dict[int, list[int]]:
    """Return where rows of the wanted keys stand; a row's key is its last cell."""
    found: dict[int, list[int]] = {}
    if wanted:
        for position, row in enumerate(rows):
            if row[-1] in wanted:
                found.setdefault(row[-1], []).append(position)
    return found


def _drawn(row_count: int, rows: int, seed: int) -> list[int]:
    return random.Random(seed).sample(range(row_count), min(rows, row_count))  # noqa: S311
