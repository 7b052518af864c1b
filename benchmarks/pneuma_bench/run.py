"""One measurement of a set apart from everything else: indexed, asked, counted and timed."""

import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from pneuma_assets.core.config.deployment import Deployment
from pneuma_bench.lab import Lab
from pneuma_bench.outcome import THRESHOLD, Outcome, measure_index, with_decisions
from pneuma_bench.sets import RetrievalSet
from pneuma_bench.settings import Setting, setting_of


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
        options = setting.ask_options(index.kinds())
        below = setting.deployment.query.min_confidence
        found = measure_index(index, plain, lab.dataset.asked, options, below, quick)
    facts = {"seconds_to_index": built.seconds, "texts_embedded": built.embedded}
    found = with_decisions(found, threshold)
    return replace(found, facts={**found.facts, **facts}, options=setting.given)
