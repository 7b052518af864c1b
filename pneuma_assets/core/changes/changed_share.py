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
from pneuma_assets.core.tables import Activity


class Measure(StrEnum):
    """What a share was measured by; the earlier is believed before the later."""

    COUNTERS = "counters"
    """What the table's engine counted as inserted, updated and deleted: all writes, so that a row
    that is written twice counts twice."""
    SKETCH = "sketch"
    """A sample of all rows of both states; exact for tables of few rows."""
    ROWS = "rows"
    """The number of rows alone: updates are not seen."""


@dataclass(frozen=True, slots=True)
class Extent:
    """What is known of all rows of a table at one time.

    Attributes:
        rows: How many there are.
        activity: What the engine had counted; None where it does not count, or began anew since.
        sketch: A sample of them; None where not all were read.
    """

    rows: int
    activity: Activity | None = None
    sketch: TableSketch | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """How much a table changed.

    Attributes:
        share: Of the rows before; more than 1 where many were added.
        measured_by: How that is known.
    """

    share: float
    measured_by: Measure


def measured(before: Extent, now: Extent) -> Change:
    """Return the share of rows that changed, by the best measure that both states have.

    Never less than by the number of rows, which is exact: some ways to empty a table are counted
    by no engine.
    """
    by_rows = _share(abs(now.rows - before.rows), before.rows)
    if before.activity is not None and now.activity is not None:
        written = writes(before.activity, now.activity)
        if written is not None:
            return Change(max(by_rows, _share(written, before.rows)), Measure.COUNTERS)
    if before.sketch is not None and now.sketch is not None:
        changed = _rows_changed(before.sketch, now.sketch)
        return Change(max(by_rows, _share(changed, before.sketch.rows)), Measure.SKETCH)
    return Change(by_rows, Measure.ROWS)


def writes(before: Activity, now: Activity) -> int | None:
    """Return how many rows were written; None where counting began anew."""
    written = (
        now.inserted - before.inserted,
        now.updated - before.updated,
        now.deleted - before.deleted,
    )
    return None if min(written) < 0 else sum(written)


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


def _rows_changed(before: TableSketch, now: TableSketch) -> float:
    total = before.rows + now.rows
    in_both = min(shared_share(before, now) * total / 2, before.rows, now.rows)
    return max(before.rows, now.rows) - in_both


def _below(sketch: TableSketch, limit: int) -> tuple[Hashes, Hashes]:
    hashes = np.array(sketch.hashes, np.uint64)
    kept = int(np.searchsorted(hashes, np.uint64(limit)))
    return hashes[:kept], np.array(sketch.counts[:kept], np.uint64)


def _share(changed: float, before: int) -> float:
    """Return a share of the rows before; of none, as if there had been one."""
    return changed / max(1, before)
