"""Reads questions with known answers: `{"question", "tables": [id]}`, an object a line.

One without a table is one that no table answers. `"kind"` says what sort of question it is, such as
`content`: figures are counted for each.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pneuma_assets.core.errors import BenchmarkError, QueryError
from pneuma_assets.core.measure.lines import json_lines, refuse
from pneuma_assets.core.search.results import checked_question
from pneuma_assets.core.text.safe import well_formed

_NAMED = 5


class Question(NamedTuple):
    """A question, the ids of the tables that answer it, and its sort, if that is known."""

    text: str
    relevant: frozenset[str]
    kind: str = ""


def read_questions(path: Path, table_ids: Iterable[str]) -> list[Question]:
    """Read questions about indexed tables.

    Raises:
        BenchmarkError: The file cannot be read, a line is not what it must be, or a question names
            a table that there is not.
    """
    return questions_of(path, json_lines(path), {one: one for one in table_ids})


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
