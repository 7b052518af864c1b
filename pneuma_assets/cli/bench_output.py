"""Prints what a measurement came to."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pneuma_assets.cli.output import print_line, print_table

if TYPE_CHECKING:
    from pneuma_assets.core.bench.ablation import Compared
    from pneuma_assets.core.bench.figures import Figures
    from pneuma_assets.core.bench.run import Outcome

SHOWN = (
    *("R@1", "R@5", "R@10", "recall@5", "recall@10", "all@5", "all@10", "MRR", "nDCG@10"),
    *("precision", "recall", "F1", "AUROC", "kept", "refused"),
)
"""Figures of a table for people; JSON has the others, too."""

OF_KINDS = ("R@1", "R@5", "R@10", "MRR")
"""Figures of each sort of question; JSON has the others, too."""


def print_outcome(outcome: "Outcome") -> None:
    """Print the figures of one measurement with their intervals, then its sizes and times."""
    rows = []
    for name in SHOWN:
        value, interval = outcome.figures.values[name], outcome.figures.intervals[name]
        if not math.isnan(value):
            rows.append([name, f"{value:.3f}", f"{interval.low:.3f} to {interval.high:.3f}"])
    print_line(outcome.name)
    print_table(["figure", "value", "95 % interval"], rows, numbers=["value"])
    if outcome.kinds:
        _print_kinds(outcome.kinds)
    for line in _facts(outcome.facts):
        print_line(line)


def _print_kinds(kinds: "Mapping[str, Figures]") -> None:
    """Print a line for each sort of question: how many, and the figures that differ most."""
    rows = []
    for kind, figures in kinds.items():
        values = [figures.values[name] for name in OF_KINDS]
        number = f"{len(figures.each['MRR']):,}"
        rows.append([kind, number, *("" if math.isnan(one) else f"{one:.3f}" for one in values)])
    print_table(["questions", "number", *OF_KINDS], rows, numbers=["number", *OF_KINDS])


def _facts(facts: Mapping[str, Any]) -> list[str]:
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in facts["blocks_by_kind"].items())
    lines = [
        f"{facts['questions']:,} questions, and {facts['unanswerable']:,} that no table answers; "
        f"precision, recall and F1 at a score of {facts['threshold']:g}, "
        f"refused below a confidence of {facts['refuse_below']:g}",
        f"{facts['tables']:,} tables, {facts['blocks']:,} blocks ({kinds}), "
        f"{facts['index_bytes'] / 1e6:,.1f} MB, engine {facts['engine']}",
        f"a question: {facts['ms_p50']:.1f} ms (median), {facts['ms_p95']:.1f} ms (95 of 100)",
    ]
    if "seconds_to_index" in facts:
        lines.append(
            f"indexed in {facts['seconds_to_index']:.1f} s, {facts['texts_embedded']:,} texts "
            "embedded"
        )
    return lines


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
