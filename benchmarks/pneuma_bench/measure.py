"""Settings measured on a set and compared question by question; what was measured is kept."""

import resource
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.evaluation.evaluate import (
    Answered,
    Figures,
    Question,
    ask_all,
    count_figures,
    count_figures_by_kind,
)
from pneuma_assets.core.evaluation.metrics import (
    SEED,
    Interval,
    Values,
    drawn,
    interval_of,
    mean_intervals,
)
from pneuma_assets.core.progress import report
from pneuma_assets.core.search.query import QueryEngine
from pneuma_bench.files import kept_json, write_lines
from pneuma_bench.keys import measurement_key
from pneuma_bench.lab import Lab
from pneuma_bench.settings import Setting

_TIMED = 100


@dataclass(frozen=True, slots=True)
class Outcome:
    """What asking a set of questions in one way came to.

    Attributes:
        name: What the setting is called.
        figures: How good the answers are.
        facts: Sizes and times, by name.
        kinds: How good the answers to each sort of question are; empty where a set names no sort.
        options: By which it was asked otherwise than the deployment says.
        answers: To each question; empty where the outcome was kept from before.
    """

    name: str
    figures: Figures
    facts: Mapping[str, Any]
    kinds: Mapping[str, Figures]
    options: Mapping[str, Any]
    answers: Sequence[Answered] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: figures and facts by name, then all intervals."""
        named = {"configuration": self.name, **self.figures.to_dict(), **self.facts}
        kinds = {kind: figures.to_dict() for kind, figures in self.kinds.items()}
        return {**named, "options": self.options, **({"kinds": kinds} if kinds else {})}


def measure(lab: Lab, setting: Setting) -> Outcome:
    """Index the lab's set as the setting has it, ask every question, and count.

    Raises:
        BenchmarkError: The setting leaves nothing to look in.
        QueryError: An option of its questions is out of range; that is told before indexing.
    """
    setting.check_question()
    questions, below = lab.dataset.asked, setting.deployment.query.min_confidence
    index, built, _ = lab.index(setting)
    options = setting.ask_options(index.kinds())
    times = question_times(lab.engine(setting, remembering=False), questions, options)
    answers = ask_all(lab.engine(setting), questions, options, below)
    info = index.info()
    kinds = Counter(str(embedded.block.kind) for embedded in index.blocks())
    facts = {
        "names_hidden": not lab.dataset.names,
        "min_confidence": below,
        "questions": sum(1 for one in questions if one.relevant),
        "unanswerable": sum(1 for one in questions if not one.relevant),
        "tables": info.tables,
        "blocks": info.blocks,
        "blocks_by_kind": dict(sorted(kinds.items())),
        "index_bytes": info.size_bytes,
        **times,
        "peak_memory_bytes": peak_memory(),
        "seconds_to_index": built.seconds,
        "texts_embedded": built.embedded,
    }
    of_kinds = {kind: _with_auroc(one, [a for a in answers if a.kind == kind])
                for kind, one in count_figures_by_kind(answers).items()}  # fmt: skip
    figures = _with_auroc(count_figures(answers), answers)
    return Outcome(setting.name, figures, facts, of_kinds, setting.given, answers)


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


def peak_memory() -> int:
    """Return the most memory that this process has had so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _with_auroc(figures: Figures, answers: Sequence[Answered]) -> Figures:
    sure = np.array([one.confidence for one in answers if one.relevant])
    unsure = np.array([one.confidence for one in answers if not one.relevant])
    value, interval = auroc(sure, unsure)
    return replace(
        figures,
        values={**figures.values, "AUROC": value},
        intervals={**figures.intervals, "AUROC": interval},
    )


