"""What asking a set of questions in one way comes to, and how well scores decide."""

import resource
import sys
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.evaluation.evaluate import Answered, Figures, Question
from pneuma_assets.core.evaluation.metrics import SEED, Interval, Values, drawn, interval_of
from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.tables import DocumentKind
from pneuma_assets.core.terms.fields import KIND_OF

_TIMED = 100


@dataclass(frozen=True, slots=True)
class Outcome:
    """What asking a set of questions in one way came to.

    Attributes:
        figures: How good the answers are.
        facts: Sizes and times, by name.
        answers: To each question; empty where the outcome was kept from before.
        kinds: How good the answers to each sort of question are; empty where a set names no sort.
        options: By which it was asked otherwise than the deployment says.
        given_name: Of these; empty: as the options say.
    """

    figures: Figures
    facts: Mapping[str, Any]
    answers: Sequence[Answered] = ()
    kinds: Mapping[str, Figures] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    given_name: str = ""

    @property
    def name(self) -> str:
        """What it is called; the options as people read them, 'default' without any."""
        return self.given_name or name_of(self.options)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: figures and facts by name, then all intervals."""
        named = {"configuration": self.name, **self.figures.to_dict(), **self.facts}
        kinds = {kind: figures.to_dict() for kind, figures in self.kinds.items()}
        return {**named, "options": self.options, **({"kinds": kinds} if kinds else {})}


def name_of(options: Mapping[str, Any]) -> str:
    """Return options as people read them; 'default' without any."""
    shown = {
        key: "+".join(map(str, value)) if isinstance(value, list | tuple) else value
        for key, value in options.items()
    }
    return ", ".join(f"{key}={value}" for key, value in shown.items()) or "default"


def question_times(
    engine: QueryEngine, questions: Sequence[Question], options: Mapping[str, Any]
) -> dict[str, float]:
    """Return how long a question takes by itself, of up to 100 spread over the set, in ms.

    `ms_cpu` is the mean of the processor's time, all threads together: beside other work, it says
    more than the clock. One more is asked before, uncounted: it loads what the others find loaded.
    """
    step = max(1, len(questions) // _TIMED)
    some = [one.text for one in questions[::step][:_TIMED]]
    engine.ask_many(some[:1], **options)
    taken, worked = [], time.process_time()
    for question in some:
        began = time.perf_counter()
        engine.ask_many([question], **options)
        taken.append((time.perf_counter() - began) * 1000)
    worked = time.process_time() - worked
    median, slow = map(float, np.percentile(taken, [50, 95]))
    return {"ms_p50": median, "ms_p95": slow, "ms_cpu": 1000 * worked / len(some)}


def looked_in(
    there_are: Iterable[DocumentKind], kinds: Collection[str], without: Collection[str]
) -> IndexFilter:
    """Return the filter that looks in some kinds of documents only, or not in some.

    Args:
        there_are: Kinds of the documents there are; the evidence of tables has kinds beside.
        kinds: To look in; none: all there are.
        without: Not to look in.

    Raises:
        BenchmarkError: There is no such kind, or none is left.
    """
    try:
        chosen, left_out = [*map(DocumentKind, kinds)], {*map(DocumentKind, without)}
    except ValueError as error:
        raise BenchmarkError(str(error)) from error
    known = chosen or sorted({*there_are, *KIND_OF.values()})
    left = tuple(kind for kind in known if kind not in left_out)
    if not left:
        raise BenchmarkError("no kind of document is left to look in; leave out fewer")
    return IndexFilter(kinds=left)


def peak_memory() -> int:
    """Return the most memory that this process has had so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


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
    answerable = [one for one in answers if one.relevant]
    rankings = [one.ranking for one in answerable]
    decided = at_threshold(rankings, [one.relevant for one in answerable], threshold)
    sure = np.array([one.confidence for one in answerable])
    unsure = np.array([one.confidence for one in answers if not one.relevant])
    decided["AUROC"] = auroc(sure, unsure)
    values = {name: one.value for name, one in decided.items()}
    intervals = {name: one.interval for name, one in decided.items()}
    return replace(
        figures, values={**figures.values, **values}, intervals={**figures.intervals, **intervals}
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
    counts = np.zeros((len(rankings), 3))
    for row, ranking, wanted in zip(counts, rankings, relevant, strict=True):
        kept = {table for table, score in ranking if score >= threshold}
        row[:] = len(kept & set(wanted)), len(kept), len(set(wanted))
    samples = [_f1(weights @ counts) for weights in drawn(len(counts))] if len(counts) else []
    figures = _f1(counts.sum(axis=0)[np.newaxis])
    spread = {n: np.concatenate([one[n] for one in samples or [figures]]) for n in figures}
    return {n: Decided(float(figures[n][0]), interval_of(spread[n])) for n in figures}


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
