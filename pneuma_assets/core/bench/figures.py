"""What the answers of a set come to: every figure, its interval, and each question's part in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pneuma_assets.core.bench.answers import Answered
from pneuma_assets.core.bench.bootstrap import Interval, Values, mean_intervals
from pneuma_assets.core.bench.decisions import Decided, at_threshold, auroc, share
from pneuma_assets.core.bench.metrics import ranking_metrics

THRESHOLD = 0.5
"""Of a score, where none is given: halfway between the worst and the best candidate."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures by name, each with its interval; NaN where a set has nothing to count.

    Attributes:
        values: The figure itself.
        intervals: Its 95 % bootstrap interval over the questions.
        each: What each answerable question counts in a mean, in the order of the set.
    """

    values: Mapping[str, float]
    intervals: Mapping[str, Interval]
    each: Mapping[str, Values]


def count(answers: Sequence[Answered], threshold: float = THRESHOLD) -> Figures:
    """Return the figures of a set's answers.

    Questions that no table answers count for AUROC and `refused` alone.
    """
    answerable = [answer for answer in answers if answer.relevant]
    each = {
        name: np.array([metric(one.ranked, one.relevant) for one in answerable], np.float64)
        for name, metric in ranking_metrics().items()
    }
    decided = _decided(answers, answerable, threshold)
    return Figures(
        {name: _mean(values) for name, values in each.items()}
        | {name: one.value for name, one in decided.items()},
        mean_intervals(each) | {name: one.interval for name, one in decided.items()},
        each,
    )


def count_by_kind(answers: Sequence[Answered], threshold: float = THRESHOLD) -> dict[str, Figures]:
    """Return the figures of each sort of question by its name; none where a set names no sort."""
    kinds = sorted({answer.kind for answer in answers} - {""})
    return {
        kind: count([answer for answer in answers if answer.kind == kind], threshold)
        for kind in kinds
    }


def _decided(
    answers: Sequence[Answered], answerable: Sequence[Answered], threshold: float
) -> dict[str, Decided]:
    sure, unsure = (
        np.array([answer.confidence for answer in answers if bool(answer.relevant) is wanted])
        for wanted in (True, False)
    )
    rankings = [answer.ranking for answer in answerable]
    relevant = [answer.relevant for answer in answerable]
    refused = [answer for answer in answers if answer.refused is not None]
    return {
        **at_threshold(rankings, relevant, threshold),
        "AUROC": auroc(sure, unsure),
        "kept": share([not one.refused for one in refused if one.relevant]),
        "refused": share([bool(one.refused) for one in refused if not one.relevant]),
    }


def _mean(values: Values) -> float:
    return float(values.mean()) if len(values) else float("nan")
