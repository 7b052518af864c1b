"""Asks questions with known answers, and counts how well an index answers them.

A set is JSON lines, `{"question", "tables": [id]}`; a question without a table is one that no table
answers. `"kind"` says what sort of question it is, such as `content`: figures are counted for each.
"""

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from pneuma_assets.core.answer_feedback import SavedAnswer
from pneuma_assets.core.config.query import QueryOptions
from pneuma_assets.core.errors import BenchmarkError, QueryError
from pneuma_assets.core.evaluation.metrics import (
    Interval,
    Values,
    first_place,
    mean_intervals,
    ranking_metrics,
)
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.progress import report
from pneuma_assets.core.search.confidence import confidence_of, is_unlikely
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.search.results import TableResult, checked_question
from pneuma_assets.core.text.safe import well_formed

_AT_ONCE = 100


class Question(NamedTuple):
    """A question, the ids of the tables that answer it, and its sort, if that is known."""

    text: str
    relevant: frozenset[str]
    kind: str = ""


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
    min_confidence: float = QueryOptions().min_confidence,
) -> list[Answered]:
    """Ask every question with these options of `ask_many`; refused is what is less probable."""
    answered: list[Answered] = []
    for some in chunks(questions, _AT_ONCE):
        answers = engine.ask_many([one.text for one in some], **options)
        for (question, relevant, kind), found in zip(some, answers, strict=True):
            ranking = [
                (table_id, float(result.score))
                for result in found
                for table_id in _shown(result, relevant)
            ]
            confidence = confidence_of(found)
            refused = None if confidence is None else is_unlikely(confidence, min_confidence)
            sure = _highest_cosine(found) if confidence is None else confidence
            answered.append(Answered(question, relevant, ranking, sure, refused, kind))
        report("asking questions", len(answered), len(questions))
    return answered


def _shown(result: TableResult, relevant: Collection[str]) -> Sequence[str]:
    """Return the wanted tables of those that a result names: itself, of its family, a copy."""
    members = result.tables[len(result.copies) + 1 :]
    wanted = [one for one in (result.table_id, *members) if one in relevant]
    copy = next((one for one in result.copies if one in relevant), result.table_id)
    return wanted or [copy]


def _highest_cosine(found: Sequence[TableResult]) -> float:
    """Return what stands in for a confidence by the paper's two sides, which have none.

    Fused scores cannot: they are scaled so that the best of every question is near 1.
    """
    return max((float(result.parts.raw_semantic) for result in found), default=-1.0)


def write_answers(
    path: Path, answers: Iterable[Answered], spelled: Callable[[str], str] = str
) -> None:
    """Write a JSON object a question: what was asked, wanted and found, and the first right place.

    Missing folders are made; `spelled` spells a table's id.

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


_NAMED = 5


def read_questions(path: Path, table_ids: Iterable[str]) -> list[Question]:
    """Read questions about indexed tables.

    Raises:
        BenchmarkError: The file cannot be read, a line is not what it must be, or a question names
            a table that there is not.
    """
    return questions_of(path, json_lines(path), {one: one for one in table_ids})


CONFIRMED = "confirmed"
"""The sort of questions whose answers people confirmed."""


def confirmed_questions(
    answers: Iterable[SavedAnswer], table_ids: Collection[str]
) -> list[Question]:
    """Return the questions whose answers people confirmed, each once, with all of its tables.

    One with a table that is not indexed now is left out.

    Raises:
        BenchmarkError: There is none.
    """
    relevant: dict[str, set[str]] = {}
    for one in answers:
        if one.confirmed:
            relevant.setdefault(one.question, set()).update(one.tables)
    known = set(table_ids)
    asked = [Question(q, frozenset(t), CONFIRMED) for q, t in relevant.items() if t <= known]
    if not asked:
        raise BenchmarkError(
            "no answer from tables that are indexed was confirmed; run: pneuma-assets confirm"
        )
    return asked


def questions_of(
    path: Path, records: Iterable[tuple[int, Mapping[str, Any]]], ids: Mapping[str, str]
) -> list[Question]:
    """Check the records of a file, each with its line; `ids` are by those that the file has."""
    asked: list[Question] = []
    for number, record in records:
        try:
            question = checked_question(text_of(path, number, record, "question"))
        except QueryError as error:
            refuse(path, number, str(error))
        wanted = list(dict.fromkeys(texts_of(path, number, record, "tables")))
        unknown = [repr(one) for one in wanted if one not in ids]
        if unknown:
            more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
            refuse(path, number, f"no table has the id {', '.join(unknown[:_NAMED])}{more}")
        relevant = frozenset(ids[one] for one in wanted)
        asked.append(Question(question, relevant, text_of(path, number, record, "kind", "")))
    if not asked:
        raise BenchmarkError(f"{path} holds no question; write one JSON object a line")
    return asked


def text_of(
    path: Path, number: int, record: Mapping[str, Any], key: str, default: str | None = None
) -> str:
    """Return a text of a line; without a default it must be there and not be empty."""
    value = record.get(key)
    value = default if value is None else value
    if not isinstance(value, str) or (default is None and not value.strip()):
        refuse(path, number, f"'{key}' must be a text that is not empty")
    return well_formed(value)


def texts_of(
    path: Path,
    number: int,
    record: Mapping[str, Any],
    key: str,
    default: Sequence[str] | None = None,
) -> list[str]:
    """Return a list of texts of a line; without a default it must be there."""
    value = record.get(key)
    value = default if value is None else value
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        refuse(path, number, f"'{key}' must be a list of texts")
    return [well_formed(one) for one in value]


MOST_LINE_BYTES = 256 * 1024 * 1024
"""Of one line, so of one table with all of its rows."""

_MARK = b"\xef\xbb\xbf"


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each object with the number of its line; blank lines are passed over.

    Numbers come as text, spelled as in the file.

    Raises:
        BenchmarkError: The file cannot be read, or a line of it is no JSON object.
    """
    try:
        with path.open("rb") as stream:
            number = 0
            while line := stream.readline(MOST_LINE_BYTES + 1):
                number += 1
                line = line.removeprefix(_MARK) if number == 1 else line
                if line.strip():
                    yield number, _object(path, number, line)
    except OSError as error:
        raise BenchmarkError(f"cannot read {path} ({error.strerror or error})") from error


