"""A chart of an answer's rows: shapes that a template puts into SVG, as many as there are rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from math import ceil, floor, log10
from typing import Any

from rich.cells import cell_len, set_cell_size

from pneuma_assets.core.text.safe import one_line

MOST_BARS, MOST_POINTS = 40, 1_000
_LARGEST = 1e300
_LEFT, _END, _RIGHT, _TOP, _BOTTOM, _BAR = 176, 600, 700, 28, 260, 24

Shown = Sequence[tuple[float, float, str]]
"""Of each row that has a value: where it is along the chart, the value, and a label."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing in a box that is 720 wide: bars, or for what rises a line through points.

    Attributes:
        says: What it shows, for who does not see it.
        height: Of the box.
        texts: Where each is, which of its ends is there (`text-anchor`), and what it says.
        bars: Where each begins, and its width.
        points: Where they are.
        grid: Where lines of round values are, from `left` on.
    """

    says: str
    height: int
    texts: Sequence[tuple[float, float, str, str]]
    bars: Sequence[tuple[float, float, float]] = ()
    points: Sequence[tuple[float, float]] = ()
    grid: Sequence[float] = ()
    left: int = 0


def chart_of(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Chart | None:
    """Return a chart of the last column of numbers by the first that tells rows apart, if any."""
    if not 2 <= len(rows) <= MOST_POINTS:
        return None
    cells = list(zip(*rows, strict=True))
    places = range(len(cells))
    value = next((place for place in reversed(places) if _is_numeric(cells[place])), None)
    apart = (one for one in places if len(set(map(str, cells[one]))) == len(rows))
    name = next((place for place in apart if place != value), None)
    if value is None or name is None:
        return None
    along = _rising(cells[name])
    if along is None and len(rows) > MOST_BARS:
        return None
    each = zip(along or range(len(rows)), cells[value], map(_short, cells[name]), strict=True)
    shown = [(at, float(number), label) for at, number, label in each if number is not None]
    titles = one_line(columns[name], 60), one_line(columns[value], 60)
    return _line(shown, *titles) if along else _bars(shown, *titles)


def _bars(shown: Shown, name: str, value: str) -> Chart:
    low, high = (edge(0.0, *(number for _, number, _ in shown)) for edge in (min, max))
    ratio = (_END - _LEFT) / max(high - low, 1 / _LARGEST)
    texts, bars = [(_LEFT - 8.0, 16.0, "end", name), (_LEFT, 16, "start", value)], []
    for y, (_, number, label) in zip(range(_TOP, 9_999, _BAR), shown, strict=False):
        x, width = round(_LEFT + ratio * (min(number, 0) - low), 1), round(ratio * abs(number), 1)
        bars.append((x, y, width))
        texts.append((_LEFT - 8, y + 13, "end", label))
        texts.append((x + width + 6, y + 13, "start", f"{number:,.10g}"))
    says = f"Bars of {value} by {name}; the rows above have the values"
    return Chart(says, _TOP + _BAR * len(shown), texts, bars)


def _line(shown: Shown, name: str, value: str) -> Chart:
    along, numbers, labels = zip(*shown, strict=True)
    ticks, step = _ticks(min(numbers), max(numbers))
    marks = [f"{tick * step:,.10g}" for tick in ticks]
    left = 16 + 7 * max(map(len, marks))
    across = (_RIGHT - left) / (along[-1] - along[0] or 1.0)
    up = (_BOTTOM - _TOP) / (len(ticks) - 1)
    grid = [round(_BOTTOM - up * row, 1) for row in range(len(ticks))]
    x = [round(left + across * (one - along[0]), 1) for one in along]
    y = [round(_BOTTOM - up * (one / step - ticks[0]), 1) for one in numbers]
    parts = 4 if max(map(len, labels)) <= 12 else 2
    even = (left + (_RIGHT - left) * part / parts for part in range(parts + 1))
    nearest = {min(range(len(x)), key=lambda row: abs(x[row] - at)) for at in even}
    texts = [(0.0, 16.0, "start", value), (_RIGHT, _BOTTOM + 40, "end", name)]
    texts += [(left - 8, at + 4, "end", mark) for at, mark in zip(grid, marks, strict=True)]
    ends = {0: "start", len(x) - 1: "end"}
    texts += [(x[at], _BOTTOM + 20, ends.get(at, "middle"), labels[at][:19]) for at in nearest]
    says = f"Line of {value} by {name}; the rows above have the values"
    return Chart(says, _BOTTOM + 44, texts, (), list(zip(x, y, strict=True)), grid, left)


def _ticks(low: float, high: float) -> tuple[range, float]:
    """Return round numbers around a range, as whole multiples of a step, and the step."""
    raw = max((high - low or abs(high) or 1.0) / 5, 1 / _LARGEST)
    power = 10.0 ** floor(log10(raw))
    step = next(times * power for times in (1, 2, 5, 10, 20) if times * power >= raw)
    first = floor(low / step)
    return range(first, max(ceil(high / step), first + 1) + 1), step


def _is_numeric(cells: Sequence[Any]) -> bool:
    """Tell whether a column has numbers alone that can be drawn, and some."""
    found = [one for one in cells if one is not None]
    return bool(found) and all(
        isinstance(one, int | float) and not isinstance(one, bool) and abs(one) < _LARGEST
        for one in found
    )


def _rising(cells: Sequence[Any]) -> list[float] | None:
    """Return dates or numbers that rise as numbers, so that a line may follow them."""
    read = float if _is_numeric(cells) else _days
    try:
        found = list(map(read, cells))
    except (TypeError, ValueError):
        return None
    return found if all(one < other for one, other in pairwise(found)) else None


def _days(cell: str) -> float:
    moment = datetime.fromisoformat(cell).replace(tzinfo=None)
    return (moment - datetime.min).total_seconds()


def _short(cell: Any) -> str:
    """Return a cell as a label; signs of double width count twice."""
    text = one_line(str(cell), 200)
    return text if cell_len(text) <= 24 else f"{set_cell_size(text, 23)}…"
