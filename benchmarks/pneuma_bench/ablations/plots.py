"""Draws a figure: bars over sets, lines over numbers, points in two sizes."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from pneuma_assets.core.text.safe import printable
from pneuma_bench.ablations.figures import RATE, Filled, Shown
from pneuma_bench.files import whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = (
    *("#1f4e79", "#7aa6d1", "#b2432f", "#d9a441", "#2f7d4f", "#7d4f8f", "#6b7280", "#c77c9b"),
    *("#3f8f8f", "#8c6d3f", "#a3b34f", "#444444"),
)
_LONGEST = 40
_WIDE, _HIGH = 7.6, 3.4


def colours_of(figures: Sequence[Filled]) -> dict[str, str]:
    """Return a colour for every line or bar of a page, the same one in all of its figures."""
    names = dict.fromkeys(one.point.series for filled in figures for one in filled.shown)
    return {name: _COLOURS[at % len(_COLOURS)] for at, name in enumerate(names)}


def draw(path: Path, filled: Filled, colours: Mapping[str, str]) -> bool:
    """Draw what was measured of a figure as SVG; the same values give the same file.

    Args:
        path: The file.
        filled: The figure.
        colours: As `colours_of` gives them.

    Returns:
        Whether there was anything to draw; a table is not drawn.

    Raises:
        BenchmarkError: The file cannot be written.
    """
    shown = [one for one in filled.shown if not math.isnan(one.value)]
    painter = _PAINTERS.get(filled.figure.shape)
    if not shown or painter is None:
        return False
    import matplotlib as mpl
    from matplotlib.figure import Figure

    panels = [*dict.fromkeys(one.point.panel for one in shown)]
    its = {one.point.series: colours[one.point.series] for one in shown}
    # Text stays text, and ids are made of a fixed salt: no font and no clock changes the file.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "pneuma", "font.size": 8}):
        figure = Figure(figsize=(_WIDE, _HIGH * len(panels)), layout="constrained")
        for axes, panel in zip(
            figure.subplots(len(panels), squeeze=False).flat, panels, strict=True
        ):
            painter(axes, [one for one in shown if one.point.panel == panel], its)
            axes.set(xlabel=filled.figure.x, ylabel=filled.figure.y)
            axes.set_title(panel, parse_math=False)
            axes.grid(visible=True, axis="y", linewidth=0.4)
            axes.set_axisbelow(True)
            if filled.figure.y == RATE:
                axes.set_ylim(0, 1.02)
            if filled.figure.logarithmic:
                axes.set_xscale("log")
                axes.set_yscale("log")
            if filled.figure.logarithmic and filled.figure.shape == "lines":
                sizes = sorted({float(one.point.x) for one in shown})
                axes.set_xticks(sizes, [f"{size:,g}" for size in sizes])
                axes.set_xticks([], minor=True)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        legend = figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
        for text in legend.get_texts():
            text.set_parse_math(False)
        with whole(path) as stream:
            figure.savefig(stream, format="svg", metadata={"Date": None})
    return True


def _bars(axes: "Axes", shown: Sequence[Shown], colours: Mapping[str, str]) -> None:
    places = [*dict.fromkeys(one.point.x for one in shown)]
    width = 0.8 / len(colours)
    for at, (name, colour) in enumerate(colours.items()):
        its = [one for one in shown if one.point.series == name]
        left = [places.index(one.point.x) - 0.4 + width * (at + 0.5) for one in its]
        axes.bar(
            left, [one.value for one in its], width, color=colour, label=_label(name),
            yerr=_errors(its), error_kw={"linewidth": 0.7},
        )  # fmt: skip
    axes.set_xticks(range(len(places)), [_label(str(one)) for one in places], parse_math=False)
    axes.set_xlim(-0.5, len(places) - 0.5)


def _lines(axes: "Axes", shown: Sequence[Shown], colours: Mapping[str, str]) -> None:
    for name, colour in colours.items():
        its = sorted((float(one.point.x), one.value) for one in shown if one.point.series == name)
        across, along = [x for x, _ in its], [value for _, value in its]
        axes.plot(across, along, "o-", color=colour, label=_label(name), markersize=3)


def _points(axes: "Axes", shown: Sequence[Shown], colours: Mapping[str, str]) -> None:
    for name, colour in colours.items():
        its = [one for one in shown if one.point.series == name]
        across, along = [one.across for one in its], [one.value for one in its]
        axes.plot(across, along, "o-", color=colour, label=_label(name), markersize=4)
        for one in its:
            axes.annotate(str(one.point.x), (one.across, one.value), fontsize=6)


def _errors(shown: Sequence[Shown]) -> list[list[float]] | None:
    """Return how far intervals reach below and above each value; None where there is none."""
    if any(one.interval is None for one in shown):
        return None
    bounds = [(one.value, one.interval) for one in shown if one.interval is not None]
    return [
        [max(0.0, value - low) for value, (low, _) in bounds],
        [max(0.0, high - value) for value, (_, high) in bounds],
    ]


def _label(text: str) -> str:
    return printable(text)[:_LONGEST].lstrip("_")


_PAINTERS: Mapping[str, Callable[["Axes", Sequence[Shown], Mapping[str, str]], None]] = (
    MappingProxyType({"bars": _bars, "lines": _lines, "points": _points})
)
