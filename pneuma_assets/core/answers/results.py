"""What is known of tables that may answer a question, and what an answer consists of."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

from pneuma_assets.core.answers.statements import ReadTable
from pneuma_assets.core.missing_parts import MissingPart
from pneuma_assets.core.models.usage import Usage
from pneuma_assets.core.relations.join_graph import JoinEdge
from pneuma_assets.core.tables import Problem, TableRef, TableTerms
from pneuma_assets.core.terms.fields import cell_term

CHANGED = "changed"
"""The stage of the problem that a table was listed anew since it was indexed."""
ALIKE = "alike"
"""The stage of the problem that tables of the same columns were not asked about."""
PART = "part"
"""The stage of the problem that a statement gives nothing of one of several tables of its kind."""
UNREAD = "unread"
"""The stage of the problem that rows with cells that the question names are not shown."""
READING = "reading"
"""The stage of the problem that a second reading of the question gives nothing."""
BESIDE = frozenset({CHANGED, ALIKE, PART, UNREAD, READING})
"""Stages of problems that do not keep a question from having an answer."""


class Outcome(StrEnum):
    """How a question was answered."""

    ANSWERED = "answered"
    """There are rows."""
    REFUSED = "refused"
    """No table here says that: so the model, or, where none was asked, the search."""
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
        means: How the model reads the question here, in its words, where it has a second reading
            that gives something else; that is another answer.
        doubts: What may mislead: sums over rows that a join repeats, and what the model says is
            asked for and in no table.
        unmatched: Words of the question that nothing here says: neither the statement nor the
            names of what it reads. Wrong answers mostly have some (`answers.unmatched_words`).
        unread: Of which lines of the tables' files rows are missing, a text a table.
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
    means: str = ""
    doubts: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


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
        sql: The statement that gave them.
        unread: As of `TableAnswer`.
    """

    table: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool
    matched: Mapping[str, tuple[str, ...]]
    together: bool
    sql: str = ""
    unread: tuple[str, ...] = ()


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
        reason: Why there are no answers, and what to do, with what the model says is in no table;
            empty where there are.
        problems: What kept a set of tables from answering: `subject` is the tables' ids.
        usage: What models were asked for it, the judge included.
        answerable: The probability that any table answers, as of `find`; None where not known.
        unlikely: Whether that is less than `query.min_confidence`, so that answers need a look.
        missing: What the answer had to do without.
    """

    question: str
    outcome: Outcome
    answers: tuple[TableAnswer, ...] = ()
    named: tuple[NamedRows, ...] = ()
    nearest: tuple[str, ...] = ()
    reason: str = ""
    problems: tuple[Problem, ...] = ()
    usage: Usage = field(default_factory=Usage)
    answerable: float | None = None
    unlikely: bool = False
    missing: tuple[MissingPart, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerColumn:
    """A column that a statement may read.

    Attributes:
        name: As the profile has it.
        type: As the source spells it.
        said: What is said of it, one line; empty where nothing but its name says anything.
    """

    name: str
    type: str
    said: str = ""


Shown = Sequence[AnswerColumn]
"""The columns of a table that a model is shown."""


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """A table of which a question may be answered.

    Attributes:
        table_id: As results have it.
        ref: Where its rows are read.
        read: What a statement calls it, and the columns that it may read.
        columns: Those, in the table's order.
        rows: How many it has.
        evidence: What the index keeps of its rows and cells: of a large table not all of them.
        matched: Of the columns that the question names how well, from 0 to 1.
        unread: Of which lines of its files rows are missing, with its id, if of any.
    """

    table_id: str
    ref: TableRef
    read: ReadTable
    columns: tuple[AnswerColumn, ...]
    rows: int
    evidence: TableTerms
    matched: Mapping[str, float] = field(default_factory=dict)
    unread: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the index keeps all of its rows, so that a value that is not there is none."""
        return 0 < self.rows <= len(self.evidence.rows)

    @cached_property
    def _spelled(self) -> dict[str, Counter[str]]:
        found: dict[str, Counter[str]] = {name: Counter() for name in self.evidence.columns}
        for row in self.evidence.rows:
            for name, cell in zip(self.evidence.columns, row, strict=False):
                if cell:
                    found[name][cell] += 1
        return found

    def frequent(self, column: str) -> list[str]:
        """Return a column's different values that are terms, the most frequent first."""
        counted = self._spelled.get(column, Counter[str]())
        return sorted(self.values(column).values(), key=lambda cell: -counted[cell])

    def spellings(self, column: str) -> frozenset[str]:
        """Return a column's different values as the rows kept spell them."""
        return frozenset(self._spelled.get(column, ()))

    @cached_property
    def _values(self) -> dict[str, dict[str, str]]:
        """What `values` has returned."""
        return {}

    def values(self, column: str) -> Mapping[str, str]:
        """Return a column's different values by their `cell_term`, as the rows kept spell them.

        Where several spellings have one term, the first of them; a value without a term is absent.
        Of a column that is not in the evidence, none.
        """
        if column not in self._values:
            found: dict[str, str] = {}
            for cell in self._spelled.get(column, ()):
                term = cell_term(cell)
                if term is not None:
                    found.setdefault(term, cell)
            self._values[column] = found
        return self._values[column]

    def holding(self, terms: Iterable[str]) -> dict[str, list[str]]:
        """Return of each term that is a whole cell of rows kept the columns that have it."""
        wanted = set(terms)
        found: dict[str, list[str]] = {}
        for column in self.columns:
            for term in wanted.intersection(self.values(column.name)):
                found.setdefault(term, []).append(column.name)
        return found


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """Tables that may answer together, or one that may by itself; the tables are in rank order."""

    tables: tuple[AnswerTable, ...]
    joins: tuple[JoinEdge, ...] = ()

    @property
    def joined(self) -> frozenset[tuple[str, str]]:
        """Ids of tables, and columns by which these are joined."""
        sides = [(e.table, e.columns) for e in self.joins]
        sides += [(e.other, e.other_columns) for e in self.joins]
        return frozenset((table, column) for table, columns in sides for column in columns)


def called(table: AnswerTable, name: str, schema: str) -> AnswerTable:
    """Return a table that statements call by another name; they are run and shown by its own."""
    read = replace(table.read, name=name, schema=schema, own=table.read.place)
    return replace(table, read=read)
