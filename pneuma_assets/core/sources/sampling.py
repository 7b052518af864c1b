"""Which rows stand for a table (Pneuma, section 4): drawn uniformly, kept while they are true."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pneuma_assets.core.sources.base import Row
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
