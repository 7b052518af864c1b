"""One measurement: a set asked with one setting, counted and timed."""

import os
import resource
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pneuma_assets.core.bench.answers import Answered, ask_all, time_questions
from pneuma_assets.core.bench.bootstrap import Values
from pneuma_assets.core.bench.figures import THRESHOLD, Figures, count, count_by_kind
from pneuma_assets.core.bench.lab import Lab
from pneuma_assets.core.bench.sets import RetrievalSet
from pneuma_assets.core.bench.settings import Setting, setting_of
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.search.query import QueryEngine


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one setting came to on one set.

    Attributes:
        name: Of the setting.
        options: By which it differs from the deployment.
        figures: How good the answers are.
        facts: Sizes and times, by name.
        answers: To each question; empty where the outcome was kept from before.
        kinds: How good the answers to each sort of question are; empty where a set names no sort.
    """

    name: str
    options: Mapping[str, Any]
    figures: Figures
    facts: Mapping[str, Any]
    answers: Sequence[Answered] = ()
    kinds: Mapping[str, Figures] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: figures and facts by name, then all intervals."""
        kinds = {
            kind: {**_values(figures), "intervals": _intervals(figures)}
            for kind, figures in self.kinds.items()
        }
        return {
            "configuration": self.name,
            **_values(self.figures),
            **self.facts,
            "options": dict(self.options),
            "intervals": _intervals(self.figures),
            **({"kinds": kinds} if kinds else {}),
        }


def measure_apart(
    deployment: Deployment,
    dataset: RetrievalSet,
    options: Mapping[str, Any],
    *,
    folder: Path | None = None,
    environ: Mapping[str, str] | None = None,
    threshold: float = THRESHOLD,
) -> Outcome:
    """Index a set apart from everything else, ask its questions, and count.

    Args:
        deployment: Its models, sampling, engine and defaults of questions are used.
        dataset: Tables and questions.
        options: What is otherwise than there (`settings`); None leaves one as it is.
        folder: Keeps embeddings and the index for the next time.
        environ: Holds the secrets that the deployment names; the process's own if None.
        threshold: From which score on a table counts as found, for precision, recall and F1.

    Raises:
        BenchmarkError: There is no such option, or the folder cannot be used.
        QueryError: An option of the questions is out of range.
    """
    setting = setting_of(deployment, options)
    setting.check_question()
    with Lab(dataset, folder, os.environ if environ is None else environ) as lab:
        return measure(lab, setting, threshold)


def measure(lab: Lab, setting: Setting, threshold: float = THRESHOLD) -> Outcome:
    """Index the lab's set as the setting has it, ask every question, and count.

    Raises:
        BenchmarkError: The setting leaves nothing to look in.
        QueryError: An option of its questions is out of range.
    """
    index, built = lab.index(setting)
    with closing(index):
        plain = lab.engine(setting, index, remembering=False)
        quick = lab.engine(setting, index, remembering=True)
        facts = {"seconds_to_index": built.seconds, "texts_embedded": built.embedded}
        return measure_index(index, lab.dataset, setting, plain, quick, facts, threshold)


def measure_index(
    index: SearchIndex,
    dataset: RetrievalSet,
    setting: Setting,
    engine: QueryEngine,
    quick: QueryEngine | None = None,
    facts: Mapping[str, Any] | None = None,
    threshold: float = THRESHOLD,
) -> Outcome:
    """Ask every question of a set over an index that is there, and count.

    Args:
        index: What `engine` asks.
        dataset: The questions, and the ids of the tables that answer them.
        setting: How they are asked.
        engine: The one whose questions are timed.
        quick: Answers as `engine` does, and may remember what it encoded; `engine` if None.
        facts: What is known of the index already.
        threshold: From which score on a table counts as found, for precision, recall and F1.
    """
    options = setting.ask_options(index.kinds())
    taken = time_questions(engine, dataset.questions, options)
    refuse_below = setting.deployment.query.refuse_below
    answers = ask_all(quick or engine, dataset, options, refuse_below)
    return Outcome(
        setting.name,
        setting.given,
        count(answers, threshold),
        {
            "threshold": threshold,
            "refuse_below": refuse_below,
            "questions": sum(1 for relevant in dataset.relevant if relevant),
            "unanswerable": sum(1 for relevant in dataset.relevant if not relevant),
            **_size(index),
            **(facts or {}),
            **_times(taken),
            "peak_memory_bytes": peak_memory(),
        },
        answers,
        count_by_kind(answers, threshold),
    )


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


def _values(figures: Figures) -> dict[str, float | None]:
    return {name: _number(value) for name, value in figures.values.items()}


def _intervals(figures: Figures) -> dict[str, list[float | None]]:
    return {name: [*map(_number, interval)] for name, interval in figures.intervals.items()}


def _number(value: float) -> float | None:
    """Return a figure for JSON, which has no NaN: null where there is nothing to count."""
    return None if np.isnan(value) else value
