"""Retrieval metrics as pure functions of ranked and relevant ids; all between 0 and 1.

`ranked` is best first without repetition; `relevant` is not empty. Pneuma (section 7.1) counts a
question as answered if a relevant table is among the first k; TARGET (Ji et al., 2025, section 3.2)
adds recall and capped recall for questions that need several tables.
"""

import math
from collections.abc import Callable, Collection, Sequence
from functools import partial

Metric = Callable[[Sequence[str], Collection[str]], float]

DEPTHS = (1, 5, 10)


def recall_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Return the share of the relevant ids among the first `k`."""
    return len(set(ranked[:k]) & set(relevant)) / len(set(relevant))


def hit_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Return 1.0 if any relevant id is among the first `k` (Pneuma's hit rate, section 7.1)."""
    return float(not set(relevant).isdisjoint(ranked[:k]))


def capped_recall_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Return the share of the most relevant ids that `k` places can hold (TARGET, after BEIR)."""
    wanted = set(relevant)
    return len(set(ranked[:k]) & wanted) / min(k, len(wanted))


def all_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Return 1.0 if every relevant id is among the first `k`: what a join of them needs."""
    return float(set(relevant).issubset(ranked[:k]))


def reciprocal_rank(ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Return one divided by the place of the first relevant id; 0.0 if there is none."""
    return 1.0 / (first_place(ranked, relevant) or math.inf)


def ndcg_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Return the normalised discounted cumulative gain of the first `k`, each gain 0 or 1."""
    gain = sum(_discount(place) for place, one in enumerate(ranked[:k], 1) if one in relevant)
    ideal = sum(_discount(place) for place in range(1, min(k, len(set(relevant))) + 1))
    return gain / ideal


def first_place(ranked: Sequence[str], relevant: Collection[str]) -> int | None:
    """Return the place of the first relevant id, from 1; None if there is none."""
    return next((place for place, one in enumerate(ranked, start=1) if one in relevant), None)


def ranking_metrics(depths: Sequence[int] = DEPTHS) -> dict[str, Metric]:
    """Return every metric by the name it is reported under, cut at these depths.

    `R@k` is `hit@k`: with one relevant table a question, as in the sets of TARGET's retrieval
    tasks, it is the same as recall, and both papers report it.
    """
    named: dict[str, Metric] = {}
    for k in depths:
        named |= {
            f"R@{k}": partial(hit_at, k),
            f"hit@{k}": partial(hit_at, k),
            f"recall@{k}": partial(recall_at, k),
            f"capped_recall@{k}": partial(capped_recall_at, k),
            f"all@{k}": partial(all_at, k),
        }
    return named | {"MRR": reciprocal_rank, "nDCG@10": partial(ndcg_at, 10)}


def _discount(place: int) -> float:
    return 1.0 / math.log2(place + 1)
