"""One measurement: questions asked over an index that is there, counted and timed."""

import resource
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.index.base import IndexFilter, SearchIndex
from pneuma_assets.core.measure.evaluate import (
    Answered,
    Figures,
    Question,
    ask_all,
    count_figures,
    count_figures_by_kind,
)
from pneuma_assets.core.measure.metrics import Values
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
        kinds = {kind: figures.to_dict() for kind, figures in self.kinds.items()}
        return {
            "configuration": self.name,
            **self.figures.to_dict(),
            **self.facts,
            "options": dict(self.options),
            **({"kinds": kinds} if kinds else {}),
        }


def name_of(options: Mapping[str, Any]) -> str:
    """Return options as people read them; 'default' without any."""
    return ", ".join(f"{key}={_shown(value)}" for key, value in options.items()) or "default"


def measure_index(
    index: SearchIndex,
    engine: QueryEngine,
    questions: Sequence[Question],
    options: Mapping[str, Any],
    min_confidence: float,
    quick: QueryEngine | None = None,
) -> Outcome:
    """Ask every question over an index that is there, and count.

    Args:
        index: What `engine` asks.
        engine: The one whose questions are timed.
        questions: With the ids of the tables that answer them.
        options: Arguments of `ask_many`.
        min_confidence: Up to which confidence an answer counts as refused.
        quick: Answers as `engine` does, and may remember what it encoded; `engine` if None.
    """
    taken = time_questions(engine, questions, options)
    answers = ask_all(quick or engine, questions, options, min_confidence)
    facts = {
        "min_confidence": min_confidence,
        "questions": sum(1 for one in questions if one.relevant),
        "unanswerable": sum(1 for one in questions if not one.relevant),
        **_size(index),
        **_times(taken),
        "peak_memory_bytes": peak_memory(),
    }
    return Outcome(count_figures(answers), facts, answers, count_figures_by_kind(answers))


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


def _size(index: SearchIndex) -> dict[str, Any]:
    info = index.info()
    kinds = Counter(str(embedded.block.kind) for embedded in index.blocks())
    return {
        "engine": info.engine,
        "tables": info.tables,
        "blocks": info.blocks,
        "blocks_by_kind": dict(sorted(kinds.items())),
        "index_bytes": info.size_bytes,
    }


def _times(milliseconds: Values) -> dict[str, float]:
    median, slow = np.percentile(milliseconds, [50, 95])
    return {
        "ms_p50": float(median),
        "ms_p95": float(slow),
        "seconds_a_question": float(milliseconds.mean()) / 1000,
    }


def peak_memory() -> int:
    """Return the most memory that this process has had so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _shown(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def time_questions(
    engine: QueryEngine, questions: Sequence[Question], options: Mapping[str, Any]
) -> Values:
    """Return how many milliseconds a question takes by itself, of up to 100 spread over the set.

    One more is asked before, uncounted: the first loads what the others find loaded.
    """
    step = max(1, len(questions) // _TIMED)
    some = [one.text for one in questions[::step][:_TIMED]]
    engine.ask_many(some[:1], **options)
    taken = []
    for question in some:
        began = time.perf_counter()
        engine.ask_many([question], **options)
        taken.append((time.perf_counter() - began) * 1000)
    return np.array(taken)
