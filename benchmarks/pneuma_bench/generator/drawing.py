"""Draws queries by chance, of what people would ask (Pneuma, section 6.1.1)."""

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
    is_constant,
    is_flag,
)
from pneuma_bench.generator.wording import meaning_of, words_of

_KEPT = 64
"""Tables whose columns are not compared again."""


def namesakes(subject: Subject) -> frozenset[int]:
    """Return the columns that are called as another one of their table is.

    Capitals and spaces make no difference. Both wordings count: by names, and by what people wrote
    about columns. "The x where the x is 4" has no answer where two columns are called x.
    """
    return _namesakes(subject.columns, tuple(sorted(subject.described.items())))


@lru_cache(_KEPT)
def _namesakes(columns: tuple[str, ...], described: tuple[tuple[int, str], ...]) -> frozenset[int]:
    subject = Subject("", columns, (False,) * len(columns), (), dict(described))
    by_name = [words_of(subject, at) for at in range(len(columns))]
    meanings = {at: meaning_of(subject, at) for at, _ in described}
    often = Counter(meanings.values())
    by_meaning = [  # as `words_of` calls them, without looking through all of them for each
        meaning if (meaning := meanings.get(at, "")) and often[meaning] == 1 else words
        for at, words in enumerate(by_name)
    ]
    return frozenset(at for called in (columns, by_name, by_meaning) for at in _repeated(called))


def _repeated(called: Sequence[str]) -> list[int]:
    folded = [" ".join(one.split()).casefold() for one in called]
    often = Counter(folded)
    return [at for at, one in enumerate(folded) if often[one] > 1]


RANGES = (">", "<", BETWEEN)
MOST_COLUMNS, FIRST_COLUMNS = 50, 5
"""Of a table with more, so many are used: the first ones, and others by chance."""
LONGEST_CELL = 200
"""Characters of a text that is asked for by its value; nobody types more."""
ROWS_SHOWN = 10
LARGE = 10_000
"""From which on a whole number is asked for with three digits, too."""
FEW = 50
"""Different numbers of a column, up to which one of them may be asked for by its digits."""
_NUMBERED = re.compile(r"(?:[a-z]{1,2}|var|col|column|field|unnamed)[\W_]*\d+", re.IGNORECASE)
"""Names that nobody gave: `V1`, `Unnamed: 0`."""


@dataclass(frozen=True, slots=True)
class Chances:
    """How probable each part of a query is, as in the authors' code.

    Attributes:
        aggregate: Of an aggregate in place of plain columns, where a column has numbers.
        group_by: Of a grouped one among these, where a column has texts.
        having: Of a condition on groups.
        second: Of a second aggregate, or of a second plain column.
        order: Of an order and a limit among plain ones, where a column has numbers.
        plain: Of no, one or two conditions where there is neither aggregate nor order.
        other: Likewise of all others.
        limits: How many rows are taken.
    """

    aggregate: float = 0.5
    group_by: float = 0.2
    having: float = 0.8
    second: float = 0.5
    order: float = 0.2
    plain: tuple[float, ...] = (0.0, 0.5, 0.5)
    other: tuple[float, ...] = (0.1, 0.45, 0.45)
    limits: tuple[int, ...] = (3, 5)


@dataclass(frozen=True, slots=True)
class _Drawing:
    """What a query is drawn from: usable columns, numeric ones first, and a few rows."""

    subject: Subject
    chances: Chances
    chance: Random
    numbers: Sequence[int]
    texts: Sequence[int]
    rows: Sequence[tuple[Value | None, ...]]


def draw_query(subject: Subject, chance: Random, chances: Chances | None = None) -> SqlQuery | None:
    """Fill the template for a table; None where it has no rows or no usable column.

    A column is not used that nobody could name, that only numbers the rows, or that is called as
    another one of the table is. Whether the query says anything is not looked at (`executing`).
    """
    alike = namesakes(subject)
    told = (at for at in range(len(subject.columns)) if at not in alike)
    named = (at for at in told if _is_named(subject, at))
    columns = [at for at in named if not counts_rows(subject, at)]
    if not columns or not subject.rows:
        return None
    if len(columns) > MOST_COLUMNS:
        others = chance.sample(columns[FIRST_COLUMNS:], MOST_COLUMNS - FIRST_COLUMNS)
        columns = columns[:FIRST_COLUMNS] + sorted(others)
    numbers = [at for at in columns if subject.numeric[at]]
    texts = [at for at in columns if not subject.numeric[at]]
    rows = chance.sample(subject.rows, min(ROWS_SHOWN, len(subject.rows)))
    drawing = _Drawing(subject, chances or Chances(), chance, numbers, texts, rows)
    several = [at for at in numbers if not is_flag(subject, at)]
    if several and chance.random() < drawing.chances.aggregate:
        return _aggregated(drawing, several)
    return _plain(drawing)


