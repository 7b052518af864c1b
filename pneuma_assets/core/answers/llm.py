"""Statements that a language model writes."""

import re
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakKeyDictionary

from pneuma_assets.core.answers.prompts import about, again, judging, writing
from pneuma_assets.core.answers.prune import Cluster
from pneuma_assets.core.errors import SqlFailedError
from pneuma_assets.core.models.base import LanguageModel

_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_ENDS = re.compile(r"</think>", re.IGNORECASE)
"""Of a model whose template has begun the thought, so that only its end is written."""
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

_TURNS: WeakKeyDictionary[LanguageModel, threading.Lock] = WeakKeyDictionary()
_GIVING = threading.Lock()


@dataclass(frozen=True, slots=True)
class ModelWriter:
    """Asks a model whether tables answer, and for the statement.

    Threads take turns at one model, unless it is `concurrent` (`core.models.base`).

    Attributes:
        model: It.
        max_new_tokens: Of a statement.
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

    def sure(self, question: str, asked: Cluster) -> float | None:
        """Return how sure the model is that a cluster's tables answer, as of Figure 3.

        None where it gives no verdict.

        Raises:
            ModelError: The model is missing or fails.
        """
        prompt = self._about(question, asked) + judging(asked.first)
        with _turn(self.model):
            return next(iter(self.model.yes_probability([prompt])), None)

    def statement(self, question: str, asked: Cluster) -> str:
        """Return the statement that the model writes for a cluster's first set.

        Raises:
            SqlFailedError: It writes none.
            ModelError: The model is missing or fails.
        """
        return self._written(self._about(question, asked) + writing(asked.dialect))

    def another(self, question: str, asked: Cluster, sql: str, error: str) -> str:
        """Return another statement in the place of one that was no good; raises likewise."""
        told = error if self.values else "it does not run, or gives no row"
        return self._written(
            self._about(question, asked) + writing(asked.dialect) + again(sql, told)
        )

    def _about(self, question: str, asked: Cluster) -> str:
        return about(question, asked.first, asked.shown, asked.dialect, values=self.values)

    def _written(self, prompt: str) -> str:
        with _turn(self.model):
            answer = next(iter(list(self.model.generate([prompt], self.max_new_tokens))), None)
        if answer is None:
            raise SqlFailedError("the model writes no statement: it gave no answer")
        if answer.problem is not None:
            raise SqlFailedError(f"the model writes no statement: {self.told(answer.problem)}")
        sql = statement_in(answer.text)
        if sql is None:
            raise SqlFailedError("what the model writes is no SELECT statement")
        if not answer.whole:
            raise SqlFailedError(
                f"the model's statement is longer than {self.max_new_tokens} tokens"
            )
        return sql


def _turn(model: LanguageModel) -> AbstractContextManager[object]:
    """Return what lets one thread after the other ask a model that cannot be asked by several."""
    if getattr(model, "concurrent", False):
        return nullcontext()
    with _GIVING:
        return _TURNS.setdefault(model, threading.Lock())


def statement_in(text: str) -> str | None:
    """Return the statement that a model's answer consists of; None where it is something else.

    What stands in a first block of code, else the whole, without what the model thinks aloud, and
    comments before it. Words after its semicolon are no part of it; other statements are left
    there, for the guard to refuse.
    """
    text = _THOUGHT_ENDS.split(_THOUGHT.sub("", text))[-1]
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
