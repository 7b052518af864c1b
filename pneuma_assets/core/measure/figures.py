"""What answers come to: every figure, its interval, and each question's part in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pneuma_assets.core.measure.answers import Answered
from pneuma_assets.core.measure.bootstrap import Interval, Values, mean_intervals
from pneuma_assets.core.measure.metrics import ranking_metrics


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures by name, each with its interval; NaN where there is nothing to count.

    Attributes:
        values: The figure itself.
        intervals: Its 95 % bootstrap interval over the questions.
        each: What each answerable question counts in a mean, in the order of the set.
    """

    values: Mapping[str, float]
    intervals: Mapping[str, Interval]
    each: Mapping[str, Values]

    def to_dict(self) -> dict[str, Any]:
        """Return figures by name for JSON, and their intervals; null where nothing was counted."""
        intervals = {name: [*map(_number, one)] for name, one in self.intervals.items()}
        return {name: _number(one) for name, one in self.values.items()} | {"intervals": intervals}


def count(answers: Sequence[Answered]) -> Figures:
    """Return the figures of a set's answers.

    `kept` is the share of questions with an answer that were not refused, `refused` that of those
    without one that were; these count for nothing else.
    """
    answerable = [answer for answer in answers if answer.relevant]
    each = {
        name: np.array([metric(one.ranked, one.relevant) for one in answerable], np.float64)
        for name, metric in ranking_metrics().items()
    }
    told = [answer for answer in answers if answer.refused is not None]
    kept = np.array([not one.refused for one in told if one.relevant], np.float64)
    refused = np.array([bool(one.refused) for one in told if not one.relevant], np.float64)
    shares = {"kept": kept, "refused": refused}
    intervals = mean_intervals(each)
    for name, values in shares.items():  # of other questions each
        intervals |= mean_intervals({name: values})
    return Figures({name: _mean(one) for name, one in (each | shares).items()}, intervals, each)


def count_by_kind(answers: Sequence[Answered]) -> dict[str, Figures]:
    """Return the figures of each sort of question by its name; none where a set names no sort."""
    kinds = sorted({answer.kind for answer in answers} - {""})
    return {kind: count([one for one in answers if one.kind == kind]) for kind in kinds}


def _mean(values: Values) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value
