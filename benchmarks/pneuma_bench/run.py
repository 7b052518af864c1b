"""One measurement of a set apart from everything else: indexed, asked, counted and timed."""

from collections import Counter
from contextlib import closing

from pneuma_assets.core.evaluation.evaluate import ask_all, count_figures, count_figures_by_kind
from pneuma_bench.lab import Lab
from pneuma_bench.outcome import THRESHOLD, Outcome, peak_memory, question_times, with_decisions
from pneuma_bench.settings import Setting


def measure(lab: Lab, setting: Setting, threshold: float = THRESHOLD) -> Outcome:
    """Index the lab's set as the setting has it, ask every question, and count.

    Args:
        lab: The set.
        setting: How it is indexed and asked.
        threshold: From which score on a table counts as found, for precision, recall and F1.

    Raises:
        BenchmarkError: The setting leaves nothing to look in.
        QueryError: An option of its questions is out of range; that is told before indexing.
    """
    setting.check_question()
    questions, below = lab.dataset.asked, setting.deployment.query.min_confidence
    index, built = lab.index(setting)
    with closing(index):
        plain = lab.engine(setting, index, remembering=False)
        quick = lab.engine(setting, index, remembering=True)
        options = setting.ask_options(index.kinds())
        times = question_times(plain, questions, options)
        answers = ask_all(quick, questions, options, below)
        info = index.info()
        kinds = Counter(str(embedded.block.kind) for embedded in index.blocks())
    facts = {
        "min_confidence": below,
        "questions": sum(1 for one in questions if one.relevant),
        "unanswerable": sum(1 for one in questions if not one.relevant),
        "engine": info.engine,
        "tables": info.tables,
        "blocks": info.blocks,
        "blocks_by_kind": dict(sorted(kinds.items())),
        "index_bytes": info.size_bytes,
        **times,
        "peak_memory_bytes": peak_memory(),
        "seconds_to_index": built.seconds,
        "texts_embedded": built.embedded,
    }
    of_kinds = count_figures_by_kind(answers)
    outcome = Outcome(count_figures(answers), facts, answers, of_kinds, setting.given)
    return with_decisions(outcome, threshold)
