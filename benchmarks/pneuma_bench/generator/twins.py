"""Which tables of a set hold the same rows under other names of their columns.

A near copy whose columns somebody renamed contains all columns and values that a query names
(Pneuma, section 6.1.3), and no name tells so: columns are paired by what stands in them, and
whether the paired ones say enough to tell a copy is decided as for a lake's copies
(`core/relations/copies.py`).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

import numpy as np

from pneuma_assets.core.relations.copies import ROWS_IN_COMMON, is_copy, overlap
from pneuma_assets.core.relations.fingerprints import (
    LOWEST_KEPT,
    Cells,
    Fingerprint,
    cell_hashes,
    row_keys,
)
from pneuma_bench.generator.numbers import counts_rows
from pneuma_bench.generator.subjects import Subject

_KEY_COLUMNS, _KEYS = 4, 4
"""Columns of the most different cells, and of each the lowest hashes, by which a table is found."""
_MOST_COMPARED = 24
"""Tables of one key with which a table is compared, the first ones of about as many rows."""
_CELLS_IN_COMMON = 0.5
"""Of the different cells of two columns, the share that both have if these may be one column: less
than of rows, since the rows that differ may be the ones with rare cells."""

_LEAST_PAIRED = 3
"""Columns that must hold the same, or all of a narrower table: of two alone, the numbers of plots
and the numbers of points are alike by chance."""


class Held:
    """The cells of a table as hashes, of shape (columns, rows)."""

    def __init__(self, subject: Subject) -> None:
        """Hash a table's cells."""
        self.subject = subject
        width = len(subject.columns)
        self.cells: Cells = np.zeros((width, len(subject.rows)), np.uint32)
        for at in range(width):
            texts = [None if row[at] is None else str(row[at]) for row in subject.rows]
            self.cells[at] = cell_hashes(texts)
        self.different = [np.unique(column) for column in self.cells]

    @cached_property
    def order(self) -> Sequence[int]:
        """The columns that do not just number the rows, those of the most different cells first."""
        columns = [at for at in range(len(self.cells)) if not counts_rows(self.subject, at)]
        return sorted(columns, key=lambda at: (-len(self.different[at]), at))

    def rows_of(self, columns: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        """Return hashes of the different rows of these columns, ascending."""
        return np.unique(row_keys(self.cells[list(columns)]))

    def keys(self) -> Iterator[int]:
        """Yield by what a table of the same cells is found."""
        for at in self.order[:_KEY_COLUMNS]:
            yield from self.different[at][:_KEYS].tolist()


class Twins:
    """Finds the tables that hold a table's rows, whatever their columns are called."""

    def __init__(self, subjects: Sequence[Subject]) -> None:
        """Take all tables of a set."""
        self._held = [Held(one) for one in subjects]
        self._places = {one.table_id: place for place, one in enumerate(subjects)}
        self._by_key: dict[int, list[int]] = defaultdict(list)
        for place, one in enumerate(self._held):
            for key in dict.fromkeys(one.keys()):
                self._by_key[key].append(place)
        self._known: dict[int, Mapping[int, Mapping[int, int]]] = {}

    def of(self, subject: Subject) -> Mapping[int, Mapping[int, int]]:
        """Return the tables' places in the set, each with where the subject's columns are in it."""
        place = self._places[subject.table_id]
        if place not in self._known:
            pairs = ((other, self._paired(place, other)) for other in self._beside(place))
            self._known[place] = {other: found for other, found in pairs if found}
        return self._known[place]

    def rows_shared(
        self, subject: Subject, other: int, columns: Mapping[int, int]
    ) -> tuple[int, float]:
        """Return how many different rows the smaller one has, and the share that both have.

        Args:
            subject: A table of the set.
            other: The place of another one.
            columns: Which of them are looked at, each with where it is in the other.
        """
        mine = self._held[self._places[subject.table_id]].rows_of([*columns])
        theirs = self._held[other].rows_of([*columns.values()])
        fewer = min(len(mine), len(theirs))
        both = len(np.intersect1d(mine, theirs, assume_unique=True))
        return fewer, both / fewer if fewer else 0.0

    def _beside(self, place: int) -> Sequence[int]:
        mine = self._held[place]
        rows = len(mine.subject.rows)
        found: dict[int, None] = {}
        for key in dict.fromkeys(mine.keys()):
            fit = (one for one in self._by_key[key] if one != place)
            sizes = ((one, len(self._held[one].subject.rows)) for one in fit)
            alike = (one for one, n in sizes if min(n, rows) >= ROWS_IN_COMMON * max(n, rows))
            found.update(dict.fromkeys(islice(alike, _MOST_COMPARED)))
        return sorted(found)

    def _paired(self, place: int, there: int) -> Mapping[int, int]:
        """Return which columns of two tables hold the same; none where too little is the same."""
        one, other = self._held[place], self._held[there]
        mine: list[int] = []
        theirs: list[int] = []
        for at in one.order:
            for to in _alike(one, other, at):
                if to in theirs:
                    continue
                rows = one.rows_of([*mine, at]), other.rows_of([*theirs, to])
                if overlap(*rows, whole=(True, True)) >= ROWS_IN_COMMON:
                    mine.append(at)
                    theirs.append(to)
                    break
        if len(mine) < min(_LEAST_PAIRED, len(one.order), len(other.order)):
            return {}
        same = is_copy(_fingerprint(one, mine), _fingerprint(other, theirs), related=False)
        return dict(zip(mine, theirs, strict=True)) if same else {}


def _alike(one: Held, other: Held, at: int) -> Sequence[int]:
    """Return the other's columns that may be this one, the likeliest first."""
    name, numeric = one.subject.columns[at].casefold(), one.subject.numeric[at]
    found = []
    for to in other.order:
        if other.subject.numeric[to] is numeric:
            share = overlap(one.different[at], other.different[to], whole=(True, True))
            if share >= _CELLS_IN_COMMON:
                found.append((other.subject.columns[to].casefold() != name, -share, to))
    return [to for *_, to in sorted(found)]


def _fingerprint(held: Held, columns: Sequence[int]) -> Fingerprint:
    """Return the fingerprint of some columns, named by their places among these."""
    rows = held.rows_of(columns)
    names = np.arange(len(columns), dtype=np.uint64)
    cells = held.cells[list(columns)]
    lowest = rows[:LOWEST_KEPT]
    return Fingerprint(cells.shape[1], names, lowest, len(lowest) == len(rows), cells)
