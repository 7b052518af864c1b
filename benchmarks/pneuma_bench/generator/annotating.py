"""Finds the tables that answer a query, copies and twins among them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.relations.copies import ROWS_IN_COMMON, is_copy, overlap
from pneuma_assets.core.relations.fingerprints import (
    LOWEST_KEPT,
    Cells,
    Fingerprint,
    cell_hashes,
    row_keys,
)
from pneuma_bench.generator.executing import Workbench, is_nothing
from pneuma_bench.generator.queries import Condition, Selected, SqlQuery, Subject, counts_rows
from pneuma_bench.generator.wording import words_of

Places = Mapping[int, int]
"""Columns of a table, each with where it is in another one."""

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


class _Held:
    """The cells of a table as hashes, of shape (columns, rows)."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.cells: Cells = np.zeros((len(subject.columns), len(subject.rows)), np.uint32)
        for at in range(len(subject.columns)):
            texts = [None if one is None else str(one) for one in subject.values(at)]
            self.cells[at] = cell_hashes(texts)
        self.different = [np.unique(column) for column in self.cells]

    @cached_property
    def order(self) -> Sequence[int]:
        """The columns that do not just number the rows, those of the most different cells first."""
        columns = [at for at in range(len(self.cells)) if not counts_rows(self.subject, at)]
        return sorted(columns, key=lambda at: (-len(self.different[at]), at))

    @property
    def keys(self) -> Mapping[int, None]:
        """By what a table of the same cells is found."""
        columns = (self.different[at] for at in self.order[:_KEY_COLUMNS])
        return dict.fromkeys(key for column in columns for key in column[:_KEYS].tolist())

    def rows_of(self, columns: Sequence[int]) -> npt.NDArray[np.uint64]:
        """Return hashes of the different rows of these columns, ascending."""
        return np.unique(row_keys(self.cells[list(columns)]))

    def fingerprint(self, columns: Sequence[int]) -> Fingerprint:
        """Return the fingerprint of some columns, named by their places among these."""
        rows, names = self.rows_of(columns), np.arange(len(columns), dtype=np.uint64)
        cells, lowest = self.cells[list(columns)], rows[:LOWEST_KEPT]
        return Fingerprint(cells.shape[1], names, lowest, len(lowest) == len(rows), cells)


class Twins:
    """Finds the tables of a set that hold a table's rows, whatever their columns are called."""

    def __init__(self, subjects: Sequence[Subject]) -> None:
        self._held = [_Held(one) for one in subjects]
        self._places = {one.table_id: place for place, one in enumerate(subjects)}
        self._by_key: dict[int, list[int]] = defaultdict(list)
        for place, one in enumerate(self._held):
            for key in one.keys:
                self._by_key[key].append(place)
        self._known: dict[int, Mapping[int, Places]] = {}

    def of(self, subject: Subject) -> Mapping[int, Places]:
        """Return the tables' places in the set, each with where the subject's columns are in it."""
        place = self._places[subject.table_id]
        if place not in self._known:
            pairs = ((other, self._paired(place, other)) for other in self._beside(place))
            self._known[place] = {other: found for other, found in pairs if found}
        return self._known[place]

    def rows_shared(self, subject: Subject, other: int, columns: Places) -> tuple[int, float]:
        """Return how many different rows the smaller one has, and the share that both have.

        Args:
            subject: A table of the set.
            other: The place of another one.
            columns: Which of them are looked at.
        """
        mine = self._held[self._places[subject.table_id]].rows_of([*columns])
        theirs = self._held[other].rows_of([*columns.values()])
        fewer = min(len(mine), len(theirs))
        both = len(np.intersect1d(mine, theirs, assume_unique=True))
        return fewer, both / fewer if fewer else 0.0

    def _beside(self, place: int) -> Sequence[int]:
        rows = len(self._held[place].subject.rows)
        found: dict[int, None] = {}
        for key in self._held[place].keys:
            others = (one for one in self._by_key[key] if one != place)
            sizes = ((one, len(self._held[one].subject.rows)) for one in others)
            alike = (one for one, n in sizes if min(n, rows) >= ROWS_IN_COMMON * max(n, rows))
            found.update(dict.fromkeys(islice(alike, _MOST_COMPARED)))
        return sorted(found)

    def _paired(self, place: int, there: int) -> Places:
        """Return which columns of two tables hold the same; none where too little is the same."""
        one, other = self._held[place], self._held[there]
        paired: dict[int, int] = {}
        for at in one.order:
            for to in _alike(one, other, at):
                if to in paired.values():
                    continue
                rows = one.rows_of([*paired, at]), other.rows_of([*paired.values(), to])
                if overlap(*rows, whole=(True, True)) >= ROWS_IN_COMMON:
                    paired[at] = to
                    break
        if len(paired) < min(_LEAST_PAIRED, len(one.order), len(other.order)):
            return {}
        prints = one.fingerprint([*paired]), other.fingerprint([*paired.values()])
        return paired if is_copy(*prints, related=False) else {}


