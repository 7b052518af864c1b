"""Small drawings, made on the server: shapes with numbers that templates put into SVG."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pneuma_assets.core.service.describe import moment
from pneuma_assets.core.service.joins import KnownJoin
from pneuma_assets.core.service.lineage import LinkedTable
from pneuma_assets.core.tables import ColumnProfile

_DAY = 86_400

_SIGNALS: Mapping[str, tuple[str, str]] = {
    "meaning": ("Meaning", "a passage means something like the question"),
    "words": ("Descriptions", "words of documents and descriptions"),
    "names": ("Name", "the name of the table and of what it lies in"),
    "own": ("Own name", "how much of the table's name the question says"),
    "coverage": ("Names", "how much of the question names and descriptions of columns say"),
    "place": ("Neighbours", "tables beside it say much of the question"),
    "rows": ("Rows", "words of a row, or of all rows"),
    "cells": ("Whole cells", "cells that the question repeats"),
    "rare": ("Rare words", "words that few tables have"),
}
"""Of each signal what it is called, and what it says."""


@dataclass(frozen=True, slots=True)
class Share:
    """What one signal adds to a score, of 1."""

    name: str
    says: str
    share: float


def shares(signals: Mapping[str, float]) -> list[Share]:
    """Return what signals add to a score, always in the same order, without those that add none."""
    order = [*_SIGNALS, *sorted(signals.keys() - _SIGNALS)]
    return [
        Share(*_SIGNALS.get(one, (one, "another signal")), signals[one])
        for one in order
        if signals.get(one, 0.0) > 0
    ]


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a histogram, in a box of 100 by 40."""

    x: float
    y: float
    width: float
    height: float
    between: str
    rows: int


def histogram(profile: ColumnProfile) -> list[Bar]:
    """Return bars for ranges of numbers or dates with their rows; each says what it shows."""
    bins = profile.histogram
    most = max((rows for _, _, rows in bins), default=0)
    if not most:
        return []
    step, is_date = 100 / len(bins), "-" in (profile.least or "")[1:].lower().partition("e")[0]
    shown = 10 if all(low % _DAY == 0 for low, _, _ in bins) else 16  # days, or minutes

    def edge(value: float) -> str:
        at = moment(value) if is_date else None
        return f"{value:,.6g}" if at is None else at[:shown].replace("T", " ")

    return [
        Bar(
            round(place * step, 2),
            round(40 - 40 * rows / most, 2),
            round(step - 0.8, 2),
            round(40 * rows / most, 2),
            f"{edge(low)} to {edge(high)}",
            rows,
        )
        for place, (low, high, rows) in enumerate(bins)
    ]


@dataclass(frozen=True, slots=True)
class Trend:
    """A line in a box of 600 by 120, as points of SVG, and the area below it."""

    line: str
    area: str


def trend(counts: Sequence[tuple[float, int]]) -> Trend | None:
    """Return row counts over time, in seconds and rows, as a line; None for fewer than two."""
    if len(counts) < 2:
        return None
    first, last = counts[0][0], counts[-1][0]
    most = max(rows for _, rows in counts) or 1
    span = (last - first) or 1.0
    points = [
        f"{600 * (at - first) / span:.1f},{116 - 112 * rows / most:.1f}" for at, rows in counts
    ]
    return Trend(" ".join(points), " ".join(("0,120", *points, "600,120")))


WIDTH, HEIGHT, GAP_X, GAP_Y = 190, 44, 90, 14
"""Of a table's box, and between boxes."""
MOST_IN_A_LAYER = 8


@dataclass(frozen=True, slots=True)
class Node:
    """A table in a drawing; `table_id` is empty where it stands for more that are not drawn."""

    table_id: str
    name: str
    where: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Arrow:
    """A curve from one table to another, with what stands beside it."""

    path: str
    says: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Graph:
    """Tables, the page's own first, and arrows between them, in a box of so many pixels."""

    width: float
    height: float
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]


