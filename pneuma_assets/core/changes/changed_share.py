"""Which share of a table's rows changed between two states of it.

What is estimated is the least number of rows that have to be inserted, deleted or updated to make
the one state of the other, as a share of the rows before: with A rows before, B now, and m that
both have (a row that occurs twice is two), `(max(A, B) - m) / A`. So an update counts once, not as
a deletion and an insertion.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from pneuma_assets.core.changes.sketch import Hashes, TableSketch


class Measure(StrEnum):
    """What a share was measured by; the earlier is believed before the later."""

    SKETCH = "sketch"
    """A sample of all rows of both states; exact for tables of few rows."""
    ROWS = "rows"
    """The number of rows alone: updates are not seen."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How many rows a table has at one time, and a sample of them; None where not all were read."""

    rows: int
    sketch: TableSketch | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """Which share of a table's rows before changed; more than 1 where many were added."""

    share: float
    measured_by: Measure


def measured(before: Extent, now: Extent) -> Change:
    """Return the share of rows that changed, never less than by their number, which is exact."""
    by_rows = _share(abs(now.rows - before.rows), before.rows)
    if before.sketch is not None and now.sketch is not None:
        most, fewest = sorted((before.sketch.rows, now.sketch.rows), reverse=True)
        in_both = min(shared_share(before.sketch, now.sketch) * (most + fewest) / 2, fewest)
        changed = _share(most - in_both, before.sketch.rows)
        return Change(max(by_rows, changed), Measure.SKETCH)
    return Change(by_rows, Measure.ROWS)


def shared_share(one: TableSketch, other: TableSketch) -> float:
    """Return which share of the rows of two tables both have, from 0 to 1; of no rows at all, 1.

    That is `2m / (A + B)`: 1 for copies. It is exact where both tables have no more than
    `ROWS_KEPT` different rows; else its standard error is `sqrt(s * (1 - s) / ROWS_KEPT)`, about,
    so nothing where they have all rows in common, and 0.016 at most.
    """
    limit = min(one.limit, other.limit)
    mine, my_counts = _below(one, limit)
    theirs, their_counts = _below(other, limit)
    _, at, there = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
    in_both = int(np.minimum(my_counts[at], their_counts[there]).sum())
    seen = int(my_counts.sum()) + int(their_counts.sum())
    return 2 * in_both / seen if seen else 1.0


def _below(sketch: TableSketch, limit: int) -> tuple[Hashes, Hashes]:
    hashes = np.array(sketch.hashes, np.uint64)
    kept = int(np.searchsorted(hashes, np.uint64(limit)))
    return hashes[:kept], np.array(sketch.counts[:kept], np.uint64)


def _share(changed: float, before: int) -> float:
    """Return a share of the rows before; of none, as if there had been one."""
    return changed / max(1, before)
