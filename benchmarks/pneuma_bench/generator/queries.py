"""Queries of a template over one table, the tables they are of, and how two queries differ."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.sources.duckdb.session import quote_identifier
from pneuma_assets.core.tables import Table
from pneuma_assets.core.terms.fields import name_parts
from pneuma_bench.sets import RetrievalSet

Value = float | int | str

EMPTY = frozenset({"", "-", "na", "n/a", "nan", "null", "none"})
"""What stands in a cell, in any capitals, where there is nothing."""
LARGEST = 1e300
"""Beyond it a number is text: a sum of such, or what lies between two, is infinite."""

_NUMBER = re.compile(r"[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})([eE][+-]?\d{1,3})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Subject:
    """A table that is asked about.

    Attributes:
        table_id: As the set knows it.
        columns: Their names.
        numeric: Of each column, whether all that stands in it are numbers.
        rows: Values: numbers in numeric columns, texts in others, None where there is nothing.
        described: What people wrote about columns, by position.
    """

    table_id: str
    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: Sequence[tuple[Value | None, ...]]
    described: Mapping[int, str] = field(default_factory=dict)


def subjects_of(dataset: RetrievalSet) -> list[Subject]:
    """Return the tables of a set in its order."""
    return [
        _subject(table, rows, dataset.described.get(table.table_id, {}))
        for table, rows in dataset.tables
    ]


def number_of(cell: str) -> float | int | None:
    """Return the number that a cell is, whole ones as such; None of any other text."""
    text = cell.strip()
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    if abs(number) > LARGEST:
        return None
    whole = text.lstrip("+-").isdigit() and abs(number) < 2**53
    return int(text) if whole else number


def _subject(table: Table, rows: Sequence[Row], described: Mapping[int, str]) -> Subject:
    columns = tuple(column.name for column in table.columns)
    cells = [[_there(row[at]) for row in rows] for at in range(len(columns))]
    numbers = [[None if one is None else number_of(one) for one in column] for column in cells]
    numeric = tuple(map(_are_numbers, cells, numbers))
    values = [numbers[at] if numeric[at] else cells[at] for at in range(len(columns))]
    return Subject(
        table.table_id, columns, numeric, list(zip(*values, strict=True)), dict(described)
    )


def _are_numbers(cells: Sequence[str | None], numbers: Sequence[float | None]) -> bool:
    filled = sum(cell is not None for cell in cells)
    return filled > 0 and sum(number is not None for number in numbers) == filled


def _there(cell: object) -> str | None:
    text = "" if cell is None else str(cell).strip()
    return None if text.casefold() in EMPTY else text


AGGREGATES = ("MAX", "MIN", "AVG", "SUM")
BETWEEN = "between"
ALIKE = "alike"
"""Equality of texts in any capitals, as Octopus has it (section 6.1): ILIKE without wildcards."""

_WILD = re.compile(r"[\\%_]")


@dataclass(frozen=True, slots=True)
class Selected:
    """A column by its position, or an aggregate of it."""

    column: int
    aggregate: str = ""

    def sql(self, names: Sequence[str]) -> str:
        """Return it as SQL."""
        name = quote_identifier(names[self.column])
        return f"{self.aggregate}({name})" if self.aggregate else name


@dataclass(frozen=True, slots=True)
class Condition:
    """What must hold of a column or an aggregate; `second` is the upper end of `between`."""

    of: Selected
    operator: str
    value: Value
    second: Value | None = None

    def sql(self, names: Sequence[str]) -> str:
        """Return it as SQL."""
        if self.operator == BETWEEN and self.second is not None:
            ends = f"{literal(self.value)} AND {literal(self.second)}"
            return f"{self.of.sql(names)} BETWEEN {ends}"
        if self.operator == ALIKE:
            pattern = _WILD.sub(r"\\\g<0>", str(self.value))
            return f"{self.of.sql(names)} ILIKE {literal(pattern)} ESCAPE '\\'"
        return f"{self.of.sql(names)} {self.operator} {literal(self.value)}"


@dataclass(frozen=True, slots=True)
class Order:
    """The first rows by a column."""

    column: int
    descending: bool
    limit: int

    def sql(self, names: Sequence[str]) -> str:
        """Return it as SQL; rows without a value come last."""
        direction = "DESC" if self.descending else "ASC"
        name = quote_identifier(names[self.column])
        return f"ORDER BY {name} {direction} NULLS LAST LIMIT {self.limit}"


@dataclass(frozen=True, slots=True)
class SqlQuery:
    """The template, filled.

    Attributes:
        select: One or two columns or aggregates; the column that rows are grouped by comes first.
        where: Conditions that all must hold of a row.
        group_by: A column; None where rows are not grouped.
        having: What must hold of a group.
        order: Which rows are taken; None: all.
    """

    select: tuple[Selected, ...]
    where: tuple[Condition, ...] = ()
    group_by: int | None = None
    having: Condition | None = None
    order: Order | None = None

    @property
    def columns(self) -> list[int]:
        """Return the positions of all columns that it names, each once, in their order there."""
        named = [one.column for one in self.select] + [one.of.column for one in self.where]
        named += [] if self.group_by is None else [self.group_by]
        named += [] if self.having is None else [self.having.of.column]
        named += [] if self.order is None else [self.order.column]
        return list(dict.fromkeys(named))

    def sql(self, names: Sequence[str], table: str = "") -> str:
        """Return it as SQL, with names and values quoted.

        Args:
            names: Of all columns, by position.
            table: What it is asked of; without it there is no FROM, as in the paper.
        """
        parts = [f"SELECT {', '.join(one.sql(names) for one in self.select)}"]
        parts += [f"FROM {quote_identifier(table)}"] if table else []
        if self.where:
            parts.append(f"WHERE {' AND '.join(one.sql(names) for one in self.where)}")
        if self.group_by is not None:
            parts.append(f"GROUP BY {quote_identifier(names[self.group_by])}")
        if self.having is not None:
            parts.append(f"HAVING {self.having.sql(names)}")
        if self.order is not None:
            parts.append(self.order.sql(names))
        return " ".join(parts)


def literal(value: Value) -> str:
    """Return a value as SQL."""
    return repr(value) if isinstance(value, int | float) else "'" + value.replace("'", "''") + "'"


def exact_match(one: SqlQuery, other: SqlQuery) -> tuple[str, ...]:
    """Return the names of the parts in which two queries of a table differ; none: they match.

    The order of what is selected and of conditions does not matter; nor do capitals and blanks of
    texts, nor how a number is written.
    """
    parts = {
        "select": (Counter(one.select), Counter(other.select)),
        "where": ({*map(_key, one.where)}, {*map(_key, other.where)}),
        "group by": (one.group_by, other.group_by),
        "having": (one.having and _key(one.having), other.having and _key(other.having)),
        "order by": (_by(one.order), _by(other.order)),
        "limit": (one.order and one.order.limit, other.order and other.order.limit),
    }
    return tuple(name for name, (ours, theirs) in parts.items() if ours != theirs)


def _key(condition: Condition) -> tuple[object, ...]:
    second = None if condition.second is None else _folded(condition.second)
    return condition.of, condition.operator, _folded(condition.value), second


def _by(order: Order | None) -> tuple[int, bool] | None:
    return None if order is None else (order.column, order.descending)


def _folded(value: Value) -> Value:
    return " ".join(value.split()).casefold() if isinstance(value, str) else value


FEWEST_COUNTED, STEPS = 3, 10
"""Rows of a table in which a counter can be told, and within how many steps of it it begins."""
_YEARS = range(1000, 2200)
_NO_SUM = re.compile(
    r"\b(?:average|mean|median|rate|ratio|share|percent|percentage|proportion|fraction|index|score"
    r"|probability|logarithm|log|pct|avg|age|id|code|row|col"
    r"|ordinate|coordinate|latitude|longitude|position|rank)s?\b",
    re.IGNORECASE,
)
"""Says of a column that its numbers do not add up."""


def counts_rows(subject: Subject, column: int) -> bool:
    """Tell whether a column only numbers the rows, be they all or some that were drawn in order.

    Its whole numbers rise from row to row, and begin near nothing; those of a year begin elsewhere.
    """
    values = [row[column] for row in subject.rows]
    numbers = [one for one in values if isinstance(one, int)]
    if len(numbers) < len(values) or len(numbers) < FEWEST_COUNTED:
        return False
    rising = all(one < following for one, following in pairwise(numbers))
    step = (numbers[-1] - numbers[0]) / (len(numbers) - 1)
    return rising and 0 <= numbers[0] <= STEPS * step


def is_constant(subject: Subject, column: int) -> bool:
    """Tell whether a column is the same in every row."""
    return len({row[column] for row in subject.rows}) < 2


def is_flag(subject: Subject, column: int) -> bool:
    """Tell whether a column has no more than two different values."""
    return len({row[column] for row in subject.rows} - {None}) <= 2


def holds_years(subject: Subject, column: int) -> bool:
    """Tell whether a column has years, by its values and by what it is called or described as."""
    said = f"{subject.columns[column]} {subject.described.get(column, '')}".casefold()
    if not subject.numeric[column] or "year" not in said:
        return False
    values = (row[column] for row in subject.rows)
    return all(isinstance(one, int) and one in _YEARS for one in values if one is not None)


def aggregates_of(subject: Subject, column: int) -> Sequence[str]:
    """Return the aggregates that say something of a column: years have no mean, rates no sum."""
    if holds_years(subject, column):
        return [one for one in AGGREGATES if one in ("MAX", "MIN")]
    said = " ".join([*name_parts(subject.columns[column]), subject.described.get(column, "")])
    return [one for one in AGGREGATES if one != "SUM"] if _NO_SUM.search(said) else AGGREGATES
