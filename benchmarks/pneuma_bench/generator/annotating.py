"""Finds every table of a set that answers a query (Pneuma, section 6.1.3)."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pneuma_bench.generator.executing import Workbench
from pneuma_bench.generator.queries import BETWEEN, Condition, Selected, SqlQuery
from pneuma_bench.generator.subjects import Subject, Value
from pneuma_bench.generator.twins import Twins
from pneuma_bench.generator.wording import words_of

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
    """

    def __init__(
        self, subjects: Sequence[Subject], bench: Workbench, *, described: bool = False
    ) -> None:
        """Take the tables that may answer.

        Args:
            subjects: The tables.
            bench: Runs queries.
            described: Whether questions call columns by what people wrote about them.
        """
        self._bench = bench
        self._subjects = subjects
        self._described = described
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
            for other, moved in self.elsewhere(query, subject)
            if _holds_ranges(other, moved) and self._bench.answers(other, moved)
        ]
        return (subject.table_id, *found)

    def elsewhere(self, query: SqlQuery, subject: Subject) -> Iterator[tuple[Subject, SqlQuery]]:
        """Yield the other tables with such columns, and the query as it is asked of them."""
        names = [_folded(subject.columns[at]) for at in query.columns]
        twins = self._twins.of(subject)
        named = set.intersection(*(self._having[name] for name in names))
        for place in sorted(named | twins.keys()):
            other = self._subjects[place]
            if other.table_id == subject.table_id:
                continue
            theirs = _of_twin(query, twins.get(place, {}))
            if theirs is None and place in named:
                theirs = _columns_there(query, subject, other)
                if theirs is not None and not self._means_the_same(subject, place, theirs):
                    theirs = None
            if theirs is not None:
                yield other, _moved(query, theirs)

    def _means_the_same(self, subject: Subject, place: int, theirs: Mapping[int, int]) -> bool:
        """Tell whether columns of one name are one thing, by what is said of them or by rows."""
        other = self._subjects[place]
        if not self._described or all(
            _called_alike(subject, at, other, theirs[at]) for at in theirs
        ):
            return True
        different, shared = self._twins.rows_shared(subject, place, theirs)
        return different >= _LEAST_ROWS and shared >= _ROWS_SHARED


def _called_alike(subject: Subject, at: int, other: Subject, there: int) -> bool:
    """Tell whether a question's word for a column is a word for the other one, too."""
    word = words_of(subject, at, described=True).casefold()
    theirs = (words_of(other, there, described=described) for described in (True, False))
    return word in (one.casefold() for one in theirs)


def _of_twin(query: SqlQuery, paired: Mapping[int, int]) -> Mapping[int, int] | None:
    """Return where the query's columns are in a table of the same rows; None if not all are."""
    if not all(at in paired for at in query.columns):
        return None
    return {at: paired[at] for at in query.columns}


def _holds_ranges(subject: Subject, query: SqlQuery) -> bool:
    """Tell whether the numbers that conditions on rows name lie within what the columns hold."""
    for one in query.where:
        if one.operator == "=":
            continue
        held = [row[one.of.column] for row in subject.rows]
        numbers = [value for value in held if isinstance(value, int | float)]
        named: list[Value] = [one.value]
        if one.operator == BETWEEN and one.second is not None:
            named.append(one.second)
        within = (isinstance(value, int | float) for value in named)
        if not numbers or not all(within):
            return False
        if not all(min(numbers) <= value <= max(numbers) for value in named):  # type: ignore[operator]
            return False
    return True


def _columns_there(query: SqlQuery, subject: Subject, other: Subject) -> Mapping[int, int] | None:
    """Return where the query's columns are in another table; None if one is of another type."""
    places = {_folded(name): at for at, name in reversed([*enumerate(other.columns)])}
    found = {at: places[_folded(subject.columns[at])] for at in query.columns}
    alike = all(subject.numeric[at] is other.numeric[there] for at, there in found.items())
    return found if alike else None


def _moved(query: SqlQuery, to: Mapping[int, int]) -> SqlQuery:
    def selected(one: Selected) -> Selected:
        return replace(one, column=to[one.column])

    def condition(one: Condition) -> Condition:
        return replace(one, of=selected(one.of))

    return SqlQuery(
        tuple(map(selected, query.select)),
        tuple(map(condition, query.where)),
        None if query.group_by is None else to[query.group_by],
        None if query.having is None else condition(query.having),
        None if query.order is None else replace(query.order, column=to[query.order.column]),
    )


def _folded(name: str) -> str:
    return " ".join(name.replace("_", " ").split()).casefold()