def auroc(answerable: Values, unanswerable: Values) -> tuple[float, Interval]:
    """Return how often a question that a table answers gets the higher confidence of a pair.

    The area under the receiver operating characteristic (Hanley & McNeil, 1982): over all pairs of
    an answerable and an unanswerable question, ties count half. 0.5 is guessing; NaN where there
    are no pairs. With its interval, both sorts of questions being drawn anew.
    """
    if not len(answerable) or not len(unanswerable):
        return float("nan"), Interval(float("nan"), float("nan"))
    more, less = answerable[:, np.newaxis], unanswerable[np.newaxis]
    won = (more > less) + (more == less) / 2
    samples = [
        ((ours @ won) * theirs).sum(axis=1) / (ours.sum(axis=1) * theirs.sum(axis=1))
        for ours, theirs in zip(
            drawn(len(answerable), 100), drawn(len(unanswerable), 100, seed=SEED + 1), strict=True
        )
    ]
    return float(won.mean()), interval_of(np.concatenate(samples))


class Compared(NamedTuple):
    """One setting's outcome, and by how much each figure is above the default's.

    `differences` are over the same questions, with 95 % intervals; only of what every question has
    a part in.
    """

    outcome: Outcome
    differences: Mapping[str, tuple[float, Interval]]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        differences = {
            name: {"difference": value, "interval": list(interval)}
            for name, (value, interval) in self.differences.items()
        }
        return self.outcome.to_dict() | {"differences": differences}


def compare(lab: Lab, settings: Mapping[str, Setting]) -> list[Compared]:
    """Measure every setting that was not yet, and compare each with the first.

    Settings that share an index are measured one after the other, so it is built once. Killed, the
    next call goes on after the last setting that was finished.

    Raises:
        BenchmarkError: The folder cannot be used.
        QueryError: An option of a setting's questions is out of range; names the setting.
    """
    order: dict[str, list[str]] = {}
    for name, setting in settings.items():
        order.setdefault(setting.index_key, []).append(name)
    outcomes: dict[str, Outcome] = {}
    for name in chain.from_iterable(order.values()):
        report("measuring settings", len(outcomes), len(settings))
        outcomes[name] = _kept_or_measured(lab, name, settings[name])
    report("measuring settings", len(outcomes), len(settings))
    first = outcomes[next(iter(settings))].figures.each
    return [
        Compared(
            outcomes[name],
            {n: paired_difference(v, first[n]) for n, v in outcomes[name].figures.each.items()},
        )
        for name in settings
    ]


def _kept_or_measured(lab: Lab, name: str, setting: Setting) -> Outcome:
    path = lab.folder / "cells" / f"{measurement_key(lab.dataset, setting.key)}.json"
    if (kept := kept_json(path)) is None:
        try:
            outcome = measure(lab, setting)
        except QueryError as error:
            raise QueryError(f"{name}: {error}") from error
        kept = {
            "options": outcome.options,
            "facts": outcome.facts,
            "figures": _record_of(outcome.figures),
            "kinds": {kind: _record_of(figures) for kind, figures in outcome.kinds.items()},
        }
        write_lines(path, [kept])
    figures = _figures_of(kept.pop("figures"))
    kinds = {kind: _figures_of(one) for kind, one in kept.pop("kinds").items()}
    return Outcome(name, figures, kinds=kinds, **kept)


def _record_of(figures: Figures) -> dict[str, Any]:
    each = {name: values.tolist() for name, values in figures.each.items()}
    return {"values": figures.values, "intervals": figures.intervals, "each": each}


def _figures_of(record: Mapping[str, Any]) -> Figures:
    intervals = {key: Interval(*bounds) for key, bounds in record["intervals"].items()}
    each = {key: np.array(values, np.float64) for key, values in record["each"].items()}
    return Figures(record["values"], intervals, each)


def paired_difference(ours: Values, theirs: Values) -> tuple[float, Interval]:
    """Return by how much `ours` is above `theirs` on average over the same questions."""
    difference = ours - theirs
    mean = float(difference.mean()) if len(difference) else float("nan")
    return mean, mean_intervals({"difference": difference})["difference"]
