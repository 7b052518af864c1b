"""The tables that steps and queries of one state may read, and statements over them.

Every statement that somebody wrote passes the guard of `core.answers`, and every one runs in the
locked DuckDB: it sees the rows of the tables that it names, of the columns that it names.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import pyarrow as pa
from sqlglot import exp

from pneuma_assets.core.answers.guard import checked
from pneuma_assets.core.answers.results import AnswerColumn
from pneuma_assets.core.answers.run_duckdb import Given, run, run_to_arrow
from pneuma_assets.core.answers.statements import Checked, ReadTable
from pneuma_assets.core.errors import SqlFailedError, SqlStoppedError
from pneuma_assets.core.seek.results import MakeBounds
from pneuma_assets.core.seek.state import StateInvalidError
from pneuma_assets.core.sources.base import StatementRows

DIALECT = "duckdb"
_MOST_JSON = 16 << 20
"""Bytes of rows that come as JSON, which this process reads in one step."""


class Readable(Protocol):
    """A table: its columns, and its rows."""

    @property
    def columns(self) -> Sequence[AnswerColumn]:
        """Name and type of each; texts of another type are cast where they are read."""

    def batches(self, names: Sequence[str]) -> Iterable[pa.RecordBatch]:
        """Yield the rows, with at least these columns."""


@dataclass(frozen=True, eq=False)
class InHand:
    """Rows that a step made."""

    table: pa.Table

    @property
    def columns(self) -> Sequence[AnswerColumn]:
        """Its columns, with types as DuckDB has them."""
        return [AnswerColumn(one.name, duckdb_type(one.type)) for one in self.table.schema]

    def batches(self, names: Sequence[str]) -> Iterable[pa.RecordBatch]:
        """Yield its rows."""
        found = self.table.select(names)
        return found.to_batches() or [pa.RecordBatch.from_pylist([], found.schema)]


class Tables:
    """Tables by name, whatever its capitals.

    Args:
        bounds: What statements over them may take.
    """

    def __init__(self, bounds: MakeBounds) -> None:
        self.bounds = bounds
        self._held: dict[str, tuple[str, Readable]] = {}

    def put(self, name: str, table: Readable) -> None:
        """Let statements read a table by a name; one that had it is forgotten."""
        self._held[name.casefold()] = name, table

    def columns(self, name: str) -> Sequence[AnswerColumn]:
        """Return the columns of a table."""
        return self.table(name).columns

    def has(self, name: str) -> bool:
        """Tell whether there is a table of this name."""
        return name.casefold() in self._held

    def check(self, sql: str, reads: Sequence[str], most_rows: int | None = None) -> Checked:
        """Return a statement as it may run over some of the tables.

        Raises:
            SqlRefusedError: The guard refuses it.
        """
        said = sql.casefold()
        given = [
            # Of a table that is not named, no column is asked for.
            ReadTable(name, tuple(c.name for c in self.columns(name)) if folded in said else ())
            for folded in map(str.casefold, reads)
            for name in [self._named(folded)[0]]
        ]
        return checked(sql, given, DIALECT, self.bounds.rows if most_rows is None else most_rows)

    def rows(self, statement: Checked) -> StatementRows:
        """Return the rows of a checked statement as JSON has them.

        Raises:
            SqlFailedError: As of `run_duckdb.run`.
        """
        bounds = self.bounds.statement
        most = min(bounds.result_bytes, _MOST_JSON)
        return run(statement, self._given(statement), replace(bounds, result_bytes=most))

    def ask(self, sql: str, reads: Sequence[str], most_rows: int = 1_000) -> StatementRows:
        """Check and run a statement of a few rows."""
        found = self.rows(self.check(sql, reads, most_rows))
        if found.more and len(found.rows) < most_rows:
            raise SqlStoppedError("its rows are too large together; ask for less")
        return found

    def derived(
        self, statement: Checked, sql: str, columns: Iterable[tuple[str, str]] = ()
    ) -> StatementRows:
        """Return the one row of a statement made of parts of a checked one, and of more columns.

        The guard, which allows few tables and queries in one, let these parts pass before.
        """
        read = tuple(dict.fromkeys((*statement.columns, *columns)))
        return self.rows(replace(statement, sql=sql, most_rows=1, columns=read))

    def arrow(self, statement: Checked) -> pa.Table:
        """Return all rows of a checked statement.

        Raises:
            SqlFailedError: As of `run_duckdb.run_to_arrow`; or two columns are called the same.
            SqlStoppedError: There are more rows than steps may make.
        """
        check_apart(results_of(statement))
        table, more = run_to_arrow(statement, self._given(statement), self.bounds.statement)
        check_apart(table.schema.names)
        if more:
            raise SqlStoppedError(
                f"it gives more than {statement.most_rows:,} rows; filter or aggregate before, or "
                "look whether a join multiplies rows"
            )
        return table

    def own(self, sql: str, names: Sequence[str]) -> pa.Table:
        """Return all rows of a statement of this project's own making, over all columns of tables.

        The guard allows fewer tables in one than a family has members, and fewer casts than a table
        has columns.
        """
        read = [ReadTable(name, tuple(c.name for c in self.columns(name))) for name in names]
        columns = tuple((table.name, column) for table in read for column in table.columns)
        return self.arrow(
            Checked(sql, DIALECT, self.bounds.rows, tuple(read), columns, exp.Select())
        )

    def table(self, name: str) -> Readable:
        """Return a table.

        Raises:
            StateInvalidError: There is none of this name.
        """
        return self._named(name)[1]

    def _named(self, name: str) -> tuple[str, Readable]:
        if not self.has(name):
            raise StateInvalidError(f"there is no table {name[:80]!r} here")
        return self._held[name.casefold()]

    def _given(self, statement: Checked) -> list[Given]:
        """Return the tables of a statement with the columns alone that it reads, or the first."""
        given = []
        for table in statement.tables:
            held = self.table(table.name)
            named = {column for name, column in statement.columns if name == table.name}
            names = tuple(one.name for one in held.columns if one.name in named)
            read = ReadTable(table.name, names or table.columns[:1])
            types = {one.name: one.type for one in held.columns}
            given.append(Given(read, held.batches(read.columns), types))
        return given


def results_of(statement: Checked) -> list[str]:
    """Return what the results of a statement are called; '' where DuckDB gives a name."""
    tree = statement.tree
    return tree.named_selects if isinstance(tree, exp.Query) else []


def check_apart(names: Iterable[str]) -> None:
    """Raise `SqlFailedError` for two columns of one name; SQL does not tell capitals apart."""
    met: set[str] = set()
    for name in names:
        if name and name.casefold() in met:
            raise SqlFailedError(f"it gives two columns {name[:60]!r}; name each by AS")
        met.add(name.casefold())


_KINDS: Mapping[str, str] = {
    **{f"{sign}int{bits}": "BIGINT" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{"float": "DOUBLE", "halffloat": "DOUBLE", "double": "DOUBLE", "bool": "BOOLEAN"},
    **{"date32[day]": "DATE", "date64[ms]": "DATE"},
}


def duckdb_type(kind: pa.DataType) -> str:
    """Return what DuckDB makes of a type of Arrow, as profiles spell types."""
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if pa.types.is_timestamp(kind):
        return "TIMESTAMP WITH TIME ZONE" if kind.tz else "TIMESTAMP"
    return _KINDS.get(str(kind), "VARCHAR" if _is_text(kind) else str(kind).upper())


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
