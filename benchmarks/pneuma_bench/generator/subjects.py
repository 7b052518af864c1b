"""A table as questions are made about it: which of its columns are numbers, and rows as values."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.tables import Table
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
