"""Questions that several tables answer, each by itself, with their cells (Octopus, section 6.1).

A question comes with the query that it was made of. That is read anew, its equality of texts is
taken for one in any capitals, and it is run on every table that has columns of its names. Whatever
gives a result answers, and the result is what a right answer consists of.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import duckdb

from pneuma_assets.core.lineage.parse import UnreadableSQLError
from pneuma_assets.core.progress import report
from pneuma_assets.core.text.safe import well_formed
from pneuma_bench.discovery.records import DiscoveryQuestion
from pneuma_bench.generator.executing import Rows, Workbench, is_nothing
from pneuma_bench.generator.queries import ALIKE, Condition, SqlQuery, Subject, subjects_of
from pneuma_bench.generator.reading_back import names_in, read_made
from pneuma_bench.sets import RetrievalSet

MOST_ROWS = 1_000
"""Of the result of one table; where there are more, the question asks for a list, not for cells."""
_MOST_BYTES = 1_000_000
"""Of all cells of a question, as JSON."""

NO_SQL = "it has no SQL that it was made of"
UNREAD = "its SQL is none of the template"
NOTHING = "no table answers it"
CUT = "its LIMIT takes some of several equal rows"
LARGE = "its cells are too many, or too long"


class Independent(NamedTuple):
    """The benchmark that was made of questions.

    Attributes:
        kept: The questions that a table answers.
        left_out: How many others there are for each reason.
        more: How many kept ones have a table that their file did not name.
        fewer: How many of them have not one that it named.
    """

    kept: Sequence[DiscoveryQuestion]
    left_out: Mapping[str, int]
    more: int
    fewer: int

    @property
    def tables(self) -> dict[int, int]:
        """How many questions so many tables answer (Figure 4 there)."""
        return dict(sorted(Counter(len(one.tables) for one in self.kept).items()))


def independent_benchmark(
    dataset: RetrievalSet, asked: Sequence[DiscoveryQuestion], most_rows: int = MOST_ROWS
) -> Independent:
    """Run the query of each question on every table that has its columns.

    The SQL stands in `made` of a question, as the generator writes it; one that a table answers
    with more than `most_rows` rows is left out.

    Raises:
        BenchmarkError: A table does not fit into memory.
    """
    kept: list[DiscoveryQuestion] = []
    left_out: Counter[str] = Counter()
    more = fewer = 0
    with Workbench() as bench:
        candidates = _Candidates(dataset, bench, most_rows)
        for done, one in enumerate(asked, start=1):
            try:
                found = candidates.answers(one)
            except _LeftOutError as why:
                left_out[str(why)] += 1
            else:
                more += not set(one.tables).issuperset(found)
                fewer += not set(found).issuperset(one.tables)
                cells = [{"tables": [table], "rows": rows} for table, rows in found.items()]
                kept.append(replace(one, tables=tuple(found), cells=cells))
            report("running queries on all tables", done, len(asked))
    return Independent(kept, dict(left_out.most_common()), more, fewer)


class _LeftOutError(Exception):
    """A question is none of the benchmark; the message says why."""


class _Candidates:
    """The tables of a set, by the names of their columns."""

    def __init__(self, dataset: RetrievalSet, bench: Workbench, most_rows: int) -> None:
        self._dataset, self._bench, self._most_rows = dataset, bench, most_rows
        self._subjects = subjects_of(dataset)
        self._having: dict[str, set[int]] = defaultdict(set)
        for place, subject in enumerate(self._subjects):
            for name in subject.columns:
                self._having[name.casefold()].add(place)

    def answers(self, asked: DiscoveryQuestion) -> dict[str, Rows]:
        """Return the result of each table that gives one, those first that the file named."""
        sql = (asked.more.get("made") or {}).get("sql")
        if not isinstance(sql, str):
            raise _LeftOutError(NO_SQL)
        sql = well_formed(sql)
        try:
            names = [name.casefold() for name in names_in(sql)]
        except UnreadableSQLError:
            names = []
        if not names:
            raise _LeftOutError(UNREAD)
        places = sorted(set.intersection(*(self._having.get(name, set()) for name in names)))
        subjects = [self._subjects[place] for place in places]
        given = [(self._dataset.spelled(one.table_id), self._rows(sql, one)) for one in subjects]
        found = {table: rows for table, rows in given if rows}
        if not found:
            unread = given and all(rows is None for _, rows in given)
            raise _LeftOutError(UNREAD if unread else NOTHING)
        if len(json.dumps([*found.values()])) > _MOST_BYTES:
            raise _LeftOutError(LARGE)
        named = [table for table in asked.tables if table in found]
        return {table: found[table] for table in [*named, *found]}

    def _rows(self, sql: str, subject: Subject) -> Rows | None:
        """Return what a table gives; nothing where it cannot, None where nobody can ask that."""
        try:
            query = _in_any_capitals(read_made(sql, subject), subject)
            rows = [] if query is None else self._bench.rows(subject, query)
        except (UnreadableSQLError, duckdb.BinderException):
            return None
        if query is None or is_nothing(rows):
            return []
        if self._bench.cuts_equal_rows(subject, query):
            raise _LeftOutError(CUT)
        if len(rows) > self._most_rows:
            raise _LeftOutError(LARGE)
        return rows


def _in_any_capitals(query: SqlQuery, subject: Subject) -> SqlQuery | None:
    """Return a query whose equality of texts is one in any capitals.

    None where the table cannot answer it: it has texts where the query has a range or an aggregate
    of numbers, or numbers where the query has a text.
    """
    conditions = [_condition(one, subject) for one in query.conditions]
    fit = [one for one in conditions if one is not None]
    aggregated = [one.column for one in query.select if one.aggregate]
    if len(fit) < len(conditions) or not all(subject.numeric[column] for column in aggregated):
        return None
    having = fit.pop() if query.having else None
    return replace(query, where=tuple(fit), having=having)


def _condition(one: Condition, subject: Subject) -> Condition | None:
    if subject.numeric[one.of.column]:
        return None if any(isinstance(value, str) for value in one.values) else one
    if one.of.aggregate or one.operator != "=":
        return None
    return replace(one, operator=ALIKE, value=str(one.value))
