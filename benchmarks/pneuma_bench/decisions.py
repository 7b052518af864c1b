"""How well scores decide: which tables to keep, and whether a question can be answered at all."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pneuma_assets.core.measure.evaluate import Answered, Figures
from pneuma_assets.core.measure.metrics import SEED, Interval, Values, drawn, interval_of
from pneuma_bench.outcome import Outcome

THRESHOLD = 0.5
"""Of a score, where none is given: halfway between the worst and the best candidate."""

_SAMPLES_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Decided:
    """A figure and its interval."""

    value: float
    interval: Interval


def with_decisions(outcome: Outcome, threshold: float = THRESHOLD) -> Outcome:
    """Return an outcome with precision, recall, F1 and AUROC among its figures, also by sort.

    Args:
        outcome: With its answers.
        threshold: From which score on a table counts as found.
    """
    kinds = {
        kind: _decided(figures, [one for one in outcome.answers if one.kind == kind], threshold)
        for kind, figures in outcome.kinds.items()
    }
    figures = _decided(outcome.figures, outcome.answers, threshold)
    return replace(
        outcome, figures=figures, kinds=kinds, facts={**outcome.facts, "threshold": threshold}
    )


def _decided(figures: Figures, answers: Sequence[Answered], threshold: float) -> Figures:
    sure, unsure = (
        np.array([answer.confidence for answer in answers if bool(answer.relevant) is wanted])
        for wanted in (True, False)
    )
    answerable = [answer for answer in answers if answer.relevant]
    rankings = [answer.ranking for answer in answerable]
    decided = at_threshold(rankings, [one.relevant for one in answerable], threshold)
    decided["AUROC"] = auroc(sure, unsure)
    return replace(
        figures,
        values={**figures.values, **{name: one.value for name, one in decided.items()}},
        intervals={**figures.intervals, **{name: one.interval for name, one in decided.items()}},
    )


def at_threshold(
    rankings: Sequence[Sequence[tuple[str, float]]],
    relevant: Sequence[Collection[str]],
    threshold: float,
) -> dict[str, Decided]:
    """Return precision, recall and F1 of the tables whose score reaches a threshold.

    Counted over all tables of all answers together (micro-averaged), so a question that keeps
    nothing costs recall and no precision. Precision is NaN where nothing at all is kept.
    """
    kept = [{table for table, score in ranking if score >= threshold} for ranking in rankings]
    counts = np.array(
        [
            (len(one & set(wanted)), len(one), len(set(wanted)))
            for one, wanted in zip(kept, relevant, strict=True)
        ],
        np.float64,
    ).reshape(-1, 3)
    figures = _f1(counts.sum(axis=0)[np.newaxis])
    samples = [_f1(weights @ counts) for weights in drawn(len(counts))] if len(counts) else []
    return {
        name: Decided(
            float(figures[name][0]),
            interval_of(np.concatenate([sample[name] for sample in samples] or [figures[name]])),
        )
        for name in figures
    }


def auroc(answerable: Values, unanswerable: Values) -> Decided:
    """Return how often a question that a table answers gets the higher confidence of a pair.

    The area under the receiver operating characteristic (Hanley & McNeil, 1982): over all pairs of
    an answerable and an unanswerable question, ties count half. 0.5 is guessing; NaN where there
    are no pairs.
    """
    if not len(answerable) or not len(unanswerable):
        return Decided(float("nan"), Interval(float("nan"), float("nan")))
    values = [
        _wins(answerable, unanswerable, ours, theirs)
        for ours, theirs in zip(
            drawn(len(answerable), _SAMPLES_AT_ONCE),
            drawn(len(unanswerable), _SAMPLES_AT_ONCE, seed=SEED + 1),
            strict=True,
        )
    ]
    once = np.ones((1, len(answerable))), np.ones((1, len(unanswerable)))
    value = float(_wins(answerable, unanswerable, *once)[0])
    return Decided(value, interval_of(np.concatenate(values)))


def _wins(answerable: Values, unanswerable: Values, ours: Values, theirs: Values) -> Values:
    """Return the share of pairs that answerable questions win, each as often as it was drawn.

    Args:
        answerable: Confidence of each.
        unanswerable: Likewise.
        ours: How often each sample holds each answerable question, shape (samples, questions).
        theirs: Likewise of the unanswerable ones.
    """
    order = np.argsort(unanswerable, kind="stable")
    beaten = np.zeros((len(theirs), len(order) + 1))
    np.cumsum(theirs[:, order], axis=1, out=beaten[:, 1:])
    below = np.searchsorted(unanswerable[order], answerable, "left")
    ties = np.searchsorted(unanswerable[order], answerable, "right")
    won = (beaten[:, below] + beaten[:, ties]) / 2
    shares: Values = (ours * won).sum(axis=1) / (ours.sum(axis=1) * theirs.sum(axis=1))
    return shares


def _f1(counts: Values) -> dict[str, Values]:
    """Return the figures of rows of (right, kept, wanted)."""
    right, kept, wanted = counts.T
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "precision": right / kept,
            "recall": right / wanted,
            "F1": 2 * right / (kept + wanted),
        }
