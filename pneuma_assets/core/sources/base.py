"""The contract every source keeps, and what the stages may rely on."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from pneuma_assets.core.dictionaries.lines import Glossary
from pneuma_assets.core.errors import SqlFailedError
from pneuma_assets.core.lineage.engines import Dependency
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.tables import Problem, RowMark, Table, TableRef
from pneuma_assets.core.terms.collect import CollectedTerms, TermCollector

Row = tuple[Any, ...]
"""One row's values in the order of the table's columns."""

KnownIds = Mapping[tuple[str, str], str]
"""The ids of tables that were listed before, by location and format."""

NONE_KNOWN: KnownIds = MappingProxyType({})

UNALIGNED = "its lines have different numbers of cells, so some may stand in other columns"
"""The note of a table in which no cell is sure to be one of its column."""

UNREAD = "cannot be read, so that rows are missing or not whole"
"""What a note of a table says of a number of its lines."""


def unread_of(notes: Sequence[str]) -> str:
    """Return the note that says of which lines rows are missing; empty where there is none."""
    return next((note for note in notes if UNREAD in note), "")


@dataclass(frozen=True, slots=True)
class SampledRow:
    """One row drawn from a table; its cells are text, None where there is no value."""

    mark: RowMark
    cells: Row


@dataclass(frozen=True, slots=True)
class Listing:
    """Every table of a source now, and what looked like a table but cannot be one.

    A table that is absent from a listing has been deleted; a source that cannot be listed
    completely raises `SourceError` instead, so that an outage never reads as a deletion. Where
    only a folder of it cannot be listed, `unlisted` holds the beginning of the ids in there
    (`lake/secret/`), or whole ids: absent tables whose ids begin so are unknown, not deleted.

    `bare` is set where the source is as empty as the mount point of a disk that is not there, so
    that nobody can tell whether its tables were deleted.
    """

    tables: Sequence[TableRef]
    problems: Sequence[Problem] = field(default_factory=tuple)
    unlisted: Sequence[str] = field(default_factory=tuple)
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Contexts:
    """What people wrote about a table, as plain text, and why other documents cannot be read.

    A problem here, one line, does not keep the table from being indexed with the texts there are.
    `of_folder` are the texts about all tables of its folder. `glossaries` are the lists in these
    texts that may say what columns mean.
    """

    texts: Sequence[str]
    problems: Sequence[str] = field(default_factory=tuple)
    glossaries: Sequence[Glossary] = field(default_factory=tuple)
    of_folder: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class StatementTable:
    """A table that a statement names.

    Attributes:
        name: By which the statement names it.
        ref: Which one it is.
        columns: Those that the statement may read, as its profile names them.
        schema: Which the statement says before its name.
    """

    name: str
    ref: TableRef
    columns: tuple[str, ...]
    schema: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """A query that is run where its tables lie.

    Attributes:
        sql: One query in the source's own dialect, checked by whoever had it written
            (`core.answers.guard`); it names its tables as `tables` do.
        tables: What it reads.
        rows: How many of its rows are wanted at most.
        size: Bytes that these may take together, as text.
        seconds: What it may take, unless the source grants less.
    """

    sql: str
    tables: tuple[StatementTable, ...]
    rows: int
    size: int = 4_000_000
    seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class StatementRows:
    """The rows that a statement gave.

    Attributes:
        columns: Their names, as the engine gives them; two may be the same.
        rows: Cells as JSON has them: None, a truth value, a number, a text, a list or an object;
            what JSON has not (decimals, dates, NaN) is exact text, and bytes are hexadecimal.
        more: Whether there are other rows.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    more: bool


class Source(ABC):
    """A place that holds tables. Listing is cheap; reading happens a table at a time.

    Memory is bounded by a constant, whatever the size of the table. Every method that takes a
    table raises `TableReadError` where that table cannot be read.
    """

    name: str
    """The first part of every table id of this source."""

    look_inside: Callable[[TableRef], Sequence[str]]
    """What a listing opens files with that hold several tables: `names_inside` at first. Whoever
    has other people's files opened in a process of its own puts that in its place."""

    @property
    def rules(self) -> Rules:
        """What of it is never kept."""
        return Rules()

    @abstractmethod
    def list_tables(self, known: KnownIds = NONE_KNOWN) -> Listing:
        """List every table with a cheap version; reads no table. Raises `SourceError`.

        A table that is `known` keeps its id, whatever was put beside it since.
        """

    def names_inside(self, ref: TableRef) -> Sequence[str]:  # noqa: ARG002
        """Open a file and return the names of the tables in there."""
        return ()

    @abstractmethod
    def profile(self, ref: TableRef, kept: Sequence[RowMark] = ()) -> Table:
        """Read the columns and count the rows.

        `kept` are the rows that `sample` will be asked for next: a source that reads the whole
        table to count it looks for them at once.
        """

    @abstractmethod
    def sample(
        self, ref: TableRef, rows: int, seed: int, kept: Sequence[RowMark] = ()
    ) -> list[SampledRow] | None:
        """Draw up to `rows` rows uniformly, the same ones for the same seed and data.

        With `kept`, those of them that the table still has stay in the sample, a row drawn twice
        as often as it is still there, and only the others are drawn again. Returns None if all of
        them are still there: the sample is as it was.
        """

    @abstractmethod
    def scan(self, ref: TableRef, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        """Read the whole table as Arrow batches of at most `batch_rows` rows."""

    def evidence(self, ref: TableRef, seed: int) -> CollectedTerms:
        """Read all rows once and return the terms and the sketch collected of them.

        The same data and seed give the same. A source overrides this where it is cheaper than
        `scan`; it feeds a `TermCollector`, which leaves out hidden columns.
        """
        collector = TermCollector(seed)
        for batch in self.scan(ref):
            collector.add(batch)
        return collector.collected()

    @abstractmethod
    def contexts(self, ref: TableRef) -> Contexts:
        """Return what people wrote about the table: files beside it, comments."""

    def dependencies(self) -> Sequence[Dependency] | None:
        """Return which tables are built from which, by the engine's own view; None: it has none.

        Bounded in rows and in time. Raises `SourceError` where it does not answer, or its user may
        not ask.
        """
        return None

    @property
    def statement_dialect(self) -> str | None:
        """What sqlglot calls the SQL of the statements that it runs; None: it runs none."""
        return None

    def run_statement(self, statement: Statement) -> StatementRows:  # noqa: ARG002
        """Return the rows that a checked statement gives, run as a user who may only read.

        Raises:
            SqlFailedError: It is not run, and the words say why; another one may be.
            SqlStoppedError: It is beyond a bound of time, memory or size.
            SourceError: The source does not answer.
            TableReadError: A table of it cannot be read (any more).
        """
        raise SqlFailedError(f"source {self.name!r} runs no statements; read its tables instead")

    @abstractmethod
    def close(self) -> None:
        """Release connections and temporary files; the object is not used afterwards."""
