"""Draws a curve over the size of the haystack: how often, how fast, how large."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pneuma_bench.plot import check_format, save
from pneuma_bench.target.curve import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLUE, _RED, _GREY = "#2f5d8a", "#b2432f", "#6b7280"
_MB = 1e6

Line = tuple[str, str, Callable[[Point], float], Callable[[Point], tuple[float, float]] | None]

_PANELS: Sequence[tuple[str, bool, Sequence[Line]]] = (
    (
        "share of questions",
        False,
        (
            ("R@1", _RED, lambda p: p.hit_1, lambda p: p.hit_1_interval),
            ("R@10", _BLUE, lambda p: p.hit_10, lambda p: p.hit_10_interval),
        ),
    ),
    (
        "milliseconds a question",
        True,
        (
            ("median", _BLUE, lambda p: p.ms_p50, None),
            ("95 of 100", _RED, lambda p: p.ms_p95, None),
            ("processor", _GREY, lambda p: p.ms_cpu, None),
        ),
    ),
    (
        "megabytes",
        True,
        (
            ("memory to ask", _BLUE, lambda p: p.memory_to_ask / _MB, None),
            ("memory to index", _RED, lambda p: p.memory_to_index / _MB, None),
            ("index on disk", _GREY, lambda p: p.index_bytes / _MB, None),
        ),
    ),
)


def draw_curve(path: Path, points: Sequence[Point]) -> None:
    """Draw a panel for each kind of figure; bands are 95 % intervals over the questions.

    The same points give the same file: nothing in it says when it was drawn.

    Raises:
        BenchmarkError: The format is not known, or the file cannot be written.
    """
    check_format(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.2), layout="constrained")
    panels = figure.subplots(1, len(_PANELS), squeeze=False)[0]
    for panel, (title, is_logarithmic, lines) in zip(panels, _PANELS, strict=True):
        _draw(panel, points, lines)
        panel.set(title=title, xscale="log", xlabel="tables")
        if is_logarithmic:
            panel.set_yscale("log")
        else:
            panel.set_ylim(0, 1)
        panel.grid(visible=True, linewidth=0.4)
        panel.legend(frameon=False, fontsize=8)
    save(figure, path)


def _draw(panel: "Axes", points: Sequence[Point], lines: Sequence[Line]) -> None:
    sizes = [point.tables for point in points]
    for name, colour, value, interval in lines:
        panel.plot(sizes, [value(point) for point in points], "o-", color=colour, ms=4, label=name)
        if interval is not None:
            low, high = zip(*(interval(point) for point in points), strict=True)
            panel.fill_between(sizes, low, high, color=colour, alpha=0.12, linewidth=0)
