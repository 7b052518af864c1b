"""What the numbers of a column are, as far as it decides what people would ask of them."""

import re
from collections.abc import Sequence
from itertools import pairwise

from pneuma_assets.core.terms.fields import name_parts
from pneuma_bench.generator.queries import AGGREGATES
from pneuma_bench.generator.subjects import Subject

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
