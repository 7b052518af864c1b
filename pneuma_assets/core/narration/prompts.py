"""What a model is asked about a column (Pneuma, section 4)."""

from collections.abc import Sequence

from pneuma_assets.core.text.untrusted import harmless

PROMPT_VERSION = "2"
"""Part of the narration cache's key: another version asks the model for every column again."""

FULL_SCHEMA = 100
"""Columns; a wider table shows its first columns and those around the one in question."""

_HEAD = 20
_WINDOW = FULL_SCHEMA - _HEAD
_NAME_CHARACTERS = 64
_GAP = "…"


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
