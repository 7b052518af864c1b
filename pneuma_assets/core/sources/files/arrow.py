"""Tables that come as Arrow batches, part by part, and what is asked of them.

A part is what can be read without the others (a data file, a stripe, a sheet). DuckDB makes text of
the batches while they stream by, so memory is bounded by a batch, whatever the size of the table.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

import duckdb
import pyarrow as pa

from pneuma_assets.core.sources.base import SampledRow
from pneuma_assets.core.sources.bounds import check_width
from pneuma_assets.core.sources.duckdb.relation import (
    Relation,
    batches,
    describe,
    feed,
    rows_at,
    survey,
)
from pneuma_assets.core.sources.files.source import FormatReader
from pneuma_assets.core.sources.files.staging import OpenTable
from pneuma_assets.core.sources.names import readable_names
from pneuma_assets.core.sources.sampling import resample
from pneuma_assets.core.tables import (
    Column,
    Definition,
    ForeignKey,
    RowMark,
    Table,
    TableRef,
    comments_on_columns,
)
from pneuma_assets.core.terms.collect import CollectedTerms, TermCollector

_ROWS = "rows_of_arrow"

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class Part:
    """Some of a table's rows.

    Attributes:
        batches: Reads them.
        rows: How many there are, where that is known without reading them.
        take: Reads those at ascending positions in this part, cheaper than all.
    """

    batches: Callable[[], Batches]
    rows: int | None = None
    take: Callable[[Sequence[int]], Batches] | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """What a table says of one of its columns; `type` is empty where Arrow's says it."""

    name: str
    type: str = ""
    comment: str = ""
    identity: str = ""


@dataclass  # no slots: it caches
class ArrowTable:
    """An open table. Each batch has the columns of `schema`, in order, whatever their names.

    Attributes:
        connection: To a database in memory, which streams can be registered with.
        schema: Of all batches.
        parts: In the order of their rows.
        said: Of each column, what is known beside its type; None: its name in `schema`.
        comment: What is said of the table.

    The others are as in `Table`.
    """

    connection: duckdb.DuckDBPyConnection
    schema: pa.Schema
    parts: Sequence[Part]
    said: Sequence[Said] | None = None
    comment: str = ""
    notes: tuple[str, ...] = field(default=())
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    definition: Definition | None = None

    def __post_init__(self) -> None:
        """Refuse too many columns before anything is asked of each."""
        check_width(len(self.schema))

    @cached_property
    def columns(self) -> list[Column]:
        """The columns with names and types fit for people."""
        said = self.said or [Said(name) for name in self.schema.names]
        names = readable_names([one.name for one in said])
        with self.streamed(iter(())) as relation:
            types = [column.type for column in describe(self.connection, relation)]
        return [
            Column(name, one.type or kind, one.comment, one.identity)
            for name, one, kind in zip(names, said, types, strict=True)
        ]

    @cached_property
    def counts(self) -> list[int]:
        """The number of rows of each part; those that say none, or nonsense, are read."""
        return [
            sum(b.num_rows for b in part.batches())
            if part.rows is None or part.rows < 0
            else part.rows
            for part in self.parts
        ]

    def everything(self) -> Batches:
        """Read all rows."""
        for part in self.parts:
            yield from part.batches()

    @contextmanager
    def streamed(self, found: Batches) -> Iterator[Relation]:
        """Let DuckDB read batches, once, by names that are harmless."""
        names = [f"c{i}" for i in range(len(self.schema))]
        schema = pa.schema(
            [pa.field(name, kind) for name, kind in zip(names, self.schema.types, strict=True)]
        )
        failures: list[Exception] = []
        renamed = _renamed(found, schema, failures)
        self.connection.register(_ROWS, pa.RecordBatchReader.from_batches(schema, renamed))
        try:
            yield Relation(_ROWS)
        except duckdb.Error as error:
            # DuckDB says of what is raised in here only that it was, with a traceback.
            raise failures[0] if failures else error from error
        finally:
            self.connection.unregister(_ROWS)

    def sample(self, rows: int, seed: int, kept: Sequence[RowMark]) -> list[SampledRow] | None:
        """Draw rows from the parts they are in."""
        return resample(rows, seed, kept, sum(self.counts), self.rows_at, self._positions_of)

    def _positions_of(self, wanted: Mapping[int, int]) -> Mapping[int, Sequence[int]]:
        with self.streamed(self.everything()) as relation:
            return survey(self.connection, relation, len(self.schema), wanted).positions

    def rows_at(self, positions: Sequence[int]) -> list[SampledRow]:
        """Return the rows at these positions, cells as text."""
        drawn: list[SampledRow] = []
        before = 0
        for part, count in zip(self.parts, self.counts, strict=True):
            inside = sorted({p - before for p in positions if before <= p < before + count})
            if inside:
                drawn += self._rows_of(part, inside, before)
            before += count
        return drawn

    def _rows_of(self, part: Part, positions: Sequence[int], before: int) -> list[SampledRow]:
        found = part.take(positions) if part.take else picked(part.batches(), positions)
        with self.streamed(found) as relation:
            every = range(len(positions))
            rows = rows_at(self.connection, relation, len(self.schema), every)
        return [
            replace(row, mark=replace(row.mark, position=before + positions[row.mark.position]))
            for row in rows
        ]

    def profile(self, ref: TableRef, kept: Sequence[RowMark]) -> Table:  # noqa: ARG002
        """Return the columns and the number of rows."""
        return Table(
            ref.table_id,
            tuple(self.columns),
            sum(self.counts),
            ref.location,
            self.comment,
            self.notes,
            self.primary_key,
            self.foreign_keys,
            self.definition,
        )

    def comments(self) -> Sequence[str]:
        """Return what the table says of itself and of its columns."""
        return [self.comment, comments_on_columns(self.columns)]

    def scan(self, batch_rows: int) -> Batches:
        """Read all rows as batches of at most `batch_rows`."""
        columns = self.columns
        with self.streamed(self.everything()) as relation:
            yield from batches(self.connection, relation, columns, batch_rows)

    def evidence(self, seed: int) -> CollectedTerms:
        """Read all rows and return what is kept of them."""
        gatherer = TermCollector(seed)
        with self.streamed(self.everything()) as relation:
            feed(gatherer, self.connection, relation, len(self.schema))
        return gatherer.collected()


def picked(found: Batches, positions: Sequence[int]) -> Batches:
    """Yield the rows at ascending positions of batches, which are read no further."""
    before = 0
    for batch in found:
        after = before + batch.num_rows
        for position in positions:
            if before <= position < after:
                yield batch.slice(position - before, 1)
        if positions[-1] < after:
            return
        before = after


def _renamed(found: Batches, schema: pa.Schema, failures: list[Exception]) -> Batches:
    try:
        for batch in found:
            yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)
    except Exception as error:
        failures.append(error)
        raise


class ArrowReader(FormatReader):
    """What the formats have in common whose rows come as Arrow batches."""

    @abstractmethod
    def read(self, table: OpenTable, ref: TableRef) -> ArrowTable:
        """Return the table at a reference; `table` takes what has to lie on this machine.

        Whatever its parts hold open is closed by `table.undo`.
        """

    @contextmanager
    def opened(self, ref: TableRef) -> Iterator[ArrowTable]:
        """Open a table."""
        with self.staged(ref) as table:
            yield self.read(table, ref)
