"""How sure an answer is: the probability that a table here answers, and that it is this one.

Scores rank the tables of one question; the best one has a score near 1 also where none answers. So
the raw scores of the first table are looked at, and how far those behind it are.
"""

import math
from collections.abc import Mapping, Sequence

from pneuma_assets.core.search.contenders import Contender, share_said
from pneuma_assets.core.search.results import TableResult
from pneuma_assets.core.terms.fields import Field

SIGNS: Mapping[str, float] = {
    "said": 3.07,
    "meaning": 4.63,
    "cells ahead": 0.51,
    "pairs ahead": 0.70,
}
"""What each of `signs_of` adds to the log odds that a table answers. A logistic regression over
three sets of tables and questions that count alike, half of each answerable:
`experiments.confidence` of the benchmarks fits it, docs/measurements.md has the figures."""

INTERCEPT = -3.10

SHARE_AHEAD, SHARE_INTERCEPT = 14.04, -1.03
"""The log odds that it is this table, if any: by how far its score is ahead of all others."""

NAMED = 0.9
"""The least confidence in a table whose name was typed in; not fitted, as no set asks by names.
Whoever types a name in has seen the table."""

_MOST_ODDS = 30.0


def signs_of(words: Mapping[str, float], contenders: Sequence[Contender]) -> dict[str, float]:
    """Return the signs that a table answers, more of each being better; 0 if nothing was found.

    Args:
        words: The question's, with what each counts.
        contenders: The best tables, best first.

    Returns:
        `said`: how much of the question the first table says (`contenders.share_said`); `meaning`:
        the cosine of its nearest block; `cells ahead`, `pairs ahead`: its raw score in a field
        less the best one behind it, by a word of the question.
    """
    if not contenders:
        return dict.fromkeys(SIGNS, 0.0)
    return {
        "said": share_said(words, contenders),
        "meaning": contenders[0].cosine,
        "cells ahead": _ahead([one.raw(Field.CELLS) for one in contenders]) / max(1, len(words)),
        "pairs ahead": _ahead([one.raw(Field.PAIRS) for one in contenders]) / max(1, len(words)),
    }


def answerable(signs: Mapping[str, float]) -> float:
    """Return the probability that any table answers, where half of the questions have one."""
    return _probability(INTERCEPT + math.fsum(slope * signs[name] for name, slope in SIGNS.items()))


def shares(scores: Sequence[float]) -> list[float]:
    """Return of each table the probability that it answers, given that any does.

    They need not add up to 1: a question may need several tables.
    """
    first, second = [*sorted(scores, reverse=True), 0.0, 0.0][:2]
    ahead = [score - (second if score == first else first) for score in scores]
    return [_probability(SHARE_INTERCEPT + SHARE_AHEAD * one) for one in ahead]


def confidence_of(results: Sequence[TableResult]) -> float | None:
    """Return the probability that any of these tables answers: 0 without any.

    None where it is not known: by the paper's two sides (`alpha`), to which nothing is fitted.
    """
    return results[0].answerable if results else 0.0


def is_unlikely(confidence: float | None, refuse_below: float) -> bool:
    """Tell whether an answer is to be refused; one of unknown confidence is not."""
    return confidence is not None and confidence < refuse_below


def _ahead(values: Sequence[float]) -> float:
    return values[0] - max(values[1:], default=0.0)


def _probability(odds: float) -> float:
    """Return the probability of log odds; a half where they are no number."""
    bounded = 0.0 if math.isnan(odds) else max(-_MOST_ODDS, min(_MOST_ODDS, odds))
    return 1.0 / (1.0 + math.exp(-bounded))
