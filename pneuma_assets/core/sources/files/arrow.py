"""Tables that come as Arrow batches, part by part, and what is asked of them.

A part is what can be read without the others (a data file, a stripe, a sheet). DuckDB makes text of
the batches while they stream by, so memory is bounded by a batch, whatever the size of the table.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

import duckdb
import pyarrow as pa

from pneuma_assets.core.sources.base import SampledRow
from pneuma_assets.core.sources.bounds import check_width
from pneuma_assets.core.sources.duckdb.relation import Relation, describe, rows_at
from pneuma_assets.core.sources.files.source import FormatReader
from pneuma_assets.core.sources.files.staging import OpenTable
from pneuma_assets.core.sources.names import readable_names
from pneuma_assets.core.sources.readable_table import ReadableTable
from pneuma_assets.core.tables import (
    Column,
    Definition,
    ForeignKey,
    RowMark,
    Table,
    TableRef,
    comments_on_columns,
)

_ROWS = "rows_of_arrow"

_MOST_ROWS = 1 << 40
"""What a log may say of one file's rows; no file has more."""

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


@dataclass  # no slots: it caches
class ArrowTable(ReadableTable):
    """An open table. Each batch has the columns of `schema`, in order, whatever their names.

    Attributes:
        connection: To a database in memory, which streams can be registered with.
        schema: Of all batches.
        parts: In the order of their rows.
        described: What the table says of each column; a type that is empty is that of `schema`.
        comment: What is said of the table.

    The others are as in `Table`.
    """

    connection: duckdb.DuckDBPyConnection
    schema: pa.Schema
    parts: Sequence[Part]
    described: Sequence[Column]
    comment: str = ""
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    definition: Definition | None = None

    def __post_init__(self) -> None:
        """Refuse too many columns before anything is asked of each."""
        check_width(len(self.schema))

    @cached_property
    def columns(self) -> list[Column]:
        """The columns with names and types fit for people."""
        names = readable_names([column.name for column in self.described])
        with self._streamed(iter(())) as relation:
            types = [column.type for column in describe(self.connection, relation)]
        return [
            replace(column, name=name, type=column.type or kind)
            for column, name, kind in zip(self.described, names, types, strict=True)
        ]

    @cached_property
    def _counts(self) -> list[int]:
        """The number of rows of each part; those that say none, or nonsense, are read."""
        return [
            sum(b.num_rows for b in part.batches())
            if part.rows is None or not 0 <= part.rows <= _MOST_ROWS
            else part.rows
            for part in self.parts
        ]

    @property
    def row_count(self) -> int:
        """That of all parts."""
        return sum(self._counts)

    @contextmanager
    def reading(self) -> Iterator[Iterator[Relation]]:
        """Give the batches of all parts as one."""
        with self._streamed(batch for part in self.parts for batch in part.batches()) as every:
            yield iter([every])

    @contextmanager
    def _streamed(self, found: Batches, *, kept: bool = False) -> Iterator[Relation]:
        """Let DuckDB read batches, once unless they are kept, by names that are harmless."""
        schema = pa.schema([(f"c{i}", kind) for i, kind in enumerate(self.schema.types)])
        failures: list[Exception] = []
        renamed = _renamed(found, schema, failures)
        batches = pa.RecordBatchReader.from_batches(schema, renamed)
        self.connection.register(_ROWS, batches.read_all() if kept else batches)
        try:
            yield Relation(_ROWS)
        except duckdb.Error as error:
            # DuckDB says of what is raised in here only that it was, with a traceback.
            raise failures[0] if failures else error from error
        finally:
            self.connection.unregister(_ROWS)

    def rows_at(self, positions: Sequence[int]) -> list[SampledRow]:
        """Return the rows at these positions from the parts they are in, cells as text."""
        drawn: list[SampledRow] = []
        before = 0
        for part, count in zip(self.parts, self._counts, strict=True):
            inside = sorted({p - before for p in positions if before <= p < before + count})
            if inside:
                found = part.take(inside) if part.take else pick_rows(part.batches(), inside)
                with self._streamed(found, kept=True) as some:
                    every = range(len(inside))
                    rows = rows_at(self.connection, some, len(self.schema), every)
                drawn += [
                    replace(row, mark=RowMark(before + inside[row.mark.position], row.mark.key))
                    for row in rows
                ]
            before += count
        return drawn

    def profile(self, ref: TableRef, kept: Sequence[RowMark]) -> Table:
        """Return the columns, the number of rows, and what else the table says of itself."""
        return replace(
            super().profile(ref, kept),
            comment=self.comment,
            primary_key=self.primary_key,
            foreign_keys=self.foreign_keys,
            definition=self.definition,
        )

    def comments(self) -> Sequence[str]:
        """Return what the table says of itself and of its columns."""
        return [self.comment, comments_on_columns(self.columns)]


def pick_rows(found: Batches, positions: Sequence[int]) -> Batches:
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
