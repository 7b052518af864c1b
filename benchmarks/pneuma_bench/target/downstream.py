"""TARGET's tasks that go on from retrieval: answers, facts and SQL (Ji et al., 2025, section 3).

A model is shown the tables that were retrieved for a question, and its answer is scored as the
package scores it. Whatever a model says is an answer: what cannot be read counts as wrong.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pneuma_assets.core.models.base import LanguageModel
from pneuma_bench.generator.asking import ask_in_units
from pneuma_bench.generator.ledger import Ledger
from pneuma_bench.target import prompts
from pneuma_bench.target.showing import Shown
from pneuma_bench.target.writing import NO_DATABASE, Place

NO_STATEMENT = "no statement"
"""Stands for a statement that could not be read or may not run; it is none, in any dialect."""

_MOST = 4_000
"""Characters of an answer that are looked at."""
_FENCED = re.compile(r"```[a-z]*\s(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_WITH = (
    r"WITH\s+(?:RECURSIVE\s+)?(?:\w+|\"[^\"]{1,99}\")\s*(?:\([^()]*\)\s*)?"
    r"AS\s*(?:\(|(?:NOT\s+)?MATERIALIZED\b)"
)
"""Not any "with": prose has it, too."""
_STATEMENT = re.compile(
    rf"\b(?:SELECT\b|{_WITH}).*?(?=;|\n\s*\n|```|\Z)", re.DOTALL | re.IGNORECASE
)

Answer = str | tuple[str, str]
"""A text, or a statement and the database to run it on."""


@dataclass(frozen=True, slots=True)
class Task:
    """One of the tasks.

    Attributes:
        name: `answers`, `facts` or `sql`.
        max_new_tokens: Most of an answer, unless told otherwise.
        prompt: What is asked, of the tables' text and the question.
        read: The answer in a model's text, given the tables that were shown.
    """

    name: str
    max_new_tokens: int
    prompt: Callable[[str, str], str]
    read: Callable[[str, Sequence[Place]], Answer]


@dataclass(frozen=True, slots=True)
class Answers:
    """What a model answered: of each question the answer, and how many had none."""

    answers: Sequence[Answer]
    silent: int


def answer_all(
    task: Task,
    questions: Sequence[str],
    found: Sequence[Sequence[Place]],
    shown: Sequence[Shown],
    model: LanguageModel,
    ledger: Ledger,
    max_new_tokens: int | None = None,
) -> Answers:
    """Ask a model every question, with the tables that were found for it.

    Args:
        task: What is asked for.
        questions: Questions, or statements to verify.
        found: The tables of each, best first.
        shown: Their text.
        model: Who answers.
        ledger: Keeps the answers; asked again, only what is missing is asked.
        max_new_tokens: The task's own if None.

    Raises:
        BenchmarkError: The ledger cannot be used.
        ModelError: The model fails.
    """
    asked = [task.prompt(one.text, text) for one, text in zip(shown, questions, strict=True)]
    said = ask_in_units(
        model,
        ledger,
        asked,
        max_new_tokens or task.max_new_tokens,
        version=f"{prompts.VERSION} {task.name}",
    )
    answers = [task.read(one.text[:_MOST], of) for one, of in zip(said, found, strict=True)]
    return Answers(answers, sum(not one.text.strip() for one in said))


def read_sql(text: str, places: Sequence[Place]) -> Answer:
    """Return the statement and the database that an answer names.

    They stand in an object of JSON; where there is none, the first statement in the text is meant,
    and the database of the best table.
    """
    best = places[0].database if places else NO_DATABASE
    record = _object(text)
    sql, database = record.get("sql_query"), record.get("database_id")
    if isinstance(sql, str) and sql.strip():
        return sql.strip(), database if isinstance(database, str) and database else best
    fenced = _FENCED.search(text)
    found = _STATEMENT.search(fenced.group(1) if fenced else text)
    return (found.group().strip() if found else NO_STATEMENT), best


def _object(text: str) -> Mapping[str, Any]:
    """Return the first object of JSON in a text; an empty one where there is none."""
    start = text.find("{")
    if start < 0:
        return {}
    try:
        found, _ = json.JSONDecoder(strict=False).raw_decode(text, start)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(text: str, _: Sequence[Place]) -> Answer:
    return text.strip()


TASKS: Mapping[str, Task] = {
    task.name: task
    for task in (
        Task("answers", 64, prompts.answering, _text),
        Task("facts", 8, prompts.verifying, _text),
        Task("sql", 256, prompts.writing_sql, read_sql),
    )
}
