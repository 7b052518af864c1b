"""From a statement to rows: corrected, checked, run, on one set of tables or on all that are alike.

A statement that gives no row is no answer: nothing can be told from it.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Protocol

from sqlglot import exp

from pneuma_assets.core.answers.guard import checked
from pneuma_assets.core.answers.results import AnswerSet, AnswerTable, Correction, TableAnswer
from pneuma_assets.core.answers.statements import Checked
from pneuma_assets.core.answers.values import corrected, why_no_row
from pneuma_assets.core.errors import SqlEmptyError, SqlFailedError, SqlRefusedError
from pneuma_assets.core.sources.base import StatementRows


class Runner(Protocol):
    """Runs statements where tables lie, or over what is read of them."""

    def dialect(self, tables: Sequence[AnswerTable]) -> str:
        """Return what sqlglot calls the SQL in which a statement about these tables is run."""
        ...

    def run(self, statement: Checked, tables: Sequence[AnswerTable]) -> StatementRows:
        """Return the rows of a checked statement.

        Args:
            statement: In the dialect of these tables.
            tables: Those that it reads, and perhaps others.

        Raises:
            SqlFailedError: It does not run, or a bound ends it.
            SourceError: A source does not answer.
            TableReadError: A table cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class Attempts:
    """Runs what was written.

    Attributes:
        runner: Where.
        most_rows: Of an answer.
        corrects: Whether values are spelled as they are stored.
        until: When no other statement is begun, by `time.monotonic`.
        doubts: Returns what may mislead in a statement that gives rows.
    """

    runner: Runner
    most_rows: int
    corrects: bool = True
    until: float = inf
    doubts: Callable[[Checked, Sequence[AnswerTable]], Iterable[str]] = lambda *_: ()

    @property
    def late(self) -> bool:
        """Whether the question has taken all of its time."""
        return time.monotonic() > self.until

    def reads(self, sql: str, tables: AnswerSet, dialect: str) -> tuple[AnswerTable, ...]:
        """Return the tables that a statement reads, in the order in which it names them.

        Raises:
            SqlRefusedError: A guard refuses it.
        """
        named = {table.read.name: table for table in tables.tables}
        return tuple(named[one.name] for one in self._checked(sql, tables, dialect).tables)

    def attempt(self, sql: str, tables: AnswerSet, dialect: str, made_by: str) -> TableAnswer:
        """Return the rows that a statement gives.

        Args:
            sql: What a model wrote.
            tables: What it may read.
            dialect: Of the statement.
            made_by: Who wrote it.

        Raises:
            SqlRefusedError: A guard refuses it.
            SqlFailedError: It does not run; `SqlEmptyError`: it gives no row. The message says why.
            SourceError: A source does not answer.
            TableReadError: A table cannot be read.
        """
        statement = self._checked(sql, tables, dialect)
        _check_reads(statement)
        changes: tuple[Correction, ...] = ()
        if self.corrects:
            statement, changes = self._corrected(statement, tables, changes, proven=True)
        found = self.runner.run(statement, tables.tables)
        if self.corrects and _says_nothing(found, statement):
            other, more = self._corrected(statement, tables, changes, proven=False)
            if more != changes:
                statement, changes = other, more
                found = self.runner.run(statement, tables.tables)
        _check_says(found, statement, tables)
        doubts = () if self.late else tuple(self.doubts(statement, tables.tables))
        given = _answer(found, statement, tables, made_by)
        return replace(given, corrections=changes, doubts=doubts)

    def run(self, sql: str, tables: AnswerSet, dialect: str, made_by: str) -> TableAnswer:
        """Return the rows of a statement as it is written, also where they say nothing.

        Raises what `attempt` raises, but no `SqlEmptyError`.
        """
        statement = self._checked(sql, tables, dialect)
        return _answer(self.runner.run(statement, tables.tables), statement, tables, made_by)

    def _corrected(
        self,
        statement: Checked,
        tables: AnswerSet,
        before: tuple[Correction, ...],
        *,
        proven: bool,
    ) -> tuple[Checked, tuple[Correction, ...]]:
        """Return a statement with values as they are stored; as it was where that cannot pass."""
        spelled, changes = corrected(statement, tables.tables, proven=proven)
        if not changes:
            return statement, before
        try:
            return self._checked(spelled, tables, statement.dialect), (*before, *changes)
        except SqlRefusedError:  # A cell has a character that no statement may have.
            return statement, before

    def _checked(self, sql: str, tables: AnswerSet, dialect: str) -> Checked:
        return checked(sql, [table.read for table in tables.tables], dialect, self.most_rows)


def _answer(
    found: StatementRows, statement: Checked, tables: AnswerSet, made_by: str
) -> TableAnswer:
    ids = {table.read.name: table.table_id for table in tables.tables}
    read = {one.name for one in statement.tables}
    return TableAnswer(
        tables=tuple(ids[one.name] for one in statement.tables),
        sql=statement.sql,
        dialect=statement.dialect,
        columns=found.columns,
        rows=found.rows,
        more=found.more,
        read=tuple((ids[name], column) for name, column in statement.columns),
        made_by=made_by,
        unread=tuple(one for t in tables.tables if t.read.name in read for one in t.unread),
    )


def _check_reads(statement: Checked) -> None:
    """Refuse what says something that it has from no table: a model that knows the answer."""
    if not statement.tables or not (statement.columns or statement.tree.find(exp.Count)):
        raise SqlFailedError("it reads no column of these tables; select what they say")


def _says_nothing(found: StatementRows, statement: Checked) -> bool:
    """Tell whether there is no row, or none with a value, or nothing but a count of 0."""
    return all(cell is None for row in found.rows for cell in row) or _counts_none(found, statement)


def _counts_none(found: StatementRows, statement: Checked) -> bool:
    """Tell whether a statement only counts, and that nothing: a 0 that is stored is a value."""
    if found.rows != ((0,),):
        return False
    selected = statement.tree.selects if isinstance(statement.tree, exp.Query) else []
    return [type(one.unalias()) for one in selected] == [exp.Count]


def _check_says(found: StatementRows, statement: Checked, tables: AnswerSet) -> None:
    """Raise `SqlEmptyError` for rows from which nothing can be told.

    A count of 0 is an answer, unless of a value that its column does not have at all.
    """
    if not _says_nothing(found, statement):
        return
    why = why_no_row(statement, tables.tables)
    if found.rows == ((0,),):
        if not why:
            return
        raise SqlEmptyError(f"it counts 0; {why}")
    said = "its rows have no value" if found.rows else "it gives no row"
    raise SqlEmptyError("; ".join(filter(None, (said, why))))