def _alike(one: _Held, other: _Held, at: int) -> Sequence[int]:
    """Return the other's columns that may be this one, the likeliest first."""
    name, numeric = one.subject.columns[at].casefold(), one.subject.numeric[at]
    found = []
    for to in other.order:
        if other.subject.numeric[to] is numeric:
            share = overlap(one.different[at], other.different[to], whole=(True, True))
            if share >= _CELLS_IN_COMMON:
                found.append((other.subject.columns[to].casefold() != name, -share, to))
    return [to for *_, to in sorted(found)]


_ROWS_SHARED = 0.25
"""Of the different rows of a query's columns, the share that both tables have, of those of the one
with fewer, from which on columns of one name mean the same, whatever people wrote about them. A set
may hold a sample of each table, so all of the same table's rows need not be there."""
_LEAST_ROWS = 12
"""Different rows by which that can be told; of fewer, they are alike by chance."""


class Annotator:
    """Looks where the query's columns and values are, and runs the query there.

    The paper's authors look for tables with all the columns and, of conditions that a value is
    equal, for one row with all the values. To run the query there says the same, and more: ranges
    count, too, if what they name lies within what the column holds. Columns are the same if they
    are called the same, in the words of the question; if they only bear one name and people wrote
    other things about them, or if they bear other names, their rows must be the same (`Twins`).

    Args:
        subjects: The tables.
        bench: Runs queries.
        described: Whether questions call columns by what people wrote about them.
    """

    def __init__(
        self, subjects: Sequence[Subject], bench: Workbench, *, described: bool = False
    ) -> None:
        self._subjects, self._bench, self._described = subjects, bench, described
        self._twins = Twins(subjects)
        self._having: dict[str, set[int]] = defaultdict(set)
        for place, subject in enumerate(subjects):
            for name in subject.columns:
                self._having[_folded(name)].add(place)

    def tables_that_answer(self, query: SqlQuery, subject: Subject) -> tuple[str, ...]:
        """Return the ids of all tables that answer, the one that is asked about first.

        Args:
            query: Asks for something of the subject.
            subject: Whose columns the query's positions are.
        """
        found = [
            other.table_id
            for other, moved in self._elsewhere(query, subject)
            if _holds_ranges(other, moved) and not is_nothing(self._bench.rows(other, moved))
        ]
        return (subject.table_id, *found)

    def _elsewhere(self, query: SqlQuery, subject: Subject) -> Iterator[tuple[Subject, SqlQuery]]:
        """Yield the other tables with such columns, and the query as it is asked of them."""
        names = [_folded(subject.columns[at]) for at in query.columns]
        twins = self._twins.of(subject)
        named = set.intersection(*(self._having[name] for name in names))
        for place in sorted(named | twins.keys()):
            other, paired = self._subjects[place], twins.get(place, {})
            if other.table_id == subject.table_id:
                continue
            if all(at in paired for at in query.columns):
                yield other, _moved(query, paired)
            elif place in named and (theirs := self._same_names(query, subject, place)):
                yield other, _moved(query, theirs)

    def _same_names(self, query: SqlQuery, subject: Subject, place: int) -> Places | None:
        """Return where columns of the query's names are; None if they are of another meaning.

        That is told by their type, by what is said of them, or by rows.
        """
        other = self._subjects[place]
        there = {_folded(name): at for at, name in reversed([*enumerate(other.columns)])}
        found = {at: there[_folded(subject.columns[at])] for at in query.columns}
        if any(subject.numeric[at] is not other.numeric[to] for at, to in found.items()):
            return None
        if not self._described or all(
            _called_alike(subject, at, other, to) for at, to in found.items()
        ):
            return found
        different, shared = self._twins.rows_shared(subject, place, found)
        return found if different >= _LEAST_ROWS and shared >= _ROWS_SHARED else None


def _called_alike(subject: Subject, at: int, other: Subject, there: int) -> bool:
    """Tell whether a question's word for a column is a word for the other one, too."""
    word = words_of(subject, at, described=True).casefold()
    theirs = (words_of(other, there, described=described) for described in (True, False))
    return word in (one.casefold() for one in theirs)


def _holds_ranges(subject: Subject, query: SqlQuery) -> bool:
    """Tell whether the numbers that conditions on rows name lie within what the columns hold."""
    for one in query.where:
        if one.operator == "=":
            continue
        known = [v for v in subject.values(one.of.column) if isinstance(v, int | float)]
        named = [v for v in one.values if isinstance(v, int | float)]
        if not known or len(named) < len(one.values):
            return False
        if min(named) < min(known) or max(named) > max(known):
            return False
    return True


def _moved(query: SqlQuery, to: Places) -> SqlQuery:
    def selected(one: Selected) -> Selected:
        return replace(one, column=to[one.column])

    def condition(one: Condition) -> Condition:
        return replace(one, of=selected(one.of))

    return SqlQuery(
        tuple(map(selected, query.select)),
        tuple(map(condition, query.where)),
        None if query.group_by is None else to[query.group_by],
        query.having and condition(query.having),
        query.order and replace(query.order, column=to[query.order.column]),
    )


def _folded(name: str) -> str:
    return " ".join(name.replace("_", " ").split()).casefold()
