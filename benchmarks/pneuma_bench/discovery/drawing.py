"""Draws precision and recall of tables, and how often sets of tables are found."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.discovery.measuring import GroupFigures, Measured, Selection
from pneuma_bench.discovery.shares import NAMES
from pneuma_bench.plot import check_format, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_RULES = {"k": ("first k", "#4f43dd", "o-"), "tau": ("tau", "#2f7d4f", "s--")}
_FIGURES = {"precision": "#4f43dd", "recall": "#2f7d4f", "F1": "#6b7280"}


def draw_measured(path: Path, measured: Measured) -> None:
    """Draw what was measured of tables, sets and cells, as the paper's figures 6 to 8 do.

    Raises:
        BenchmarkError: The format is not known, nothing was measured, or the file cannot be
            written.
    """
    check_format(path)
    from matplotlib.figure import Figure

    panels = 3 * bool(measured.tables) + bool(measured.groups) + (measured.cells is not None)
    if not panels:
        raise BenchmarkError(f"nothing was measured, so {path} is not drawn")
    figure = Figure(figsize=(3.4 * panels, 3.2), layout="constrained")
    axes = list(figure.subplots(1, panels, squeeze=False)[0])
    if measured.tables:
        for name in NAMES:
            _draw_selections(axes.pop(0), name, measured.tables)
    if measured.groups:
        _draw_groups(axes.pop(0), measured.groups)
    if measured.cells is not None:
        _draw_cells(axes.pop(0), measured.cells.cells.values)
    save(figure, path)


def _draw_selections(panel: "Axes", name: str, selections: Sequence[Selection]) -> None:
    """Draw a figure against how many tables a question is given."""
    for rule, (label, colour, style) in _RULES.items():
        some = sorted((one for one in selections if one.rule == rule), key=lambda one: one.tables)
        across, up = [one.tables for one in some], [one.figures.values[name] for one in some]
        panel.plot(across, up, style, color=colour, label=label, linewidth=1.2, markersize=4)
    panel.set_title(name)
    panel.set_xlabel("tables a question")
    _finish(panel)
    panel.legend(frameon=False)


def _draw_groups(panel: "Axes", groups: Sequence[GroupFigures]) -> None:
    """Draw Hit@K of all questions, and of those that need so many tables."""
    for one in groups:
        values = {n: v for n, v in one.figures.values.items() if n.startswith("hit@")}
        label = "all" if one.needed is None else f"{one.needed} tables"
        panel.plot(
            [name.partition("@")[2] for name in values],
            list(values.values()),
            "o-",
            label=f"{label} ({one.figures.questions:,})",
            linewidth=2.0 if one.needed is None else 1.0,
            markersize=4,
        )
    panel.set_title("Hit@K (group)")
    panel.set_xlabel("K")
    _finish(panel)
    panel.legend(frameon=False)


def _draw_cells(panel: "Axes", values: Mapping[str, float]) -> None:
    panel.bar(NAMES, [values[name] for name in NAMES], color=[_FIGURES[name] for name in NAMES])
    panel.set_title("cells")
    _finish(panel)


def _finish(panel: "Axes") -> None:
    panel.set_ylim(0, 1.02)
    panel.grid(visible=True, axis="y", linewidth=0.4)
    panel.spines[["top", "right"]].set_visible(False)
