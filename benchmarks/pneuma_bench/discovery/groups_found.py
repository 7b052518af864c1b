"""How often the set of tables that a question needs is found (Octopus, Hit@K (group))."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pneuma_assets.core.progress import report
from pneuma_bench.discovery.desks import FindsGroups
from pneuma_bench.discovery.records import DiscoveryQuestion
from pneuma_bench.discovery.shares import Macro, macro

DEPTHS = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """What is counted of some questions.

    Attributes:
        needed: How many tables these need; None: all questions.
        figures: `hit@k`, the share that has all of its tables in one of the first k sets, `exact@k`
            the share that has one with no other table, and `tables` in the first set.
    """

    needed: int | None
    figures: Macro

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {"needed": self.needed, **self.figures.to_dict()}


def measure_groups(
    desk: FindsGroups, questions: Sequence[DiscoveryQuestion], depths: Sequence[int] = DEPTHS
) -> list[GroupFigures]:
    """Return Hit@K of all questions, and of those that need so many tables.

    Questions that no table answers are not asked.
    """
    asked = [one for one in questions if one.tables]
    each: list[tuple[int, list[float]]] = []
    for done, one in enumerate(asked, start=1):
        found = [set(group.tables) for group in desk.find_groups(one.question, k=max(depths))]
        each.append((len(one.tables), _counted(found, set(one.tables), depths)))
        report("asking for sets of tables", done, len(asked))
    names = [f"{what}@{k}" for what in ("hit", "exact") for k in depths] + ["tables"]
    several = sorted({number for number, _ in each})
    return [
        GroupFigures(
            needed, macro([row for number, row in each if needed in (None, number)], names)
        )
        for needed in (None, *several)
    ]


def _counted(found: Sequence[set[str]], wanted: set[str], depths: Sequence[int]) -> list[float]:
    hits = [float(any(wanted <= one for one in found[:k])) for k in depths]
    exact = [float(wanted in found[:k]) for k in depths]
    return [*hits, *exact, float(len(found[0]) if found else 0)]
