"""Every figure of section 7 that can be measured here, by its number, and why others cannot."""

from collections.abc import Callable, Mapping, Sequence

from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.ablations import comparing, varying
from pneuma_bench.ablations.figures import PageOptions, PaperFigure

FIGURES: Mapping[str, Callable[[PageOptions], PaperFigure]] = {
    "6": comparing.figure_6,
    "7": comparing.figure_7,
    "8": comparing.figure_8,
    "9": comparing.figure_9,
    "10": comparing.figure_10,
    "costs": comparing.costs,
    "11": varying.figure_11,
    "12": varying.figure_12,
    "table 2": varying.table_2,
    "13": varying.figure_13,
    "14": varying.figure_14,
    "15": varying.figure_15,
    "16": varying.figure_16,
    "17": varying.figure_17,
    "19": comparing.figure_19,
    "parts": varying.parts,
}

NOT_HERE = (
    "Figure 18 (a narrator that hallucinates, by its temperature) is not measured: models are "
    "asked greedily here, by promise, and there is no temperature to raise.",
    "BIRD (figure 8b) is not at hand.",
)


def chosen(numbers: Sequence[str]) -> list[str]:
    """Return the figures that `6,11-13,table 2` names, in the page's order; all if none is named.

    Raises:
        BenchmarkError: There is no such figure.
    """
    wanted: set[str] = set()
    for one in numbers:
        first, _, last = one.partition("-")
        is_range = first.isdecimal() and last.isdecimal()
        named = {
            number
            for number in FIGURES
            if number == one
            or (is_range and number.isdecimal() and int(first) <= int(number) <= int(last))
        }
        wanted |= named
        if not named:
            raise BenchmarkError(f"there is no figure {one!r}; use some of: {', '.join(FIGURES)}")
    return [number for number in FIGURES if number in wanted] if numbers else [*FIGURES]
