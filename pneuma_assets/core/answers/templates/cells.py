"""What the kept cells of a column tell of it that neither its name nor its type says."""

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

from pneuma_assets.core.answers.templates.vocabulary import MEASURING

_WHOLE = re.compile(r"[0-9]{1,15}")
_AMOUNT = re.compile(r"[^\w\s]{0,2}\s?-?[0-9][0-9.,' \u00a0]*\s?[^\w\s]{0,2}")
_LEAST_AMOUNTS = 0.8
"""Share of a column's cells that are numbers in writing, from which on it measures something."""
_SPARSE = 2
"""Times as many numbers as rows may lie between the first and the last number of rows."""


def tell_apart(cells: Collection[str | None]) -> bool:
    """Tell whether all cells are different, and none is missing."""
    return bool(cells) and None not in cells and len(set(cells)) == len(cells)


def number_rows(parts: Collection[str], cells: Sequence[str | None]) -> bool:
    """Tell whether a first column numbers its rows, as `order` does: 110, 111, 113.

    Args:
        parts: The words of its name: a `year` numbers no rows, though it rises with them.
        cells: Of the first rows.
    """
    whole = [int(one) for one in cells if one and _WHOLE.fullmatch(one)]
    if MEASURING.intersection(parts) or len(whole) < max(2, len(cells)):
        return False
    rising = all(one < other for one, other in pairwise(whole))
    return rising and whole[-1] - whole[0] <= _SPARSE * len(whole)


def are_amounts(cells: Collection[str | None]) -> bool:
    """Tell whether texts are numbers in writing: `4,5`, `$ 1,200`."""
    filled = [one.strip() for one in cells if one and one.strip()]
    amounts = sum(_AMOUNT.fullmatch(one) is not None for one in filled)
    return bool(filled) and amounts >= _LEAST_AMOUNTS * len(filled)
