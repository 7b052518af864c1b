"""What a column's own name and values show: always true, and free of any model.

Of everything that could be said, these two things bring a column's name nearer to what people
write about it: the words that the name stands for, and the few values that a column of text has.
Ranges of numbers, examples of long texts and types take it further away (docs/measurements.md).
"""

import re
from collections import Counter
from collections.abc import Sequence

from pneuma_assets.core.evidence.fields import name_parts
from pneuma_assets.core.evidence.names import surely_parted
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.tables import Column, Description, Provenance, Table
from pneuma_assets.core.text.abbreviations import ABBREVIATIONS
from pneuma_assets.core.text.clean import one_line

MOST_LEVELS = 8
"""Different values of a column that has few."""

SOURCE = "the column's name and values"

SPELT, SEEN, SAMPLED, GUESSED = 1.0, 1.0, 0.9, 0.8
"""Confidence: the name's own words; values of all rows; of some of them; glued or short names."""

_LEVEL_CHARACTERS = 30
_NUMBERS = re.compile(r"U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DECIMAL|NUMERIC|FLOAT|REAL|DOUBLE")


def fact_descriptions(
    table: Table, rows: Sequence[Row], *, all_rows: bool
) -> dict[int, Description]:
    """Return what names and values show of columns, by position; of many columns nothing.

    Args:
        table: Its profile.
        rows: Rows drawn uniformly, cells as text.
        all_rows: Whether these are all that the table has; else its values are examples.
    """
    found: dict[int, Description] = {}
    for position, column in enumerate(table.columns):
        words, confidence = spelt_out(column.name)
        cells = [row[position] for row in rows]
        levels = _levels(column, cells)
        if levels:
            whole = all_rows and not any(map(_is_empty, cells))
            words = "; ".join(filter(None, [words, _said(levels, whole=whole)]))
            confidence = min(confidence, SEEN if whole else SAMPLED)
        if words:
            found[position] = Description(words, Provenance.PROFILE, SOURCE, confidence)
    return found


def spelt_out(name: str) -> tuple[str, float]:
    """Return the words that a name stands for, and how sure that is; none if it is one word."""
    parts = name_parts(one_line(name))
    words = [ABBREVIATIONS.get(word, word) for part in parts for word in surely_parted(part)]
    text = " ".join(words)
    if words != parts:
        return text, GUESSED
    several = sum(len(word) > 1 and word.isalpha() for word in words) > 1
    return (text, SPELT) if several and text != name.strip().casefold() else ("", SPELT)


def _levels(column: Column, cells: Sequence[object]) -> list[str]:
    """Return the values of a column that has few, in order; none of a number or a long text."""
    if _NUMBERS.match(column.type.upper()):
        return []
    counted = Counter(str(cell) for cell in cells if not _is_empty(cell))
    few = 0 < len(counted) <= MOST_LEVELS and counted.total() >= 2 * len(counted)
    if not few or max(map(len, counted)) > _LEVEL_CHARACTERS:
        return []
    return sorted(one_line(level) for level in counted)


def _is_empty(cell: object) -> bool:
    return cell is None or not str(cell).strip()


def _said(levels: Sequence[str], *, whole: bool) -> str:
    if len(levels) == 1:
        return f"{'always' if whole else 'such as'} {levels[0]}"
    return f"{'one of' if whole else 'such as'} {', '.join(levels)}"
