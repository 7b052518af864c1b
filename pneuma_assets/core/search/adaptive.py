"""How many tables a question needs: those that score nearly as well as its best one.

Octopus (section 4.3, "Multi-table Independent Discovery"): scores are scaled to 0..1 for each
question, and tables stay that reach a threshold tau. A question that one table answers gets few,
one that many answer equally well gets many.
"""

from collections.abc import Sequence

from pneuma_assets.core.search.judge import is_refused
from pneuma_assets.core.search.results import TableResult

TAU = 0.9
"""Where nobody says: F1 is highest with it on three sets of questions (docs/measurements.md)."""
AMONG = 30
"""Tables among which scores are scaled, so that it does not depend on how many are wanted."""


def as_many_as_needed(results: Sequence[TableResult], tau: float) -> list[TableResult]:
    """Return the tables that a question needs, their order kept.

    What stands before one that stays, stays, too: its name was typed in, or it stands in the place
    of its copies. What the judge refuses goes, unless it refuses all.

    Args:
        results: Of one question, best first.
        tau: From 0, which leaves all, to 1, which leaves the best alone.
    """
    accepted = [one for one in results if not is_refused(one.parts.judge)] or results
    kept = reaching([one.score for one in accepted], tau)
    last = max((place for place, keep in enumerate(kept) if keep), default=-1)
    return list(accepted[: last + 1])


def scaled(scores: Sequence[float]) -> list[float]:
    """Return the scores of one question's candidates from 0, the lowest, to 1, the highest.

    Where all are alike each is 1: none is less of an answer than another.
    """
    lowest, highest = min(scores, default=0.0), max(scores, default=0.0)
    span = highest - lowest
    return [(score - lowest) / span if span > 0 else 1.0 for score in scores]


def reaching(scores: Sequence[float], tau: float) -> list[bool]:
    """Tell of each candidate whether its scaled score is at least tau, 0 to 1."""
    return [score >= tau for score in scaled(scores)]
