"""Many questions at once, of which some cannot be asked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.search.confidence import confidence_of
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.search.results import TableResult, checked_question, listed, rounded

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
        sure = rounded(self.confidence)
        return {"question": self.question, "confidence": sure, "results": results} | error


def ask_each(engine: QueryEngine, questions: Sequence[str | None], **options: Any) -> list[Answer]:
    """Answer all questions that can be asked, and say of the others why not, in their order.

    Args:
        engine: Answers them.
        questions: In plain language; None stands for one that is not text.
        options: As `QueryEngine.ask_many` has them.

    Raises:
        QueryError: An option or the filter is wrong, or nothing is indexed.
    """
    good, answers = [], []
    for question in listed(questions):
        if question is None:
            answers.append(Answer("", error="It is not UTF-8; save the file as UTF-8"))
            continue
        try:
            good.append(checked_question(question))
            answers.append(Answer(question))
        except QueryError as error:
            shown = question if isinstance(question, str) else ""
            cut = f"{shown[:SHOWN_CHARACTERS]}…" if len(shown) > SHOWN_CHARACTERS else shown
            answers.append(Answer(cut, error=str(error)))
    found = iter(engine.ask_many(good, **options))
    return [one if one.error is not None else replace(one, results=next(found)) for one in answers]
