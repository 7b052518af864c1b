"""What a model is asked about a column (Pneuma, section 4)."""

from collections.abc import Sequence
from dataclasses import dataclass

from pneuma_assets.core.text.safe import harmless

PROMPT_VERSIONS = {"paper": "2", "grounded": "grounded 2"}
"""Part of the narration cache's key: another version asks the model for every column again."""

FULL_SCHEMA = 100
"""Columns; a wider table shows its first columns and those around the one in question."""

_HEAD = 20
_WINDOW = FULL_SCHEMA - _HEAD
_NAME_CHARACTERS = 64
_GAP = "…"
_TYPE_CHARACTERS = 32
_ROW_CHARACTERS = 300
_VALUE_CHARACTERS = 40
_TABLE_CHARACTERS = 100
SHOWN_ROWS = 3
"""Rows of the table in a grounded prompt."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What a grounded prompt shows besides the columns' names; all of it is hostile.

    `rows` are texts as `documents.rows` makes them: `column: value | column: value`; `cells` are
    the same rows apart, None where there is no value, as far as they are known.
    """

    table: str
    types: tuple[str, ...]
    rows: tuple[str, ...]
    cells: tuple[tuple[str | None, ...], ...] = ()


def column_prompt(columns: Sequence[str], position: int) -> str:
    """Ask what the column at `position` represents, showing the schema.

    All columns of a table up to `FULL_SCHEMA` wide are shown. Of a wider one, the first columns,
    which usually say what a row is, and the run of neighbours that the column falls into; the
    runs are fixed, so the prompts of one run still begin alike and are read once. Names are
    bounded and cannot end the comment that holds them, nor the model's turn.
    """
    shown = " | ".join(_name(columns[at]) if at >= 0 else _GAP for at in _shown(columns, position))
    return (
        f"A table has the following columns:\n/*\n{shown}\n*/\n"
        f"Describe briefly what the {_name(columns[position])} column represents. "
        'If not possible, simply state "No description."'
    )


def grounded_prompt(columns: Sequence[str], position: int, ground: Ground) -> str:
    """Ask what a column holds, showing the table's name, types, some rows and example values.

    What is the same for all columns of a table stands first, so it is read once.
    """
    shown = " | ".join(
        f"{_name(columns[at])} ({harmless(ground.types[at], _TYPE_CHARACTERS)})"
        if at >= 0
        else _GAP
        for at in _shown(columns, position)
    )
    rows = "\n".join(harmless(row, _ROW_CHARACTERS) for row in ground.rows[:SHOWN_ROWS])
    name = _name(columns[position])
    values = ", ".join(example_values(position, ground.cells))
    return (
        f"The table {harmless(ground.table, _TABLE_CHARACTERS)} has the following columns:\n"
        f"/*\n{shown}\n*/\nSome of its rows:\n/*\n{rows}\n*/\n"
        f"Describe briefly what the {name} column represents"
        + (f", with values such as /* {values} */" if values else "")
        + '. If not possible, simply state "No description."'
    )


def example_values(position: int, rows: Sequence[Sequence[str | None]]) -> list[str]:
    """Return the different values of a column in some rows, in order."""
    cells = (row[position] for row in rows)
    values = (harmless(cell, _VALUE_CHARACTERS) for cell in cells if cell is not None)
    return list(dict.fromkeys(value for value in values if value))


def _shown(columns: Sequence[str], position: int) -> list[int]:
    """Return the positions of the columns to show, -1 for a gap."""
    count = len(columns)
    if count <= FULL_SCHEMA:
        return list(range(count))
    start = _HEAD + max(0, position - _HEAD) // _WINDOW * _WINDOW
    stop = min(count, start + _WINDOW)
    before = [-1] if start > _HEAD else []
    after = [-1] if stop < count else []
    return [*range(_HEAD), *before, *range(start, stop), *after]


def _name(name: str) -> str:
    return harmless(name, _NAME_CHARACTERS) or "(unnamed)"
