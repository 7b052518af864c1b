"""Prints settings that were compared, each with its difference to the first."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pneuma_assets.cli.output import print_table

if TYPE_CHECKING:
    from pneuma_bench.ablation import Compared


def print_compared(compared: "Sequence[Compared]", metrics: Sequence[str]) -> None:
    """Print a line a setting: each figure, its interval, and the difference to the first."""
    headings = [part for name in metrics for part in (name, "95 %", "to default, 95 %")]
    rows = [
        [*(part for name in metrics for part in _parts(one, name)), one.outcome.name]
        for one in compared
    ]
    print_table([*headings, "setting"], rows, numbers=metrics)


def _parts(one: "Compared", name: str) -> tuple[str, str, str]:
    figures = one.outcome.figures
    low, high = figures.intervals[name]
    difference, (least, most) = one.differences[name]
    return (
        _short(figures.values[name]),
        f"{_short(low)}-{_short(high)}",
        f"{_short(difference, '+')} {_short(least, '+')}..{_short(most, '+')}",
    )


def _short(value: float, sign: str = "") -> str:
    """Return three digits without the zero before the point, so that two figures fit a line."""
    return f"{value:{sign}.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:{sign}.3f}"
