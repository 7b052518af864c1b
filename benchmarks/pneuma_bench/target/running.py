"""Runs one of TARGET's tasks on a set: retrieves, asks a model, scores, and writes both results."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pneuma_assets.core.config.models import BenchConfig
from pneuma_assets.core.errors import BenchmarkError, ConfigError
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.measure.evaluate import json_lines, refuse
from pneuma_assets.core.models.base import LanguageModel
from pneuma_bench.generator.ledger import Ledger
from pneuma_bench.lab import Lab
from pneuma_bench.sets import RetrievalSet
from pneuma_bench.settings import Setting
from pneuma_bench.target.databases import write_databases
from pneuma_bench.target.downstream import Answer, Task, answer_all
from pneuma_bench.target.metrics import capped_recall_as_target, recall_as_target
from pneuma_bench.target.persisting import write_results
from pneuma_bench.target.scoring import (
    check_right,
    run_statements,
    score_answers,
    score_facts,
    score_sql,
)
from pneuma_bench.target.showing import Shown, schemas_text, shelf_of, tables_text
from pneuma_bench.target.writing import Place, place_of, read_answers, write_target

_AT_ONCE = 100
_LABELS = frozenset({"true", "false", "not enough information"})


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of what was retrieved a model is shown.

    Attributes:
        k: Most tables.
        rows: Most rows of each.
        characters: Most of all tables together.
        max_new_tokens: Most of an answer; the task's own if None.
    """

    k: int = 10
    rows: int = 1_000
    characters: int = 60_000
    max_new_tokens: int | None = None


def right_answers(task: Task, queries: Path) -> list[list[str]]:
    """Return what is right for each question: of `sql` all statements, else one text.

    Raises:
        BenchmarkError: The file cannot be read, a question has no answer, or a fact no label.
    """
    if task.name != "sql":
        answers = read_answers(queries)
        for one in answers:
            if task.name == "facts" and one.strip().lower() not in _LABELS:
                raise BenchmarkError(
                    f"{queries}: the 'answer' {one!r} is no label; use True, False, or "
                    "Not Enough Information"
                )
        return [[one] for one in answers]
    return [
        _several(queries, number, record.get("answers"), record.get("answer"))
        for number, record in json_lines(queries)
    ]


def check_may_be_shown(config: BenchConfig) -> None:
    """Refuse an endpoint that may not be shown what tables hold, which every prompt here tells.

    Raises:
        ConfigError: It may not.
    """
    if not config.shows_values:
        raise ConfigError(
            "TARGET's tasks show rows of tables to the model, and the endpoint of `bench` may not "
            "be shown values; set bench.send_values: true, or name a model that runs here"
        )


def run_task(
    task: Task,
    dataset: RetrievalSet,
    right: Sequence[Sequence[str]],
    out: Path,
    setting: Setting,
    lab: Lab,
    model: LanguageModel,
    bounds: Bounds,
) -> dict[str, Any]:
    """Run a task, and return its scores; its files are written for the package, too.

    Under `out` are then a folder in TARGET's format, called after the task and the set (for `sql`
    with `databases`), `retrieved/` and `answered/` with the results, and the answers that the model
    gave, which are not asked again.

    Args:
        task: Which.
        dataset: Its tables, and questions that tables answer.
        right: What is right for each question (`right_answers`).
        out: Where to write.
        setting: How tables are indexed and questions asked.
        lab: Where that is done.
        model: Who answers.
        bounds: How much it is shown.

    Raises:
        BenchmarkError: A file cannot be used, a question has no table, or a statement that is
            said to be right does not run.
        ModelError: The model fails.
    """
    if not all(dataset.relevant):
        raise BenchmarkError("TARGET's tasks need a table for every question; leave the others out")
    is_sql = task.name == "sql"
    # The package takes SQL of no data set but of one that has this word in its name.
    name = f"{'spider' if is_sql else task.name}-{dataset.name}"
    databases = out / name / "databases" if is_sql else None
    gold = [[place_of(dataset, one) for one in wanted] for wanted in dataset.relevant]
    if databases is not None:
        write_databases(dataset, databases)
        check_right(_statements(right, gold), databases)  # before a model is asked for hours
    write_target(dataset, out / name, answers=[one[0] for one in right])
    found = retrieve(dataset, setting, lab, bounds.k)
    shown = _shown(dataset, databases, found, bounds)
    most = bounds.max_new_tokens
    with closing(Ledger(out / "asked.db")) as ledger:
        said = answer_all(task, dataset.questions, found, shown, model, ledger, most)
    answers, scores = said.answers, {}
    if databases is not None:
        outcomes = run_statements(answers, _statements(right, gold), databases)
        answers, scores = [one.statement for one in outcomes], score_sql(outcomes)
    write_results(out, name, bounds.k, [*range(len(found))], found, answers)
    return {
        "task": task.name,
        "name": name,
        "model": model.name,
        "k": bounds.k,
        "questions": len(found),
        "recall": recall_as_target(found, gold),
        "capped_recall": capped_recall_as_target(found, gold),
        "characters_shown": sum(len(one.text) for one in shown),
        "rows_cut": sum(one.rows_cut for one in shown),
        "silent": said.silent,
        "scores": scores if is_sql else _scores(task, answers, right),
    }


def retrieve(dataset: RetrievalSet, setting: Setting, lab: Lab, k: int) -> list[list[Place]]:
    """Return the tables that are found for each question of a set, best first."""
    index, _ = lab.index(setting)
    with closing(index):
        engine = lab.engine(setting, index, remembering=True)
        options = {**setting.ask_options(index.kinds()), "k": k}
        return [
            [place_of(dataset, one.table_id) for one in found]
            for some in chunks(dataset.questions, _AT_ONCE)
            for found in engine.ask_many(some, **options)
        ]


def _shown(
    dataset: RetrievalSet,
    databases: Path | None,
    found: Sequence[Sequence[Place]],
    bounds: Bounds,
) -> list[Shown]:
    """Return what the model is shown for each question: statements of databases, or rows."""
    if databases is not None:
        return [schemas_text(databases, some) for some in found]
    shelf = shelf_of(dataset)
    return [tables_text(shelf, some, bounds.rows, bounds.characters) for some in found]


def _scores(
    task: Task, answers: Sequence[Answer], right: Sequence[Sequence[str]]
) -> dict[str, Any]:
    score = score_answers if task.name == "answers" else score_facts
    return score(answers, [one[0] for one in right])


def _statements(
    right: Sequence[Sequence[str]], gold: Sequence[Sequence[Place]]
) -> list[list[tuple[str, str]]]:
    """Return the right statements of each question, each with the database it is to run on."""
    return [
        [(sql, wanted[0].database) for sql in some]
        for some, wanted in zip(right, gold, strict=True)
    ]


def _several(path: Path, number: int, all_: Any, first: Any) -> list[str]:
    several = all_ if isinstance(all_, list) and all_ else [first]
    if not all(isinstance(one, str) and one.strip() for one in several):
        refuse(path, number, "'answer' must be a statement that is right, 'answers' a list of them")
    return several
