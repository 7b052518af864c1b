"""Retrieval metrics as pure functions of ranked and relevant ids; all between 0 and 1.

`ranked` is best first without repetition; `relevant` is not empty.
"""

import math
from collections.abc import Callable, Collection, Sequence

Metric = Callable[[Sequence[str], Collection[str]], float]


def recall_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Return the share of the relevant ids among the first `k`."""
    return len(set(ranked[:k]) & set(relevant)) / len(set(relevant))


def hit_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Return 1.0 if any relevant id is among the first `k` (Pneuma's hit rate, section 7.1)."""
    return float(not set(relevant).isdisjoint(ranked[:k]))


def capped_recall_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Return the share of the most relevant ids that `k` places can hold (TARGET, section 3.2)."""
    wanted = set(relevant)
    return len(set(ranked[:k]) & wanted) / min(k, len(wanted))


def all_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Return 1.0 if every relevant id is among the first `k`: what a join of them needs."""
    return float(set(relevant).issubset(ranked[:k]))


def reciprocal_rank(ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Return one divided by the place of the first relevant id; 0.0 if there is none."""
    places = (place for place, one in enumerate(ranked, start=1) if one in relevant)
    return 1.0 / next(places, math.inf)


def ndcg_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Return the normalised discounted cumulative gain of the first `k`, each gain 0 or 1."""
    gain = sum(_discount(place) for place, one in enumerate(ranked[:k], 1) if one in relevant)
    ideal = sum(_discount(place) for place in range(1, min(k, len(set(relevant))) + 1))
    return gain / ideal


def mean(
    metric: Metric, rankings: Sequence[Sequence[str]], relevant: Sequence[Collection[str]]
) -> float:
    """Return the metric's mean over questions; 0.0 if there are none."""
    if not rankings:
        return 0.0
    return math.fsum(map(metric, rankings, relevant)) / len(rankings)


def _discount(place: int) -> float:
    return 1.0 / math.log2(place + 1)
