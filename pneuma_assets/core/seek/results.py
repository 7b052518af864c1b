"""What making the tables of a state reads, may take, gives, and says of what it gives."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

import pyarrow as pa

from pneuma_assets.core.answers.results import AnswerColumn
from pneuma_assets.core.answers.run_duckdb import RunBounds
from pneuma_assets.core.errors import PneumaError, SqlFailedError, SqlRefusedError
from pneuma_assets.core.sandbox.run import Bounds as CodeBounds
from pneuma_assets.core.seek.state import Source


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    """What was made is not what was asked for."""
    WARNING = "warning"
    """It may well mislead; somebody has to look."""
    NOTE = "note"
    """It is as it should be, or may be; it is told so that nobody wonders."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found, before or after tables are made.

    Attributes:
        rule: Which rule (docs/seek.md, "What is checked").
        severity: How much it matters.
        subject: The table, step or query that it is about, by its name in the state.
        text: What was found, and what to do about it; may quote cells.
        figures: What was counted.
    """

    rule: str
    severity: Severity
    subject: str
    text: str
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Made:
    """A target table, made.

    Attributes:
        table: Its name in the state.
        rows: With the columns that the state gives it, in their order, of their types.
        findings: Of its steps and of itself, in the order in which they were found.
        seconds: That it took.
    """

    table: str
    rows: pa.Table
    findings: tuple[Finding, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What a query of a state gives.

    Attributes:
        name: Of the query.
        columns: Names of the result's columns; two may be the same.
        rows: Cells as JSON has them (`sources.base.StatementRows`).
        more: Whether there are other rows.
        findings: What its rules found.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool
    findings: tuple[Finding, ...] = ()


def unread_findings(subject: str, told: Iterable[str]) -> list[Finding]:
    """Return what a person should know of a table of which rows are missing."""
    return [Finding("lines not read", Severity.WARNING, subject, one) for one in told]


def as_far_as_counted(findings: Iterator[Finding], subject: str) -> Iterator[Finding]:
    """Yield findings, and that there may be others where a statement that counts does not run."""
    try:
        yield from findings
    except (SqlFailedError, SqlRefusedError) as error:
        text = f"its rules could not be looked at to the end: {error}"
        yield Finding("not checked", Severity.NOTE, subject, text)


class StepFailedError(PneumaError):
    """A table cannot be made; the message says at which step, why, and what there is to use.

    Args:
        table: The target table or query.
        step: What the step makes; the table itself where its end result does not do.
        message: Why, so that a person or a model can mend the step.
    """

    def __init__(self, table: str, step: str, message: str) -> None:
        super().__init__(message)
        self.table = table
        self.step = step


@dataclass(frozen=True, slots=True)
class MakeBounds:
    """What making tables may take.

    Attributes:
        rows: Of the result of each step.
        kept_bytes: Of rows of sources that are kept in memory between statements.
        statement: Of each statement; its `result_bytes` are those of a step's result.
        code: Of each step of Python.
    """

    rows: int = 1_000_000
    kept_bytes: int = 256 << 20
    statement: RunBounds = field(default=RunBounds(seconds=30.0, result_bytes=256 << 20))
    code: CodeBounds = field(default=CodeBounds())


BOUNDS = MakeBounds()
"""Those that hold where nobody says others."""


class Relations(Protocol):
    """The tables that exist, as far as whoever asks may read them.

    It is asked about one table at a time: a source that stands for several tables is taken apart
    before (`members_of`).
    """

    def columns(self, source: Source) -> Sequence[AnswerColumn]:
        """Return the columns that may be read, with their types as DuckDB has them.

        Raises:
            PneumaError: The table is not there, or may not be read, in the same words.
        """

    def rows(self, source: Source, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        """Yield rows with at least these columns, within the limits of the deployment.

        Columns of text whose type is a number, a day or a truth value are cast when they are read.

        Raises:
            PneumaError: As of `columns`, or rows cannot be read.
        """

    def unread(self, source: Source) -> Sequence[str]:
        """Return of which lines of the table's files rows are missing, in words, if of any.

        Raises:
            PneumaError: As of `columns`.
        """
