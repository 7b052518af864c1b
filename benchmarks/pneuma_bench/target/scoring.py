"""Scores a model's answers as TARGET's package scores them (Ji et al., 2025, section 3.3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.target.downstream import NO_STATEMENT, Answer
from pneuma_bench.target.executing import Rows, StatementError, run
from pneuma_bench.target.metrics import (
    UNKNOWN,
    sacrebleu_of,
    same_rows,
    verdict_of,
    weighted_scores,
)
from pneuma_bench.target.writing import NO_DATABASE


def score_answers(answers: Sequence[Answer], gold: Sequence[str]) -> dict[str, Any]:
    """Return the BLEU score of answers, 0 to 100 (`sacrebleu`)."""
    return {"sacrebleu": sacrebleu_of([str(one) for one in answers], gold)}


def score_facts(answers: Sequence[Answer], gold: Sequence[str]) -> dict[str, Any]:
    """Return accuracy and weighted precision, recall and F1 of labels, and how many had none."""
    said = [verdict_of(str(one)) for one in answers]
    scores = weighted_scores([verdict_of(one) for one in gold], said)
    return {**scores, "unknown": sum(one == UNKNOWN for one in said)}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a model's statement; not its rows, which may be many.

    Attributes:
        statement: With its database, to be handed on; one that does not run within bounds is
            replaced by what is none.
        first: Whether it gives the rows of the first right statement.
        anyone: Whether it gives those of any right one.
    """

    statement: Answer
    first: bool = False
    anyone: bool = False


def run_statements(
    answers: Sequence[Answer], gold: Sequence[Sequence[tuple[str, str]]], databases: Path
) -> list[Outcome]:
    """Run each statement once, and compare what it gives with what the right ones give.

    The package runs what it is given without any bounds, on databases it can write to, and makes
    those that there are not: of what does not run, no name of a database is handed on either.

    Args:
        answers: Statements, each with its database.
        gold: Of each question all right statements.
        databases: Their folder.

    Raises:
        BenchmarkError: A statement that is said to be right does not run.
    """
    outcomes = []
    for answer, right in zip(answers, gold, strict=True):
        rows = _rows(databases, answer)
        if rows is None:
            outcomes.append(Outcome((NO_STATEMENT, NO_DATABASE)))
            continue
        same = [same_rows(rows, _right(databases, one)) for one in right]
        outcomes.append(Outcome(answer, same[0], any(same)))
    return outcomes


def score_sql(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return execution accuracy: the share of statements that give the rows of the right one.

    `accuracy` knows the first right statement alone, as the package does, `accuracy_any` all.
    """
    number = len(outcomes)
    return {
        "accuracy": sum(one.first for one in outcomes) / number if number else float("nan"),
        "accuracy_any": sum(one.anyone for one in outcomes) / number if number else float("nan"),
        "num_sqls": number,
        "not_run": sum(one.statement[0] == NO_STATEMENT for one in outcomes),
    }


def check_right(gold: Sequence[Sequence[tuple[str, str]]], databases: Path) -> None:
    """Refuse right statements that do not run: by them every answer would be wrong.

    Raises:
        BenchmarkError: One of them does not run.
    """
    for statement in dict.fromkeys(one for some in gold for one in some):
        _right(databases, statement)


def _rows(databases: Path, answer: Answer) -> Rows | None:
    """Return what an answer gives; None where it does not run."""
    if answer[0] == NO_STATEMENT:
        return None
    try:
        return run(databases, answer[1], answer[0])
    except StatementError:
        return None


def _right(databases: Path, statement: tuple[str, str]) -> Rows:
    try:
        return run(databases, statement[1], statement[0])
    except StatementError as error:
        raise BenchmarkError(
            f"the right statement {statement[0]!r} does not run on {statement[1]!r} ({error}); "
            "correct it, or leave the question out"
        ) from error
