"""How far a figure may be off because other questions could have been asked.

Percentile bootstrap (Efron & Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13): the
questions are drawn anew with replacement, the figure is computed of each draw, and the interval
holds the middle 95 % of what comes out. Two configurations asked the same questions are compared by
the difference of each question, which varies less than either figure does.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
"""One number a question."""

SAMPLES = 2_000
SEED = 0
LEVEL = 0.95

_AT_ONCE = 4_000_000
"""Drawn questions in memory at a time."""


class Interval(NamedTuple):
    """Between which bounds a figure lies in 95 of 100 samples."""

    low: float
    high: float


def drawn(questions: int, step: int | None = None, seed: int = SEED) -> Iterator[Values]:
    """Yield how often each sample holds each question, shape (`step` samples, questions)."""
    generator = np.random.default_rng(seed)
    step = step or max(1, _AT_ONCE // max(1, questions))
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