def refuse(path: Path, number: int, problem: str) -> NoReturn:
    """Raise `BenchmarkError` for what is wrong with a line."""
    raise BenchmarkError(f"{path}, line {number}: {problem}")


def _object(path: Path, number: int, line: bytes) -> dict[str, Any]:
    if len(line) > MOST_LINE_BYTES:
        most = MOST_LINE_BYTES // 1024**2
        refuse(path, number, f"the line has more than {most} MiB; split the table")
    try:
        value = json.loads(
            line.decode("utf-8"), parse_int=str, parse_float=str, parse_constant=_no_number
        )
    except (ValueError, RecursionError) as error:
        refuse(path, number, f"not JSON in UTF-8 ({error}); write one object a line")
    if not isinstance(value, dict):
        refuse(path, number, f"a JSON object is needed, not {type(value).__name__}")
    return value


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON; use null")


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures by name, and 95 % bootstrap intervals over the questions; NaN of nothing to count.

    `each` is what each answerable question counts in a mean, in the order of the set.
    """

    values: Mapping[str, float]
    intervals: Mapping[str, Interval]
    each: Mapping[str, Values]

    def to_dict(self) -> dict[str, Any]:
        """Return figures by name for JSON, and their intervals; null where nothing was counted."""
        intervals = {name: [*map(_number, one)] for name, one in self.intervals.items()}
        return {name: _number(one) for name, one in self.values.items()} | {"intervals": intervals}


def count_figures(answers: Sequence[Answered]) -> Figures:
    """Return the figures of a set's answers.

    `kept` is the share of questions with an answer that were not refused, `refused` that of those
    without one that were; these count for nothing else.
    """
    answerable = [answer for answer in answers if answer.relevant]
    each = {
        name: np.array([metric(one.ranked, one.relevant) for one in answerable], np.float64)
        for name, metric in ranking_metrics().items()
    }
    told = [answer for answer in answers if answer.refused is not None]
    kept = np.array([not one.refused for one in told if one.relevant], np.float64)
    refused = np.array([bool(one.refused) for one in told if not one.relevant], np.float64)
    shares = {"kept": kept, "refused": refused}
    intervals = mean_intervals(each)
    for name, values in shares.items():  # of other questions each
        intervals |= mean_intervals({name: values})
    means = {n: float(v.mean()) if len(v) else math.nan for n, v in (each | shares).items()}
    return Figures(means, intervals, each)


def count_figures_by_kind(answers: Sequence[Answered]) -> dict[str, Figures]:
    """Return the figures of each sort of question by its name; none where a set names no sort."""
    kinds = sorted({answer.kind for answer in answers} - {""})
    return {kind: count_figures([one for one in answers if one.kind == kind]) for kind in kinds}


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value
