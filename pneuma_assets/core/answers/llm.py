"""Statements that a language model writes, or what it says is in no table."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel

from pneuma_assets.core.answers.prompts import MOST_CHARACTERS
from pneuma_assets.core.models.base import Conversation, LanguageModel
from pneuma_assets.core.models.language.forms import Answer, ask, room, turn

_BESIDE = 3_000
"""Characters of a prompt besides those of the tables, and of answers that were no good."""
_LEAST_ROOM = 2_000

_FENCE = re.compile(r"```[a-zA-Z]*\s*\n?(.*?)(?:```|\Z)", re.DOTALL)
_COMMENTS = re.compile(r"(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*", re.DOTALL)
_QUERY = re.compile(r"(?:\(\s*)*(?:select|with)\b", re.IGNORECASE)
_PARTS = re.compile(r"'(?:[^']|'')*'?|\"(?:[^\"]|\"\")*\"?|--[^\n]*|/\*.*?(?:\*/|\Z)|;", re.DOTALL)
"""What may hold a semicolon that ends nothing, and one that does."""
_STATEMENT = re.compile(
    r"\(|(?:select|with|insert|update|delete|merge|create|alter|drop|truncate|copy|attach|detach"
    r"|install|load|pragma|set|reset|call|execute|prepare|begin|commit|grant|revoke|vacuum|from"
    r"|values|table|explain|describe|show|do)\b",
    re.IGNORECASE,
)
"""What another statement begins with."""


class OtherReading(BaseModel):
    """A second meaning of words of the question: what they mean first, what else, its statement."""

    first: str
    means: str
    sql: str


class Written(BaseModel):
    """What a model answers to `prompts.asking`, which says what each key is."""

    plan: str
    set: int | None
    sql: str | None
    missing: str | None
    other_reading: OtherReading | None


@dataclass(frozen=True, slots=True)
class ModelWriter:
    """Asks a model for statements; threads take turns at it, unless it is `concurrent`.

    Attributes:
        model: It.
        max_new_tokens: Of an answer, what it thinks before it included; of a small window
            (`context`) at most a third.
        values: Whether it may be shown cells of tables, and errors that may quote these.
        told: Returns of why it refuses what may be told.
    """

    model: LanguageModel
    max_new_tokens: int
    values: bool
    told: Callable[[str], str] = str

    @property
    def name(self) -> str:
        """What the model is called; of a file its name, not where it lies."""
        path = Path(self.model.name)
        return path.name if path.is_absolute() else self.model.name

    def room(self, most: int = MOST_CHARACTERS) -> int:
        """Return how many characters of tables a prompt has room for, at most so many."""
        with turn(self.model):  # One of this process is loaded for it.
            left = room(self.model, self.max_new_tokens, most + _BESIDE)
        return max(_LEAST_ROOM, left - _BESIDE)

    def written(self, said: Conversation) -> Answer[Written]:
        """Return what the model answers; one that is a statement alone is about the first set.

        Raises:
            ModelError: The model is missing or fails.
        """
        with turn(self.model):
            sent = [*ask(self.model, [said], Written, self.max_new_tokens)]
        (found,) = sent or [Answer(0, None, "it sent nothing")]
        sql = statement_in(found.said) if found.value is None else None
        if sql is not None:
            value = Written(plan="", set=None, sql=sql, missing=None, other_reading=None)
            return replace(found, value=value, problem="")
        return replace(found, problem=self.told(found.problem) if found.problem else "")


def statement_in(text: str) -> str | None:
    """Return the statement that a model's answer consists of; None where it is something else.

    What stands in a first block of code, else the whole, without comments before it. Words after
    its semicolon are no part of it; other statements are left there, for the guard to refuse.
    """
    fenced = _FENCE.search(text)
    sql = _begun(fenced.group(1) if fenced else text)
    end = next((one.start() for one in _PARTS.finditer(sql) if one[0] == ";"), len(sql))
    if not _STATEMENT.match(_begun(sql[end:].lstrip("; \n\t"))):
        sql = sql[:end]
    sql = sql.rstrip("; \n\t")
    return sql if _QUERY.match(sql) else None


def _begun(sql: str) -> str:
    """Return what follows blanks and comments."""
    found = _COMMENTS.match(sql)
    return sql[found.end() :].rstrip() if found else sql