def lineage_graph(table_id: str, linked: Sequence[LinkedTable], depth: int = 3) -> Graph | None:
    """Return what a table is built from, to its left, and what is built from it, to its right."""
    layers: dict[int, list[str]] = {}
    links = []
    for one in linked:
        if one.depth > depth:
            continue
        way = -1 if one.direction == "upstream" else 1
        layers.setdefault(way * one.depth, []).append(one.table_id)
        pair = (one.table_id, one.via) if way < 0 else (one.via, one.table_id)
        links.append((*pair, one.kind.replace("_", " ")))
    return _graph(table_id, layers, links) if layers else None


def join_graph(table_id: str, joins: Sequence[KnownJoin]) -> Graph | None:
    """Return a table between those that refer to it, at its left, and those that it refers to.

    Of several joins with one table the first is drawn.
    """
    layers: dict[int, list[str]] = {}
    links: dict[str, tuple[str, str, str]] = {}
    for one in joins:
        if one.other in links:
            continue
        sides = [(table_id, one.columns), (one.other, one.other_columns)]
        (a, key), (b, other_key) = sides if one.refers else sides[::-1]
        says = ", ".join(x if x == y else f"{x} = {y}" for x, y in zip(key, other_key, strict=True))
        links[one.other] = (a, b, says)
        layers.setdefault(1 if one.refers else -1, []).append(one.other)
    return _graph(table_id, layers, list(links.values()), gap=170) if layers else None


def _graph(
    own: str,
    layers: Mapping[int, Sequence[str]],
    links: Sequence[tuple[str, str, str]],
    gap: int = GAP_X,
) -> Graph:
    """Lay tables out in columns, the own one in column 0, and connect those that are drawn."""
    columns = {0: [own], **{at: list(dict.fromkeys(layers[at])) for at in sorted(layers)}}
    tallest = max(min(len(ids), MOST_IN_A_LAYER + 1) for ids in columns.values())
    height = tallest * (HEIGHT + GAP_Y) - GAP_Y
    places: dict[str, Node] = {}
    more: list[Node] = []
    for at, ids in columns.items():
        x = (at - min(columns)) * (WIDTH + gap)
        drawn, left = ids[:MOST_IN_A_LAYER], len(ids) - MOST_IN_A_LAYER
        rows = len(drawn) + (left > 0)
        top = (height - rows * (HEIGHT + GAP_Y) + GAP_Y) / 2
        for row, table_id in enumerate(drawn):
            where, _, name = table_id.rpartition("/")
            y = top + row * (HEIGHT + GAP_Y)
            places.setdefault(table_id, Node(table_id, _cut(name, 24), _cut(where, 30), x, y))
        if left > 0:
            more.append(
                Node(
                    "",
                    f"and {left:,} more",
                    "in the list below",
                    x,
                    top + len(drawn) * (HEIGHT + GAP_Y),
                )
            )
    arrows = [
        _arrow(places[a], places[b], places[own].x, _cut(says, 26))
        for a, b, says in links
        if a in places and b in places
    ]
    width = (max(columns) - min(columns)) * (WIDTH + gap) + WIDTH
    nodes = (places.pop(own), *places.values(), *more)
    return Graph(width, height, nodes, tuple(arrows))


def _arrow(one: Node, other: Node, own_x: float, says: str) -> Arrow:
    """Return the arrow from one table to another, its text at the end that is not crowded."""
    x1, y1 = one.x + WIDTH, one.y + HEIGHT / 2
    x2, y2 = other.x - 3, other.y + HEIGHT / 2
    middle = (x1 + x2) / 2
    path = f"M{x1:.0f} {y1:.1f}C{middle:.0f} {y1:.1f} {middle:.0f} {y2:.1f} {x2:.0f} {y2:.1f}"
    return Arrow(path, says, middle, (y2 if other.x > own_x else y1) - 5)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
