"""Finds every table of a set that answers a query (Pneuma, section 6.1.3)."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pneuma_assets.core.bench.generator.executing import Workbench
from pneuma_assets.core.bench.generator.queries import Condition, Selected, SqlQuery
from pneuma_assets.core.bench.generator.subjects import Subject


class Annotator:
    """Looks where columns of the same names are, and runs the query there.

    The paper's authors look for tables with all the columns and, of conditions that a value is
    equal, for one row with all the values. To run the query there says the same, and more: ranges
    count, too.
    """

    def __init__(self, subjects: Sequence[Subject], bench: Workbench) -> None:
        """Take the tables that may answer."""
        self._bench = bench
        self._subjects = subjects
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
        others = self.elsewhere(query, subject)
        found = [other.table_id for other, moved in others if self._bench.answers(other, moved)]
        return (subject.table_id, *found)

    def elsewhere(self, query: SqlQuery, subject: Subject) -> Iterator[tuple[Subject, SqlQuery]]:
        """Yield the other tables with such columns, and the query as it is asked of them."""
        names = [_folded(subject.columns[at]) for at in query.columns]
        places = set.intersection(*(self._having[name] for name in names))
        for place in sorted(places):
            other = self._subjects[place]
            theirs = _columns_there(query, subject, other)
            if other.table_id != subject.table_id and theirs is not None:
                yield other, _moved(query, theirs)


def _columns_there(query: SqlQuery, subject: Subject, other: Subject) -> dict[int, int] | None:
    """Return where the query's columns are in another table; None if one is of another type."""
    places = {_folded(name): at for at, name in reversed([*enumerate(other.columns)])}
    found = {at: places[_folded(subject.columns[at])] for at in query.columns}
    alike = all(subject.numeric[at] is other.numeric[there] for at, there in found.items())
    return found if alike else None


def _moved(query: SqlQuery, to: dict[int, int]) -> SqlQuery:
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
