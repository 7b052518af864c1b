"""What cells say, whatever engine or file they come from."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from pneuma_bench.generator.queries import EMPTY, number_of

_DIGITS = 10
"""Of a number that is no whole one: engines add in other orders, and round."""
_WHOLE = re.compile(r"([+-]?\d+)(?:\.0*)?", re.ASCII)
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[ t]00:00:00(\.0+)?", re.ASCII)


def cell_text(cell: Any) -> str | None:
    """Return what a cell says; None where that is nothing.

    Capitals and blanks do not count, nor how a number is written, and a day is its midnight. Of a
    whole number that is written in full all digits count, such as of a long key; of another one,
    or one of 2^53 or more that is written with an exponent, the first ten.

    Args:
        cell: A value of JSON, of an answer or of a file.
    """
    text = " ".join(str(cell).split()).casefold() if cell is not None else ""
    if text in EMPTY:
        return None
    number = number_of(text)
    if number is not None:
        if in_full := _WHOLE.fullmatch(text):
            return str(int(in_full[1]))
        whole = number == int(number) and abs(number) < 2**53
        return str(int(number)) if whole else f"{number:.{_DIGITS}g}"
    day = _MIDNIGHT.fullmatch(text)
    return day[1] if day else text


def cell_texts(rows: Iterable[Sequence[Any]]) -> frozenset[str]:
    """Return what the cells of some rows say."""
    texts = (cell_text(cell) for row in rows for cell in row)
    return frozenset(text for text in texts if text is not None)
