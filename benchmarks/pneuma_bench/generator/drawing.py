"""Draws queries by chance, of what people would ask (Pneuma, section 6.1.1).

How probable each part is, is as in the authors' code.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from pneuma_bench.generator.queries import (
    BETWEEN,
    Condition,
    Order,
    Selected,
    SqlQuery,
    Subject,
    Value,
    aggregates_of,
    counts_rows,
    is_flag,
)
from pneuma_bench.generator.wording import meaning_of, words_of

RANGES = (">", "<", BETWEEN)
_AGGREGATE, _GROUPED, _HAVING, _SECOND, _ORDERED = 0.5, 0.2, 0.8, 0.5, 0.2
"""Of an aggregate in place of plain columns, where a column has numbers; of a grouped one among
these, where one has texts; of a condition on groups; of a second aggregate or plain column; of an
order and a limit among plain ones, where a column has numbers."""
_PLAIN, _OTHER = (0.0, 0.5, 0.5), (0.1, 0.45, 0.45)
"""Of no, one or two conditions where there is neither aggregate nor order, and else."""
_LIMITS = (3, 5)
_MOST_COLUMNS, _FIRST_COLUMNS = 50, 5
"""Of a table with more, so many are used: the first ones, and others by chance."""
_LONGEST_CELL = 200
"""Characters of a text that is asked for by its value; nobody types more."""
_ROWS_SHOWN = 10
_LARGE = 10_000
"""From which on a whole number is asked for with three digits, too."""
_FEW = 50
"""Different numbers of a column, up to which one of them may be asked for by its digits."""
_NUMBERED = re.compile(r"(?:[a-z]{1,2}|var|col|column|field|unnamed)[\W_]*\d+", re.IGNORECASE)
"""Names that nobody gave: `V1`, `Unnamed: 0`."""


@lru_cache(64)
def _usable_columns(subject: Subject) -> Sequence[int]:
    """Return the columns that people could name, and that do not just number the rows.

    None is called as another one of the table is, by its name or by what people wrote about it,
    capitals and spaces aside: "the x where the x is 4" has no answer.
    """
    places = range(len(subject.columns))
    by_name, by_meaning = (
        [words_of(subject, at, described=described) for at in places] for described in (False, True)
    )
    told = {*places}
    for called in (subject.columns, by_name, by_meaning):
        folded = [" ".join(one.split()).casefold() for one in called]
        often = Counter(folded)
        told -= {at for at in places if often[folded[at]] > 1}
    return [
        at for at in sorted(told)
        if (name := subject.columns[at].strip())
        and (not _NUMBERED.fullmatch(name) or meaning_of(subject, at))
        and not counts_rows(subject, at)
    ]  # fmt: skip


def draw_query(subject: Subject, chance: Random) -> SqlQuery | None:
    """Fill the template for a table; None where it has no rows or no usable column.

    Whether the query says anything is not looked at (`executing`).
    """
    columns = _usable_columns(subject)
    if not columns or not subject.rows:
        return None
    if len(columns) > _MOST_COLUMNS:
        others = chance.sample(columns[_FIRST_COLUMNS:], _MOST_COLUMNS - _FIRST_COLUMNS)
        columns = [*columns[:_FIRST_COLUMNS], *sorted(others)]
    numbers = [at for at in columns if subject.numeric[at]]
    texts = [at for at in columns if not subject.numeric[at]]
    rows = chance.sample(subject.rows, min(_ROWS_SHOWN, len(subject.rows)))
    drawing = _Drawing(subject, chance, numbers, texts, rows)
    several = [at for at in numbers if not is_flag(subject, at)]
    if several and chance.random() < _AGGREGATE:
        return drawing.aggregated(several)
    return drawing.plain()


@dataclass(frozen=True, slots=True)
class _Drawing:
    """What a query is drawn from: columns of numbers and of texts, and a few rows."""

    subject: Subject
    chance: Random
    numbers: Sequence[int]
    texts: Sequence[int]
    rows: Sequence[tuple[Value | None, ...]]

    def aggregated(self, numbers: Sequence[int]) -> SqlQuery:
        chance, group, having = self.chance, None, None
        first = self._aggregate(numbers)
        select: tuple[Selected, ...] = (first,)
        if self.texts and chance.random() < _GROUPED:
            group = chance.choice(self.texts)
            select = (Selected(group), first)
            if chance.random() < _HAVING:
                having = self._range(first)
        elif chance.random() < _SECOND:
            others = [at for at in numbers if at != first.column]
            select = (first, *([self._aggregate(others)] if others else []))
        return SqlQuery(select, self._conditions(select, _OTHER), group, having)

    def plain(self) -> SqlQuery:
        chance, every, order = self.chance, [*self.numbers, *self.texts], None
        wanted = 1 + (chance.random() < _SECOND and len(every) > 1)
        select = tuple(Selected(at) for at in sorted(chance.sample(every, wanted)))
        if self.numbers and chance.random() < _ORDERED:
            by, descending = chance.choice(self.numbers), chance.random() < 0.5
            order = Order(by, descending, chance.choice(_LIMITS))
        conditions = self._conditions(select, _PLAIN if order is None else _OTHER)
        return SqlQuery(select, conditions, order=order)

    def _aggregate(self, numbers: Sequence[int]) -> Selected:
        """Return an aggregate that says something of one of these columns."""
        column = self.chance.choice(numbers)
        return Selected(column, self.chance.choice(aggregates_of(self.subject, column)))

    def _conditions(
        self, select: Sequence[Selected], shares: Sequence[float]
    ) -> tuple[Condition, ...]:
        """Return conditions on columns that are not asked for; all equal values are of one row.

        There is none on a column that is the same in every row.
        """
        chance = self.chance
        (wanted,) = chance.choices(range(len(shares)), shares)
        selected = {one.column for one in select}
        every = (at for at in (*self.numbers, *self.texts) if at not in selected)
        free = [at for at in every if len({*self.subject.values(at)}) > 1]
        columns = sorted(chance.sample(free, min(wanted, len(free))))
        operators = {at: chance.choice(self._operators(at)) for at in columns}
        equal = [at for at in columns if operators[at] == "="]
        fitting = [row for row in self.rows if all(_askable(row[at]) for at in equal)]
        if not fitting:
            return ()
        row, found = chance.choice(fitting), []
        for at in columns:
            if operators[at] != "=":
                found.append(self._range(Selected(at), operators[at]))
            elif (value := row[at]) is not None:
                found.append(Condition(Selected(at), "=", value))
        return tuple(found)

    def _operators(self, column: int) -> Sequence[str]:
        if not self.subject.numeric[column] or is_flag(self.subject, column):
            return ("=",)
        return ("=", *RANGES) if len({*self.subject.values(column)}) <= _FEW else RANGES

    def _range(self, of: Selected, operator: str = "") -> Condition:
        """Return a condition whose values lie between the least and the greatest of the column."""
        chance, known = self.chance, self.subject.values(of.column)
        numbers = [one for one in known if isinstance(one, int | float)]
        operator = operator or chance.choice(RANGES)
        drawn = (chance.uniform(min(numbers), max(numbers)) for _ in range(2))
        ends = sorted(_rounded(value, numbers) for value in drawn)
        if operator == BETWEEN and ends[0] < ends[1]:
            return Condition(of, operator, ends[0], ends[1])
        return Condition(of, chance.choice("<>") if operator == BETWEEN else operator, ends[0])


def _askable(value: Value | None) -> bool:
    return value is not None and len(str(value)) <= _LONGEST_CELL


def _rounded(value: float, numbers: Sequence[float]) -> float | int:
    """Return a value that a person would type: a year is whole, others have three digits."""
    short = float(f"{value:.3g}")
    if not all(isinstance(one, int) for one in numbers):
        return short
    return round(value) if abs(value) < _LARGE else round(short)
