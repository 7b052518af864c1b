"""Whether one table is a copy of another, by their columns and rows."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np

from pneuma_assets.core.copies.fingerprint import Cells, Fingerprint, row_keys
from pneuma_assets.core.terms.distinct import Hashes

ROWS_IN_COMMON = 0.8
"""Of all rows of two tables, the share that both have, from which on one is a copy of the other; of
two versions between which a tenth of the rows was written anew it is 0.82. The same holds for drawn
rows: tables that were not made from one another have hardly any of these in common."""

CONTAINED = 0.9
"""Of the rows of a table whose name says that it is a sample or an old version, the share that the
table has whose name is the rest."""

WIDE = 10
"""Columns in common, all with the same cells, beside which another column is no news. Of fewer it
may be what the table is about: the gross product of the same countries and years."""

_MORE_COLUMNS = 0.1
_LEAST_COMPARED = 8
"""Rows by which it can be told that one table contains another."""
_LEAST_COLUMNS, _LEAST_DIFFERENT, _LEAST_ROWS = 2, 12, 0.5
"""Columns, different drawn cells, and share of different rows among the drawn ones, of tables that
can be compared at all: the numbers from 1 to 10, or a few answers and their codes, are alike by
chance. Others are copies where all is the same, and they bear one name."""


def overlap(one: Hashes, other: Hashes, whole: tuple[bool, bool]) -> float:
    """Return the share of all elements of two sets that both have (Jaccard), from 0 to 1.

    Args:
        one: The lowest hashes of a set, ascending.
        other: Those of the other set.
        whole: Of each, whether these are the hashes of all its elements.

    Of sets of which only the lowest are known, those are compared that are not above the lower of
    both limits: they are a uniform sample of the union (Cohen and Kaplan, PODC 2007).
    """
    limits = [
        int(hashes[-1])
        for hashes, is_whole in zip((one, other), whole, strict=True)
        if len(hashes) and not is_whole
    ]
    if limits:
        one, other = (hashes[hashes <= np.uint64(min(limits))] for hashes in (one, other))
    both = len(np.intersect1d(one, other, assume_unique=True))
    either = len(one) + len(other) - both
    return both / either if either else 0.0


def contained(one: Fingerprint, other: Fingerprint) -> float:
    """Return the share of a table's rows that the other has; 0 where too few can be compared."""
    mine = one.lowest
    if not other.whole and len(other.lowest):
        mine = mine[mine <= other.lowest[-1]]
    if len(mine) < min(_LEAST_COMPARED, max(1, one.rows)) or not len(other.lowest):
        return 0.0
    return len(np.intersect1d(mine, other.lowest, assume_unique=True)) / len(mine)


def may_be_copy(columns: Set[int], others: Set[int]) -> bool:
    """Tell whether two tables have so many columns in common that their rows are to be compared."""
    both = len(columns & others)
    only = len(columns) - both, len(others) - both
    return only == (1, 1) or (
        not all(only) and both > 0 and sum(only) <= max(1, _MORE_COLUMNS * both)
    )


def is_copy(one: Fingerprint, other: Fingerprint, *, related: bool) -> bool:
    """Tell whether two tables are one and the same, but for some rows or a column.

    Args:
        one: The table that would be the copy.
        other: The one it would be a copy of.
        related: Whether they bear one name, but for what marks a copy (`names.plain_name`).
    """
    if not one.rows or not other.rows:
        return False  # columns alone are a form that many may fill in
    paired = _paired(one, other, related=related)
    if paired is None:
        return False
    mine, theirs = one.cells[paired.mine], other.cells[paired.theirs]
    if not related:  # most pairs are neither related nor alike, so this is what has to be fast
        return _same_rows(one, other, paired) and _say_enough(mine)
    if not _say_enough(mine):
        same_size = one.rows == other.rows and mine.shape == theirs.shape
        return same_size and bool((mine == theirs).all())
    if paired.all and contained(one, other) >= CONTAINED:
        return True
    return _same_rows(one, other, paired)


@dataclass(frozen=True, slots=True)
class _Paired:
    """Columns of two tables that are the same, and whether these are all of both."""

    mine: Sequence[int]
    theirs: Sequence[int]
    all: bool


def _paired(one: Fingerprint, other: Fingerprint, *, related: bool) -> _Paired | None:
    """Return which columns are to be compared; None where two tables differ in too many.

    One that only one of them has may have been renamed, which its cells will tell.
    """
    places = {name: place for place, name in enumerate(other.columns.tolist())}
    names = one.columns.tolist()
    mine = [place for place, name in enumerate(names) if name in places]
    theirs = [places[names[place]] for place in mine]
    mine_only = [place for place, name in enumerate(names) if name not in places]
    theirs_only = sorted({*places.values()} - {*theirs})
    if len(mine_only) == len(theirs_only) == 1:
        mine, theirs, mine_only, theirs_only = mine + mine_only, theirs + theirs_only, [], []
    if not (mine_only or theirs_only):
        return _Paired(mine, theirs, all=True)
    if not may_be_copy({*names}, {*places}):
        return None
    return _Paired(mine, theirs, all=False) if related or len(mine) >= WIDE else None


def _same_rows(one: Fingerprint, other: Fingerprint, paired: _Paired) -> bool:
    """Tell whether most rows are in both, of all rows or of those that were drawn."""
    if min(one.rows, other.rows) < ROWS_IN_COMMON * max(one.rows, other.rows):
        return False
    whole = (one.whole, other.whole)
    if paired.all and overlap(one.lowest, other.lowest, whole) >= ROWS_IN_COMMON:
        return True
    mine, theirs = one.cells[paired.mine], other.cells[paired.theirs]
    return not _column_differs(mine, theirs) and _same_drawn(mine, theirs)


def _column_differs(mine: Cells, theirs: Cells) -> bool:
    """Tell whether in one column alone more cells differ than drawn rows may, which is soon seen.

    Each different cell that only one of two tables has is in a row that only this one has. Of `m`
    rows that both have, `ROWS_IN_COMMON` of all allows `m / ROWS_IN_COMMON - m` others.
    """
    most = min(mine.shape[1], theirs.shape[1]) * (1 / ROWS_IN_COMMON - 1)
    return any(
        len({*some.tolist()} ^ {*others.tolist()}) > most
        for some, others in zip(mine, theirs, strict=True)
    )


def _say_enough(cells: Cells) -> bool:
    if len(cells) < _LEAST_COLUMNS or len(np.unique(cells)) < _LEAST_DIFFERENT:
        return False
    return bool(len(np.unique(row_keys(cells))) >= _LEAST_ROWS * cells.shape[1])


def _same_drawn(mine: Cells, theirs: Cells) -> bool:
    """Tell whether most drawn rows are in both."""
    if not mine.size or not theirs.size:
        return False
    keys = np.unique(row_keys(mine)), np.unique(row_keys(theirs))
    return overlap(*keys, whole=(True, True)) >= ROWS_IN_COMMON
