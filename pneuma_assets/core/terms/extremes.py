"""The least and the greatest of a column's cells, as numbers where all of them are numbers."""

import re
from collections.abc import Iterable
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_WHOLE = re.compile(r"-?[0-9]{1,19}")

Numbers = npt.NDArray[Any]
"""int64 where all are whole and fit, else float64."""


def numbers_of(cells: Iterable[str] | pa.StringArray, low: str, high: str) -> Numbers | None:
    """Return the number that each cell spells; None where some cell spells none that is finite.

    No cell is null; the least and the greatest by code point tell most columns of text at once.
    """
    if not (_NUMBER.fullmatch(low) and _NUMBER.fullmatch(high)):
        return None
    texts = cells if isinstance(cells, pa.Array) else pa.array(cells, pa.string())
    whole = _WHOLE.fullmatch(low) and _WHOLE.fullmatch(high)
    for kind in (pa.int64(), pa.float64()) if whole else (pa.float64(),):
        try:
            numbers: Numbers = texts.cast(kind).to_numpy()
        except pa.ArrowInvalid:
            continue
        return numbers if np.isfinite(numbers).all() else None
    return None


class Extremes:
    """Takes the cells of a column, in pieces; how they are cut makes no difference.

    Attributes:
        texts: The least and the greatest by code point.
        numbers: The least and the greatest number with the first cell that spelled it, as long as
            all cells spell one.
    """

    def __init__(self) -> None:
        """Start without a cell."""
        self.texts: tuple[str, str] | None = None
        self.numbers: tuple[tuple[float, str], tuple[float, str]] | None = None
        self._text = False

    def add(self, cells: pa.StringArray) -> None:
        """Take some cells; none is null."""
        low, high = pc.min_max(cells).values()
        low, high = low.as_py(), high.as_py()
        if low is None or high is None:
            return
        if self.texts is not None:
            low_before, high_before = self.texts
            low, high = min(low, low_before), max(high, high_before)
        self.texts = low, high
        if not self._text:
            self._add_numbers(cells, low, high)

    def _add_numbers(self, cells: pa.StringArray, low: str, high: str) -> None:
        numbers = numbers_of(cells, low, high)
        if numbers is None:
            self._text, self.numbers = True, None
            return
        least, greatest = (
            (numbers[at].item(), cells[int(at)].as_py())
            for at in (numbers.argmin(), numbers.argmax())
        )
        if self.numbers is not None:
            least = min(self.numbers[0], least, key=itemgetter(0))
            greatest = max(self.numbers[1], greatest, key=itemgetter(0))
        self.numbers = least, greatest
