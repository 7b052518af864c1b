"""Prints what a measurement came to."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pneuma_assets.cli.output import print_line, print_table

if TYPE_CHECKING:
    from pneuma_assets.core.measure.figures import Figures
    from pneuma_assets.core.measure.run import Outcome

SHOWN = (
    *("R@1", "R@5", "R@10", "recall@5", "recall@10", "all@5", "all@10", "MRR", "nDCG@10"),
    *("kept", "refused"),
)
"""Figures of a table for people; JSON has the others, too."""

OF_KINDS = ("R@1", "R@5", "R@10", "MRR")
"""Figures of each sort of question; JSON has the others, too."""


def print_outcome(outcome: "Outcome", more: Sequence[str] = ()) -> None:
    """Print the figures of one measurement, and more, with intervals; then sizes and times."""
    rows = []
    for name in (*SHOWN, *more):
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
    return [
        f"{facts['questions']:,} questions, and {facts['unanswerable']:,} that no table answers; "
        f"refused below a confidence of {facts['refuse_below']:g}",
        f"{facts['tables']:,} tables, {facts['blocks']:,} blocks ({kinds}), "
        f"{facts['index_bytes'] / 1e6:,.1f} MB, engine {facts['engine']}",
        f"a question: {facts['ms_p50']:.1f} ms (median), {facts['ms_p95']:.1f} ms (95 of 100)",
    ]
