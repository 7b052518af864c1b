"""Retrieval metrics as pure functions of ranked and relevant ids; all between 0 and 1.

`ranked` is best first without repetition; `relevant` is not empty. Pneuma (section 7.1) counts a
question as answered if a relevant table is among the first k; TARGET (Ji et al., 2025, section 3.2)
adds recall and capped recall for questions that need several tables.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

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


Values = npt.NDArray[np.float64]
"""One number a question."""

SAMPLES = 2_000
SEED = 0
LEVEL = 0.95

_DRAWN_AT_ONCE = 4_000_000
"""Drawn questions in memory at a time."""


class Interval(NamedTuple):
    """Between which bounds a figure lies in 95 of 100 samples."""

    low: float
    high: float


def drawn(questions: int, step: int | None = None, seed: int = SEED) -> Iterator[Values]:
    """Yield how often each sample holds each question, shape (`step` samples, questions)."""
    generator = np.random.default_rng(seed)
    step = step or max(1, _DRAWN_AT_ONCE // max(1, questions))
    for start in range(0, SAMPLES, step):
        count = min(step, SAMPLES - start)
        picked = generator.integers(questions, size=(count, questions))
        picked += np.arange(count)[:, np.newaxis] * questions
        weights = np.bincount(picked.ravel(), minlength=count * questions)
        yield weights.reshape(count, questions).astype(np.float64)


def interval_of(figures: Values) -> Interval:
    """Return the middle 95 % of a figure's values over samples, those that are no number aside."""
    figures = figures[~np.isnan(figures)]
    if not len(figures):
        return Interval(float("nan"), float("nan"))
    tail = 100 * (1 - LEVEL) / 2
    low, high = np.percentile(figures, [tail, 100 - tail])
    return Interval(float(low), float(high))


def mean_intervals(values: Mapping[str, Values]) -> dict[str, Interval]:
    """Return the interval of each figure's mean over the same questions."""
    if not values:
        return {}
    table = np.stack([*values.values()], axis=1)
    questions = len(table)
    if not questions:
        return {name: Interval(float("nan"), float("nan")) for name in values}
    means = np.concatenate([weights @ table / questions for weights in drawn(questions)])
    return {name: interval_of(means[:, place]) for place, name in enumerate(values)}
