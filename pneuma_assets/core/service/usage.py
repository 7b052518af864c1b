"""What people say of answers: right ones are found again, wrong ones stay out of the way."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ConfirmedAnswer:
    """Tables, and perhaps a statement, that somebody said answer a question, or do not.

    Attributes:
        answer_id: Names it.
        question: As it was asked then.
        tables: Ids of the tables.
        sql: The statement that gave the answer; None where tables alone were meant.
        confirmed: Whether it is right; False: somebody rejected it.
        author: Who says so.
        said_at: When, as ISO 8601 in UTC.
        door: By which door it came: `python`, `cli`, `page`, `http`, `mcp`.
        similarity: Of the question that was asked with this one, 0 to 1; 1 where both have the same
            words; None where no question was asked.
        gone: Those of its tables that have left their source.
    """

    answer_id: str
    question: str
    tables: tuple[str, ...]
    sql: str | None
    confirmed: bool
    author: str
    said_at: str
    door: str
    similarity: float | None = None
    gone: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)
