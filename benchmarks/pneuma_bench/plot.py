"""Draws figures: the same values give the same file, whenever and wherever it is drawn."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pneuma_assets.core.text.safe import printable
from pneuma_bench.files import whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pneuma_bench.ablation import Compared

FORMATS = (".png", ".svg", ".pdf")
_WORSE, _SAME, _BETTER = "#b2432f", "#6b7280", "#2f7d4f"
_LONGEST = 48


def save(figure: "Figure", path: Path) -> None:
    """Write a figure in the format that the name ends in, one of `FORMATS`.

    Missing folders are made, and the file is as it was until all is written.

    Raises:
        BenchmarkError: The file cannot be written.
    """
    import matplotlib as mpl

    ending = path.suffix.lower()
    dates = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    with mpl.rc_context({"svg.hashsalt": "pneuma-assets"}), whole(path) as stream:
        figure.savefig(stream, format=ending[1:], dpi=150, metadata=dates.get(ending))


def draw_compared(path: Path, compared: "Sequence[Compared]", metrics: Sequence[str]) -> None:
    """Draw an ablation: a row a setting, a panel a figure.

    A dot is a figure and a line its 95 % interval. It is grey where the interval of the difference
    to the first setting, whose figure is the vertical line, holds 0.

    Raises:
        BenchmarkError: The file cannot be written.
    """
    from matplotlib.figure import Figure

    height = 1.2 + 0.28 * len(compared)
    figure = Figure(figsize=(3.0 + 3.2 * len(metrics), height), layout="constrained")
    panels = figure.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
    for panel, metric in zip(panels, metrics, strict=True):
        for row, one in enumerate(compared):
            figures, (_, (low, high)) = one.outcome.figures, one.differences[metric]
            colour = _SAME if low <= 0 <= high else _BETTER if low > 0 else _WORSE
            panel.plot([*figures.intervals[metric]], [row, row], color=colour, linewidth=1.5)
            panel.plot([figures.values[metric]], [row], "o", color=colour, markersize=5)
        first = compared[0].outcome.figures.values[metric]
        panel.axvline(first, color=_SAME, linewidth=0.8, linestyle=":")
        panel.set_title(metric, parse_math=False)
        panel.grid(visible=True, axis="x", linewidth=0.4)
    names = [printable(one.outcome.name)[:_LONGEST] for one in compared]
    panels[0].set_yticks(range(len(compared)), names, parse_math=False)
    panels[0].invert_yaxis()
    save(figure, path)
