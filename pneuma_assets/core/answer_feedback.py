"""What people said of answers, and questions that had no good one, as the state keeps them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SavedAnswer:
    """What somebody says of an answer; `sql` is empty where tables alone are the answer."""

    answer_id: str
    question: str
    tables: tuple[str, ...]
    sql: str
    confirmed: bool
    author: str
    door: str
    said_at: float = 0.0

    @property
    def content(self) -> tuple[str, frozenset[str], str]:
        """What is the same in two answers of which the later counts."""
        return words_of(self.question), frozenset(self.tables), self.sql.strip()


@dataclass(frozen=True, slots=True)
class FailedQuestion:
    """A question without a good answer.

    Attributes:
        question_id: Names it.
        question: The text.
        outcome: `refused`: no table was likely to answer; `rejected`: somebody said that the answer
            is wrong; `abandoned`: nobody looked at any of the tables found.
        door: By which it was asked last.
        times: How often it was asked so.
        asked_at: When last, in seconds since 1970.
    """

    question_id: str
    question: str
    outcome: str
    door: str
    times: int
    asked_at: float


def words_of(question: str) -> str:
    """Return what is the same in two questions that differ in capitals and spaces alone."""
    return " ".join(question.casefold().split())
