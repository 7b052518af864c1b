"""What is told of a column as a whole: its figures, by cells and rows that were kept of it."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from heapq import nsmallest
from typing import Any

import numpy as np

from pneuma_assets.core.tables import ColumnProfile
from pneuma_assets.core.terms.extremes import Extremes, Numbers, numbers_of

PROFILED_COLUMNS = 1_000
"""Columns that have a profile; those of a wider table beyond them have none."""

FREQUENT = 10
"""Cells that a profile names as the most frequent ones."""

BINS = 20
"""Of a histogram, at most."""

SHOWN_CHARACTERS = 80
"""Where a cell in a profile is cut."""

_TWICE = 2
_OFTEN_IN_SAMPLE = 5
"""Rows of a sample that must have a cell: of fewer, chance decides which are the most frequent."""

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9]{2}:[0-9]{2}.{0,26})?")
_OF_NUMBERS: tuple[float, ...] = (1.0,)
_OF_TIMES: tuple[float, ...] = (86_400.0, 1.0)
_WHOLE_BELOW = 2.0**53
"""From here on every number is whole, and says nothing by that."""

Bins = tuple[tuple[float, float, int], ...]


@dataclass(frozen=True, slots=True)
class Sampled:
    """What is known of a column too many of whose cells differ, beside those in sampled rows.

    So many `rows` were sampled, uniformly.
    """

    rows: int
    extremes: Extremes

    @property
    def ends(self) -> tuple[str, ...]:
        """The least and the greatest cell, if there is any."""
        numbers = self.extremes.numbers
        return self.extremes.texts or () if numbers is None else (numbers[0][1], numbers[1][1])


def column_profile(
    counts: Mapping[str, int],
    rows: int,
    nulls: int,
    distinct: tuple[int, bool],
    sampled: Sampled | None = None,
) -> ColumnProfile:
    """Return the profile of a column of so many rows, `nulls` of them without a value.

    `counts` tells how often each of its different cells occurs, in all rows or those `sampled`;
    `distinct` is their number in all rows, and whether it is exact.
    """
    counted, ends = (rows, ()) if sampled is None else (sampled.rows, sampled.ends)
    cells = [*ends, *counts]
    least, greatest, bins = None, None, Bins()
    if cells:
        low, high = min(cells), max(cells)
        numeric = sampled is None or sampled.extremes.numbers is not None
        values, units = numbers_of(cells, low, high) if numeric else None, _OF_NUMBERS
        if values is None:
            values, units = _times_of(cells, low, high), _OF_TIMES
        if values is not None:
            least, greatest = (
                _end(end, [cells[at] for at in np.flatnonzero(values == end(values))])
                for end in (min, max)
            )
            weights = np.array([counts.get(cell, 0) for cell in cells], np.float64)
            weights[: len(ends)] = 0
            bins = histogram(values, weights * (rows / counted), units)
    return ColumnProfile(
        nulls / max(1, rows),
        *(min(distinct[0], rows - nulls), distinct[1]),
        *(least, greatest),
        _frequent(counts, counted, _TWICE if sampled is None else _OFTEN_IN_SAMPLE),
        bins,
        sampled is None,
    )


def _end(end: Callable[..., Any], cells: Sequence[str]) -> str:
    """Return the least or greatest of cells that are the same number of 64 bits."""
    try:
        found = end(cells, key=Decimal) if len(cells) > 1 else cells[0]
    except InvalidOperation:  # a time, or a number in a country's own spelling
        found = cells[0]
    return str(found)[:SHOWN_CHARACTERS]


def histogram(values: Numbers, weights: Numbers, units: Sequence[float]) -> Bins:
    """Return bins of equal width, with the sum of the weights of the values in each.

    A bin begins with its first number and ends before its second, the last one with it. Where all
    values are multiples of one of the units, so are the bins, of which the last may end later: each
    has the same number of possible values.
    """
    values = values.astype(np.float64)
    low, high = values.min().item(), values.max().item()
    span = high - low
    if not math.isfinite(span):
        return ()
    units = units if max(-low, high) < _WHOLE_BELOW else ()
    unit = next((u for u in units if not (values % u).any()), 0.0)
    most = min(BINS, len(values))
    step = math.ceil((span / unit + 1) / most) * unit if unit else span / most
    if step == 0:
        return ((low, high, round(weights.sum())),)
    count = int(span / step) + 1 if unit else most
    places = np.minimum((values - low) / step, count - 1).astype(np.int64)
    sums = np.bincount(places, weights, count).tolist()
    edges = [low + step * number for number in range(count + 1)]
    if not unit:
        edges[-1] = high
    return tuple((edges[i], edges[i + 1], round(sums[i])) for i in range(count))


def _times_of(cells: Sequence[str], low: str, high: str) -> Numbers | None:
    """Return seconds since 1970 of each cell; None where one spells no date as ISO 8601 does."""
    if not (_DATE.fullmatch(low) and _DATE.fullmatch(high)):
        return None
    if not all(map(_DATE.fullmatch, cells)):
        return None
    try:
        return np.array([_seconds(cell) for cell in cells], np.float64)
    except ValueError:
        return None


def _seconds(cell: str) -> float:
    found = datetime.fromisoformat(cell)
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()


def _frequent(counts: Mapping[str, int], rows: int, at_least: int) -> tuple[tuple[str, float], ...]:
    often = ((-count, cell) for cell, count in counts.items() if count >= at_least)
    return tuple((cell[:SHOWN_CHARACTERS], -n / rows) for n, cell in nsmallest(FREQUENT, often))
