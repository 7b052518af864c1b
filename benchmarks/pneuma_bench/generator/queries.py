"""Queries of a template over one table, the tables they are of, and how two queries differ."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from pneuma_assets.core.sources.duckdb.session import quote_identifier
from pneuma_assets.core.terms.fields import name_parts
from pneuma_bench.sets import RetrievalSet

Value = float | int | str

EMPTY = frozenset({"", "-", "na", "n/a", "nan", "null", "none"})
"""What stands in a cell, in any capitals, where there is nothing."""
_LARGEST = 1e300
"""Beyond it a number is text: a sum of such, or what lies between two, is infinite."""
_NUMBER = re.compile(r"[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})([eE][+-]?\d{1,3})?", re.ASCII)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
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

    def values(self, column: int) -> list[Value | None]:
        """Return a column's values, row by row."""
        return [row[column] for row in self.rows]


def subjects_of(dataset: RetrievalSet) -> list[Subject]:
    """Return the tables of a set in its order."""
    subjects = []
    for table, rows in dataset.tables:
        numeric: list[bool] = []
        columns: list[Sequence[Value | None]] = []
        for at in range(len(table.columns)):
            cells = [_there(row[at]) for row in rows]
            numbers = [None if one is None else number_of(one) for one in cells]
            filled = len(cells) - cells.count(None)
            numeric.append(0 < filled == len(cells) - numbers.count(None))
            columns.append(numbers if numeric[-1] else cells)
        names = tuple(column.name for column in table.columns)
        described = dict(dataset.described.get(table.table_id, {}))
        values = [*zip(*columns, strict=True)]
        subjects.append(Subject(table.table_id, names, tuple(numeric), values, described))
    return subjects


def number_of(cell: str) -> float | int | None:
    """Return the number that a cell is, whole ones as such; None of any other text."""
    text = cell.strip()
    if not _NUMBER.fullmatch(text) or abs(number := float(text)) > _LARGEST:
        return None
    return int(text) if text.lstrip("+-").isdigit() and abs(number) < 2**53 else number


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

    @property
    def values(self) -> list[Value]:
        """The value, or both ends of a range."""
        return [self.value] if self.second is None else [self.value, self.second]

    def sql(self, names: Sequence[str]) -> str:
        """Return it as SQL."""
        of = self.of.sql(names)
        if self.operator == BETWEEN:
            return f"{of} BETWEEN {' AND '.join(map(_literal, self.values))}"
        if self.operator == ALIKE:
            pattern = _WILD.sub(r"\\\g<0>", str(self.value))
            return f"{of} ILIKE {_literal(pattern)} ESCAPE '\\'"
        return f"{of} {self.operator} {_literal(self.value)}"


@dataclass(frozen=True, slots=True)
class Order:
    """The first rows by a column; those without a value come last."""

    column: int
    descending: bool
    limit: int

    def sql(self, names: Sequence[str]) -> str:
        """Return it as SQL."""
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
    def conditions(self) -> list[Condition]:
        """The conditions on rows and on groups."""
        return [*self.where, *([self.having] if self.having else [])]

    @property
    def columns(self) -> list[int]:
        """The positions of all columns that it names, each once, in their order there."""
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
        parts += [f"HAVING {self.having.sql(names)}"] if self.having else []
        parts += [self.order.sql(names)] if self.order else []
        return " ".join(parts)


def _literal(value: Value) -> str:
    return repr(value) if isinstance(value, int | float) else "'" + value.replace("'", "''") + "'"


def exact_match(one: SqlQuery, other: SqlQuery) -> tuple[str, ...]:
    """Return the names of the parts in which two queries of a table differ; none: they match.

    The order of what is selected and of conditions does not matter; nor do capitals and blanks of
    texts, nor how a number is written.
    """
    ours, theirs = _parts(one), _parts(other)
    return tuple(name for name in ours if ours[name] != theirs[name])


def _parts(query: SqlQuery) -> dict[str, object]:
    return {
        "select": Counter(query.select),
        "where": {*map(_key, query.where)},
        "group by": query.group_by,
        "having": query.having and _key(query.having),
        "order by": query.order and (query.order.column, query.order.descending),
        "limit": query.order and query.order.limit,
    }


def _key(condition: Condition) -> tuple[object, ...]:
    values = [" ".join(v.split()).casefold() if isinstance(v, str) else v for v in condition.values]
    return condition.of, condition.operator, *values


_FEWEST_COUNTED, _STEPS = 3, 10
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
    values = subject.values(column)
    numbers = [one for one in values if isinstance(one, int)]
    if len(numbers) < len(values) or len(numbers) < _FEWEST_COUNTED:
        return False
    rising = all(one < following for one, following in pairwise(numbers))
    step = (numbers[-1] - numbers[0]) / (len(numbers) - 1)
    return rising and 0 <= numbers[0] <= _STEPS * step


def is_flag(subject: Subject, column: int) -> bool:
    """Tell whether a column has no more than two different values."""
    return len({*subject.values(column)} - {None}) <= 2


def holds_years(subject: Subject, column: int) -> bool:
    """Tell whether a column has years, by its values and by what it is called or described as."""
    said = f"{subject.columns[column]} {subject.described.get(column, '')}".casefold()
    if not subject.numeric[column] or "year" not in said:
        return False
    values = (one for one in subject.values(column) if one is not None)
    return all(isinstance(one, int) and one in _YEARS for one in values)


def aggregates_of(subject: Subject, column: int) -> Sequence[str]:
    """Return the aggregates that say something of a column: years have no mean, rates no sum."""
    if holds_years(subject, column):
        return AGGREGATES[:2]
    said = " ".join([*name_parts(subject.columns[column]), subject.described.get(column, "")])
    return AGGREGATES[:3] if _NO_SUM.search(said) else AGGREGATES
