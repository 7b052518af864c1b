"""Draws how a deployment's questions were answered from time to time."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from pneuma_assets.core.bench.mine.comparing import renewed
from pneuma_assets.core.bench.plot import check_format, save
from pneuma_assets.core.store.mined import Measurement

DRAWN = {"R@1": "#4f43dd", "R@10": "#2f7d4f", "MRR": "#6b7280"}
"""Figures, and the colour of each."""


def draw_trend(path: Path, history: Sequence[Measurement]) -> None:
    """Draw the figures of all measurements into a file of the format its name ends in.

    A vertical line stands where people began to compare anew, or made other questions.

    Raises:
        BenchmarkError: The format is not known, or the file cannot be written.
    """
    check_format(path)
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(7.0, 3.2), layout="constrained")
    axes = figure.subplots()
    numbers = [one.number for one in history]
    for name, colour in DRAWN.items():
        values = [one.figures.get(name, float("nan")) for one in history]
        axes.plot(numbers, values, "o-", color=colour, label=name, linewidth=1.2, markersize=4)
    others = renewed(history)
    for one in history:
        if one.accepted or one.number in others:
            axes.axvline(one.number, color="#9ca3af", linewidth=0.8, linestyle=":")
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(_between(history))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(visible=True, axis="y", linewidth=0.4)
    axes.legend(loc="lower left", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, path)


def _between(history: Sequence[Measurement]) -> str:
    if not history:
        return "measurement"
    days = [datetime.fromtimestamp(one.measured_at, UTC).date() for one in history]
    return f"measurement, {days[0]} to {days[-1]}"
