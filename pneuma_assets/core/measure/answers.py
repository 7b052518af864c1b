"""Asks the questions of a set, and keeps of every answer what is counted or looked at later."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pneuma_assets.core.config.query import QueryConfig
from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.measure.metrics import first_place
from pneuma_assets.core.measure.questions import Question
from pneuma_assets.core.progress import report
from pneuma_assets.core.search.confidence import confidence_of, is_unlikely
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.search.results import TableResult

_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Answered:
    """A question, the tables that answer it, and those found, best first, with their scores.

    `confidence` is higher where it is more likely that a table was found that answers; `refused`
    tells whether the answer is shown as one that probably is none, None where that is not known;
    `kind` is the sort of question, empty where that is not known.
    """

    question: str
    relevant: Collection[str]
    ranking: Sequence[tuple[str, float]]
    confidence: float
    refused: bool | None = None
    kind: str = ""

    @property
    def ranked(self) -> list[str]:
        """The tables found, best first."""
        return [table_id for table_id, _ in self.ranking]


def ask_all(
    engine: QueryEngine,
    questions: Sequence[Question],
    options: Mapping[str, Any],
    min_confidence: float = QueryConfig().min_confidence,
) -> list[Answered]:
    """Ask every question with these options of `ask_many`.

    Args:
        engine: Answers them.
        questions: Are asked.
        options: How they are asked.
        min_confidence: Up to which confidence an answer counts as refused.
    """
    answered: list[Answered] = []
    for some in chunks(questions, _AT_ONCE):
        answers = engine.ask_many([one.text for one in some], **options)
        for (question, relevant, kind), found in zip(some, answers, strict=True):
            ranking = [(_shown(result, relevant), float(result.score)) for result in found]
            confidence = confidence_of(found)
            refused = None if confidence is None else is_unlikely(confidence, min_confidence)
            sure = _highest_cosine(found) if confidence is None else confidence
            answered.append(Answered(question, relevant, ranking, sure, refused, kind))
        report("asking questions", len(answered), len(questions))
    return answered


def _shown(result: TableResult, relevant: Collection[str]) -> str:
    """Return the table that a result is counted as: a wanted one, if that is among its copies."""
    shown = (result.table_id, *result.copies)
    return next((table_id for table_id in shown if table_id in relevant), result.table_id)


def _highest_cosine(found: Sequence[TableResult]) -> float:
    """Return what stands in for a confidence by the paper's two sides, which have none.

    Fused scores cannot: they are scaled so that the best of every question is near 1.
    """
    return max((float(result.parts.raw_semantic) for result in found), default=-1.0)


def write_answers(
    path: Path, answers: Iterable[Answered], spelled: Callable[[str], str] = str
) -> None:
    """Write a JSON object a question: what was asked, wanted and found, and the first right place.

    Args:
        path: The file; missing folders are made.
        answers: To be written.
        spelled: Spells a table's id.

    Raises:
        BenchmarkError: The file cannot be written.
    """
    lines = [json.dumps(_record(answer, spelled)) + "\n" for answer in answers]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise BenchmarkError(f"cannot write {path} ({error.strerror or error})") from error


def _record(answer: Answered, spelled: Callable[[str], str]) -> dict[str, Any]:
    return {
        "question": answer.question,
        **({"kind": answer.kind} if answer.kind else {}),
        "tables": sorted(map(spelled, answer.relevant)),
        "ranking": [
            {"table": spelled(table_id), "score": score} for table_id, score in answer.ranking
        ],
        "rank": first_place(answer.ranked, answer.relevant),
        "confidence": answer.confidence,
        "refused": answer.refused,
    }
