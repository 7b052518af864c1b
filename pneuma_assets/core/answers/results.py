"""What an answer consists of: rows, the statement that gave them, and what it read.

Without a model it has no such rows, and those instead that have cells that the question names.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from pneuma_assets.core.tables import Problem

CHANGED = "changed"
"""The stage of the problem that a table was listed anew since it was indexed."""
ALIKE = "alike"
"""The stage of the problem that tables of the same columns were not asked about."""
PART = "part"
"""The stage of the problem that a statement gives nothing of one of several tables of its kind."""
UNREAD = "unread"
"""The stage of the problem that rows with cells that the question names are not shown."""
BESIDE = frozenset({CHANGED, ALIKE, PART, UNREAD})
"""Stages of problems that do not keep a question from having an answer."""


class Outcome(StrEnum):
    """How a question was answered."""

    ANSWERED = "answered"
    """There are rows."""
    REFUSED = "refused"
    """No table here says that."""
    NOT_WRITTEN = "not written"
    """Tables may say it, but no statement was found that gives it."""
    NAMED = "named"
    """No model was asked; there are rows with cells that the question names. Whether they answer
    it nobody knows."""
    NO_ROWS = "no rows"
    """No model was asked, and no row was read: the question names no cell of the tables that were
    found, or the problems say why."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A value that a statement spelled otherwise than the column does."""

    table: str
    column: str
    said: str
    stored: str


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """Rows that answer a question, and where they are from.

    Attributes:
        tables: Ids of the tables that the statement reads, in the order in which it names them.
        sql: The statement that was run, by the tables' own names and schemas.
        dialect: What sqlglot calls its SQL.
        columns: Names of the result's columns, as the engine gives them; two may be the same.
        rows: Cells as JSON has them (`sources.base.StatementRows`).
        more: Whether there are other rows.
        read: Table id and column, each once: all that the statement read.
        made_by: `model NAME`.
        corrections: Values that were put as they are stored.
        repaired: Whether the model was told of an error and wrote another statement.
        unread: Words of the question that nothing here says: neither the statement nor the names
            of what it reads. Wrong answers mostly have some (`answers.unread`).
        parts: What the order of answers consists of: `rank`, `answerable`, `sure`.
    """

    tables: tuple[str, ...]
    sql: str
    dialect: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool
    read: tuple[tuple[str, str], ...]
    made_by: str
    corrections: tuple[Correction, ...] = ()
    repaired: bool = False
    unread: tuple[str, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NamedRows:
    """Rows of one table with cells that a question names; they need not answer it.

    Attributes:
        table: Its id.
        columns: Names of those that were read, up to 40 of those that may be seen.
        rows: Cells as JSON has them (`sources.base.StatementRows`); of files the text they have.
        more: Whether there are other rows.
        matched: Of each run of the question's words the columns in which these rows have it as a
            whole cell. Capitals and accents do not count.
        together: Whether each row has all of these; else no row has, and each has one.
    """

    table: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool
    matched: Mapping[str, tuple[str, ...]]
    together: bool


@dataclass(frozen=True, slots=True)
class Usage:
    """What a model was asked for a question.

    Attributes:
        calls: Prompts.
        read: Tokens of these, by the encoder's tokenizer, whatever the model's.
        written: Tokens of its answers, likewise.
    """

    calls: int = 0
    read: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True)
class CellAnswer:
    """The answer to a question in cells (Octopus, section 5).

    Attributes:
        question: As it was asked.
        outcome: Whether there are rows.
        answers: What a model's statements gave, best first; several tables may each answer by
            themselves.
        named: Where no model was asked, rows with cells that the question names, of each table
            that has some, in the order in which tables were found.
        nearest: Ids of the tables that come nearest, best first, also where none answers.
        reason: Why there are no answers, and what to do; empty where there are.
        problems: What kept a set of tables from answering: `subject` is the tables' ids.
        usage: What a model was asked.
        answerable: The probability that any table answers, as of `find`; None where not known.
    """

    question: str
    outcome: Outcome
    answers: tuple[TableAnswer, ...] = ()
    named: tuple[NamedRows, ...] = ()
    nearest: tuple[str, ...] = ()
    reason: str = ""
    problems: tuple[Problem, ...] = ()
    usage: Usage = Usage()
    answerable: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the answer for JSON."""
        return asdict(self)
