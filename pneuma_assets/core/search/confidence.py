"""How sure an answer is: the probability that a table answers, and that any table here does.

A score means the same for every question (`signals.rank_tables`), so it tells how sure an answer
is, together with how far it is ahead of all others. Logistic regressions over sets of tables and
questions that count alike, half of each answerable: `experiments.confidence` of the benchmarks fits
them, docs/measurements.md has the figures.
"""

import math
from collections.abc import Iterable, Sequence

from pneuma_assets.core.search.results import TableResult

BEST, NONE_DOES = 16.97, -3.51
"""The log odds that any table answers, by the best score, and where all scores are 0."""

SCORE, AHEAD, NOT_IT = 17.60, 13.36, -5.28
"""The log odds that a table answers, by its score and by how far it is ahead of all others."""

NAMED = 0.9
"""The least confidence in a table whose name was typed in; not fitted, as no set asks by names.
Whoever types a name in has seen the table."""

_MOST_ODDS = 30.0


def answerable(scores: Sequence[float]) -> float:
    """Return the probability that any table answers, where half of the questions have one."""
    return _probability(NONE_DOES + BEST * max(scores)) if scores else 0.0


def confidences(scores: Sequence[float]) -> list[float]:
    """Return of each table the probability that it answers, by the scores of one question.

    They need not add up to 1: a question may need several tables. A better score is never less.
    """
    first, second = [*sorted(scores, reverse=True), 0.0, 0.0][:2]
    ahead = [score - (second if score == first else first) for score in scores]
    any_does = answerable(scores)
    return [
        min(any_does, _probability(NOT_IT + SCORE * score + AHEAD * by))
        for score, by in zip(scores, ahead, strict=True)
    ]


def confidence_of(results: Sequence[TableResult]) -> float | None:
    """Return the probability that any of these tables answers: 0 without any.

    0 also where the judge refuses all that it read. None where it is not known: by the paper's two
    sides (`alpha`), to which nothing is fitted.
    """
    return 0.0 if not results or results[0].parts.is_refused else results[0].answerable


def is_unlikely(confidence: float | None, min_confidence: float) -> bool:
    """Tell whether an answer is to be refused; one of unknown confidence is not."""
    return confidence is not None and confidence < min_confidence


def count_likely(results: Iterable[TableResult], min_confidence: float) -> int:
    """Return up to which place results are likely: the last one that is not unlikely by itself."""
    likely = (not is_unlikely(one.confidence, min_confidence) for one in results)
    return max((place for place, one in enumerate(likely, 1) if one), default=0)


def _probability(odds: float) -> float:
    """Return the probability of log odds; a half where they are no number."""
    bounded = 0.0 if math.isnan(odds) else max(-_MOST_ODDS, min(_MOST_ODDS, odds))
    return 1.0 / (1.0 + math.exp(-bounded))
