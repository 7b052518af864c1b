"""Finds the tables that answer a query, copies among them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pneuma_assets.core.relations.copies import KnownTable, find_copies
from pneuma_assets.core.relations.fingerprints import fingerprint_of
from pneuma_assets.core.terms.collect import collect_rows
from pneuma_bench.generator.executing import Workbench, is_nothing
from pneuma_bench.generator.queries import Condition, Selected, SqlQuery, Subject
from pneuma_bench.generator.wording import words_of
from pneuma_bench.sets import RetrievalSet

Places = Mapping[int, int]
"""Columns of a table, each with where it is in another one."""
_LEAST_ROWS = 12
"""Different rows by which columns of other names are the same; fewer may be so by chance."""


class Annotator:
    """Looks where the query's columns and values are, and runs the query there.

    The paper's authors look for tables with all the columns and, of conditions that a value is
    equal, for one row with all the values. To run the query there says the same, and more: ranges
    count, too, if what they name lies within what the column holds. Columns are the same if they
    are called the same, in the words of the question, or hold the same; a copy answers whatever
    its columns are called.

    Args:
        subjects: The tables.
        bench: Runs queries.
        copies: Of tables, the others that are copies of them.
        described: Whether questions call columns by what people wrote about them.
    """

    def __init__(
        self,
        subjects: Sequence[Subject],
        bench: Workbench,
        copies: Mapping[str, Sequence[str]],
        *,
        described: bool = False,
    ) -> None:
        self._subjects, self._bench, self._described = subjects, bench, described
        self._copies = copies
        self._having: dict[str, set[int]] = defaultdict(set)
        self._holding: dict[int, dict[int, int]] = defaultdict(dict)
        for place, subject in enumerate(subjects):
            for at, name in enumerate(subject.columns):
                self._having[_folded(name)].add(place)
                self._holding[_cells(subject, at)].setdefault(place, at)

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
        own = subject.table_id
        return tuple(dict.fromkeys((own, *self._copies.get(own, ()), *found)))

    def _elsewhere(self, query: SqlQuery, subject: Subject) -> Iterator[tuple[Subject, SqlQuery]]:
        """Yield the other tables with such columns, and the query as it is asked of them."""
        columns = query.columns
        if len({tuple(row[at] for at in columns) for row in subject.rows}) >= _LEAST_ROWS:
            held = [self._holding[_cells(subject, at)] for at in columns]
            for place in sorted(set.intersection(*map(set, held))):
                if (other := self._subjects[place]) is not subject:
                    same = {at: there[place] for at, there in zip(columns, held, strict=True)}
                    yield other, _moved(query, same)
        names = [_folded(subject.columns[at]) for at in columns]
        for place in sorted(set.intersection(*(self._having[name] for name in names))):
            other = self._subjects[place]
            there = {_folded(name): at for at, name in reversed([*enumerate(other.columns)])}
            found = {at: there[_folded(subject.columns[at])] for at in columns}
            if other is not subject and all(
                subject.numeric[at] is other.numeric[to]
                and (not self._described or _called_alike(subject, at, other, to))
                for at, to in found.items()
            ):
                yield other, _moved(query, found)


def _cells(subject: Subject, column: int) -> int:
    """Return a number for what a column holds, in whatever order."""
    return hash(frozenset(Counter(subject.values(column)).items()))


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


def copies_of(dataset: RetrievalSet) -> dict[str, tuple[str, ...]]:
    """Return by table the others that are copies of it, or of the same original."""
    known = []
    for table, rows in dataset.tables:
        gathered = collect_rows(rows, len(table.columns), 0)
        fingerprint = fingerprint_of(table, gathered.terms, gathered.sketch)
        known.append(KnownTable(table.table_id, fingerprint))
    originals = find_copies(known)
    alike: dict[str, list[str]] = defaultdict(list)
    for table, _ in dataset.tables:
        alike[originals.get(table.table_id, table.table_id)].append(table.table_id)
    return {
        one: tuple(other for other in some if other != one)
        for some in alike.values()
        if len(some) > 1
        for one in some
    }