def _is_named(subject: Subject, column: int) -> bool:
    """Tell whether people could mean a column: by its name, or by what is written about it."""
    name = subject.columns[column].strip()
    return bool(name) and (not _NUMBERED.fullmatch(name) or bool(meaning_of(subject, column)))


def _aggregate(drawing: _Drawing, numbers: Sequence[int]) -> Selected:
    """Return an aggregate that says something of one of these columns."""
    column = drawing.chance.choice(numbers)
    return Selected(column, drawing.chance.choice(aggregates_of(drawing.subject, column)))


def _aggregated(drawing: _Drawing, numbers: Sequence[int]) -> SqlQuery:
    chance, chances = drawing.chance, drawing.chances
    first = _aggregate(drawing, numbers)
    group, having = None, None
    select: tuple[Selected, ...] = (first,)
    if drawing.texts and chance.random() < chances.group_by:
        group = chance.choice(drawing.texts)
        select = (Selected(group), first)
        if chance.random() < chances.having:
            having = _range(drawing, first)
    elif chance.random() < chances.second:
        others = [at for at in numbers if at != first.column]
        more = [_aggregate(drawing, others)] if others else []
        select = (first, *more)
    return SqlQuery(select, _conditions(drawing, select, chances.other), group, having)


def _plain(drawing: _Drawing) -> SqlQuery:
    chance, chances = drawing.chance, drawing.chances
    every = [*drawing.numbers, *drawing.texts]
    wanted = 1 + (chance.random() < chances.second and len(every) > 1)
    select = tuple(Selected(at) for at in sorted(chance.sample(every, wanted)))
    order = None
    if drawing.numbers and chance.random() < chances.order:
        by, descending = chance.choice(drawing.numbers), chance.random() < 0.5
        order = Order(by, descending, chance.choice(chances.limits))
    shares = chances.plain if order is None else chances.other
    return SqlQuery(select, _conditions(drawing, select, shares), order=order)


def _conditions(
    drawing: _Drawing, select: Sequence[Selected], shares: Sequence[float]
) -> tuple[Condition, ...]:
    """Return conditions on columns that are not asked for; all equal values are of one row.

    There is none on a column that is the same in every row.
    """
    chance = drawing.chance
    (wanted,) = chance.choices(range(len(shares)), shares)
    selected = {one.column for one in select}
    every = (at for at in (*drawing.numbers, *drawing.texts) if at not in selected)
    free = [at for at in every if not is_constant(drawing.subject, at)]
    columns = sorted(chance.sample(free, min(wanted, len(free))))
    operators = {at: chance.choice(_operators(drawing.subject, at)) for at in columns}
    equal = [at for at in columns if operators[at] == "="]
    fitting = [row for row in drawing.rows if all(_askable(row[at]) for at in equal)]
    if not fitting:
        return ()
    row = chance.choice(fitting)
    found = []
    for at in columns:
        value = row[at]
        if operators[at] != "=":
            found.append(_range(drawing, Selected(at), operators[at]))
        elif value is not None:
            found.append(Condition(Selected(at), "=", value))
    return tuple(found)


def _operators(subject: Subject, column: int) -> Sequence[str]:
    if not subject.numeric[column]:
        return ("=",)
    if is_flag(subject, column):
        return ("=",)
    values = {row[column] for row in subject.rows}
    return ("=", *RANGES) if len(values) <= FEW else RANGES


def _askable(value: Value | None) -> bool:
    return value is not None and len(str(value)) <= LONGEST_CELL


def _range(drawing: _Drawing, of: Selected, operator: str = "") -> Condition:
    """Return a condition whose values lie between the least and the greatest of the column."""
    chance = drawing.chance
    known = [row[of.column] for row in drawing.subject.rows]
    numbers = [one for one in known if isinstance(one, int | float)]
    operator = operator or chance.choice(RANGES)
    ends = sorted(_rounded(chance.uniform(min(numbers), max(numbers)), numbers) for _ in range(2))
    if operator == BETWEEN and ends[0] < ends[1]:
        return Condition(of, operator, ends[0], ends[1])
    return Condition(of, chance.choice("<>") if operator == BETWEEN else operator, ends[0])


def _rounded(value: float, numbers: Sequence[float]) -> float | int:
    """Return a value that a person would type: a year is whole, others have three digits."""
    short = float(f"{value:.3g}")
    if not all(isinstance(one, int) for one in numbers):
        return short
    return round(value) if abs(value) < LARGE else round(short)
