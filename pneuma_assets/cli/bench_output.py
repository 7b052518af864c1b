"""Prints how well questions were answered."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pneuma_assets.cli.output import print_table

if TYPE_CHECKING:
    from pneuma_assets.core.measure.figures import Figures

SHOWN = (
    *("R@1", "R@5", "R@10", "recall@5", "recall@10", "all@5", "all@10", "MRR", "nDCG@10"),
    *("kept", "refused"),
)
"""Figures of a table for people; JSON has the others, too."""

OF_KINDS = ("R@1", "R@5", "R@10", "MRR")
"""Figures of each sort of question; JSON has the others, too."""


def print_figures(
    figures: "Figures", kinds: "Mapping[str, Figures]", more: Sequence[str] = ()
) -> None:
    """Print figures, and `more`, with intervals; then a line for each sort of question."""
    rows = []
    for name in (*SHOWN, *more):
        value, interval = figures.values[name], figures.intervals[name]
        if not math.isnan(value):
            rows.append([name, f"{value:.3f}", f"{interval.low:.3f} to {interval.high:.3f}"])
    print_table(["figure", "value", "95 % interval"], rows, numbers=["value"])
    rows = []
    for kind, of_kind in kinds.items():
        values = [of_kind.values[name] for name in OF_KINDS]
        number = f"{len(of_kind.each['MRR']):,}"
        rows.append([kind, number, *("" if math.isnan(one) else f"{one:.3f}" for one in values)])
    if rows:
        print_table(["questions", "number", *OF_KINDS], rows, numbers=["number", *OF_KINDS])
