"""Many questions at once, of which some cannot be asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.base import NO_FILTER, IndexFilter
from pneuma_assets.core.search.confidence import confidence_of
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.search.results import TableResult, checked_question, listed

SHOWN_CHARACTERS = 200
"""Of a question that is refused, perhaps for its length."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A question with the tables found, best first, or with why it could not be asked."""

    question: str
    results: Sequence[TableResult] = ()
    error: str | None = None

    @property
    def confidence(self) -> float | None:
        """The probability that any table of the answer is right; None where it is not known."""
        return None if self.error is not None else confidence_of(self.results)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer for JSON; `error` is there only where it was not asked."""
        results = [result.to_dict() for result in self.results]
        error = {} if self.error is None else {"error": self.error}
        answer = {"question": self.question, "confidence": self.confidence, "results": results}
        return answer | error


def ask_each(
    engine: QueryEngine,
    questions: Sequence[str | None],
    *,
    where: IndexFilter = NO_FILTER,
    **options: Any,
) -> list[Answer]:
    """Answer all questions that can be asked, and say of the others why not, in their order.

    Args:
        engine: Answers them.
        questions: In plain language; None stands for one that is not text.
        where: Which tables, and who asks.
        options: As `QueryEngine.ask_many` has them.

    Raises:
        QueryError: An option or the filter is wrong, or nothing is indexed.
    """
    questions = listed(questions)
    refused = [_refusal(question) for question in questions]
    good = [
        one for one, why in zip(questions, refused, strict=True) if one is not None and why is None
    ]
    found = iter(engine.ask_many(good, where=where, **options))
    return [
        Answer(_beginning(question), (), why)
        if question is None or why is not None
        else Answer(question, next(found))
        for question, why in zip(questions, refused, strict=True)
    ]


def _refusal(question: str | None) -> str | None:
    if question is None:
        return "It is not UTF-8; save the file as UTF-8"
    try:
        checked_question(question)
    except QueryError as error:
        return str(error)
    return None


def _beginning(question: str | None) -> str:
    if not isinstance(question, str):
        return ""
    cut = len(question) > SHOWN_CHARACTERS
    return f"{question[:SHOWN_CHARACTERS]}…" if cut else question
