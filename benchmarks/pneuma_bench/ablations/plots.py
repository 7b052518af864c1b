"""Draws a figure: bars over sets, lines over numbers, points in two sizes."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pneuma_assets.core.text.safe import printable
from pneuma_bench.ablations.figures import RATE, PaperFigure, Shown
from pneuma_bench.plot import save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = (
    *("#1f4e79", "#7aa6d1", "#b2432f", "#d9a441", "#2f7d4f", "#7d4f8f", "#6b7280", "#c77c9b"),
    *("#3f8f8f", "#8c6d3f", "#a3b34f", "#444444"),
)
_LONGEST = 40
_LOGARITHMIC = ("9", "10")
"""Figures whose axes both are."""


def colours_of(every: Sequence[Shown]) -> dict[str, str]:
    """Return a colour for every line or bar of a page, the same one in all of its figures."""
    names = dict.fromkeys(one.point.series for one in every)
    return {name: _COLOURS[at % len(_COLOURS)] for at, name in enumerate(names)}


def draw(
    path: Path, figure: PaperFigure, every: Sequence[Shown], colours: Mapping[str, str]
) -> bool:
    """Draw what was measured of a figure as SVG; the same values give the same file.

    Args:
        path: The file.
        figure: The figure.
        every: Its values.
        colours: As `colours_of` gives them.

    Returns:
        Whether there was anything to draw; a table is not drawn.

    Raises:
        BenchmarkError: The file cannot be written.
    """
    shown = [one for one in every if not math.isnan(one.value)]
    if not shown or figure.shape == "table":
        return False
    import matplotlib as mpl
    from matplotlib.figure import Figure

    panels = [*dict.fromkeys(one.point.panel for one in shown)]
    its = {one.point.series: colours[one.point.series] for one in shown}
    with mpl.rc_context({"svg.fonttype": "none", "font.size": 8}):  # text stays text
        drawn = Figure(figsize=(7.6, 3.4 * len(panels)), layout="constrained")
        for axes, panel in zip(
            drawn.subplots(len(panels), squeeze=False).flat, panels, strict=True
        ):
            some = [one for one in shown if one.point.panel == panel]
            _bars(axes, some, its) if figure.shape == "bars" else _lines(axes, figure, some, its)
            axes.set(xlabel=figure.x, ylabel=figure.y)
            axes.set_title(panel, parse_math=False)
            axes.grid(visible=True, axis="y", linewidth=0.4)
            axes.set_axisbelow(True)
            if figure.y == RATE:
                axes.set_ylim(0, 1.02)
        handles, labels = drawn.axes[0].get_legend_handles_labels()
        legend = drawn.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
        for text in legend.get_texts():
            text.set_parse_math(False)
        save(drawn, path)
    return True


def _bars(axes: "Axes", shown: Sequence[Shown], colours: Mapping[str, str]) -> None:
    places = [*dict.fromkeys(one.point.x for one in shown)]
    width = 0.8 / len(colours)
    for at, (name, colour) in enumerate(colours.items()):
        its = [one for one in shown if one.point.series == name]
        left = [places.index(one.point.x) - 0.4 + width * (at + 0.5) for one in its]
        bounds = [(one.value, one.interval) for one in its if one.interval is not None]
        errors = [
            [max(0.0, value - low) for value, (low, _) in bounds],
            [max(0.0, high - value) for value, (_, high) in bounds],
        ]
        axes.bar(
            left, [one.value for one in its], width, color=colour, label=_label(name),
            yerr=errors if len(bounds) == len(its) else None, error_kw={"linewidth": 0.7},
        )  # fmt: skip
    axes.set_xticks(range(len(places)), [_label(str(one)) for one in places], parse_math=False)
    axes.set_xlim(-0.5, len(places) - 0.5)


def _lines(
    axes: "Axes", figure: PaperFigure, shown: Sequence[Shown], colours: Mapping[str, str]
) -> None:
    for name, colour in colours.items():
        its = [one for one in shown if one.point.series == name]
        if figure.shape == "lines":
            its = sorted(its, key=lambda one: one.point.x)
        across = [one.across if figure.shape == "points" else one.point.x for one in its]
        along = [one.value for one in its]
        axes.plot(across, along, "o-", color=colour, label=_label(name), markersize=3)
        if figure.shape == "points":
            for one in its:
                axes.annotate(str(one.point.x), (one.across, one.value), fontsize=6)
    if figure.number in _LOGARITHMIC:
        axes.set(xscale="log", yscale="log")
    if figure.number in _LOGARITHMIC and figure.shape == "lines":
        sizes = sorted({float(one.point.x) for one in shown})
        axes.set_xticks(sizes, [f"{size:,g}" for size in sizes])
        axes.set_xticks([], minor=True)


def _label(text: str) -> str:
    return printable(text)[:_LONGEST].lstrip("_")
