"""A chart of an answer's rows, as an image made on the server."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

from pneuma_assets.core.extras import installed, needs_extra
from pneuma_assets.core.text.safe import one_line

MOST_BARS, MOST_POINTS = 40, 1_000
_COLOUR = "#17607f"


@dataclass(frozen=True, slots=True)
class Chart:
    """An image of rows; where there is no image, `says` is why.

    Attributes:
        image: The SVG as an address with its content; a browser runs nothing in it.
        says: What it shows, for who does not see it.
        width: In pixels.
        height: Likewise.
    """

    image: str
    says: str
    width: int = 0
    height: int = 0


def chart_of(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Chart | None:
    """Return a chart of the last column of numbers by the first that tells rows apart, if any."""
    places = range(len(columns))
    values = next((place for place in reversed(places) if _is_numeric(rows, place)), None)
    apart = (one for one in places if len({str(row[one]) for row in rows}) == len(rows))
    names = next((place for place in apart if place != values), None)
    if values is None or names is None or not 2 <= len(rows) <= MOST_POINTS:
        return None
    is_line = _is_ordered(rows, names)
    if not is_line and len(rows) > MOST_BARS:
        return None
    if not installed("altair", "vl_convert"):
        return Chart("", needs_extra("a chart of this", "charts"))
    points = [{"x": row[names], "y": row[values]} for row in rows]
    return _drawn(points, _short(columns[names]), _short(columns[values]), is_line=is_line)


def _drawn(points: list[dict[str, Any]], name: str, value: str, *, is_line: bool) -> Chart:
    import altair as alt
    import vl_convert

    base = alt.Chart(alt.InlineData(points)).properties(width=720)
    if is_line:
        is_number = isinstance(points[0]["x"], int | float)
        x = alt.X("x:Q", axis=alt.Axis(format="~r")) if is_number else alt.X("x:T")
        x, y = x.title(name).scale(zero=False), alt.Y("y:Q", title=value).scale(zero=False)
        drawn = base.mark_line(color=_COLOUR, point={"color": _COLOUR}).encode(x=x, y=y)
        drawn = drawn.properties(height=260)
    else:
        across, down = alt.X("y:Q", title=value), alt.Y("x:N", title=name, sort=None)
        drawn = (
            base.mark_bar(color=_COLOUR).encode(x=across, y=down).properties(height=alt.Step(24))
        )
    drawn = drawn.configure_view(stroke=None).configure(font="sans-serif", background="white")
    svg = vl_convert.vegalite_to_svg(drawn.to_dict(), allowed_base_urls=[])
    address = f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
    size = ElementTree.fromstring(svg).attrib  # noqa: S314 (made here)
    says = f"{'Line' if is_line else 'Bars'} of {value} by {name}; the rows above have the values"
    return Chart(address, says, round(float(size["width"])), round(float(size["height"])))


def _is_numeric(rows: Sequence[Sequence[Any]], place: int) -> bool:
    """Tell whether a column has numbers alone, and some."""
    cells = [row[place] for row in rows if row[place] is not None]
    return bool(cells) and all(
        isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells
    )


def _is_ordered(rows: Sequence[Sequence[Any]], place: int) -> bool:
    """Tell whether a column has dates or numbers that rise, so that a line may follow them."""
    cells = [row[place] for row in rows]
    if _is_numeric(rows, place):
        ordered = cells
    else:
        try:
            ordered = [datetime.fromisoformat(cell).replace(tzinfo=None) for cell in cells]
        except (TypeError, ValueError):
            return False
    return None not in ordered and all(one < other for one, other in pairwise(ordered))


def _short(name: str) -> str:
    return one_line(name, 60)
