"""A source that opens a table for each call, and what an open table answers."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

import duckdb
import pyarrow as pa

from pneuma_assets.core.dictionaries.text import plain_text
from pneuma_assets.core.sources.base import Contexts, SampledRow, Source
from pneuma_assets.core.sources.duckdb import relation
from pneuma_assets.core.sources.sampling import resampled_positions, wanted_keys
from pneuma_assets.core.tables import NOT_A_NUMBER, Column, RowMark, Table, TableRef
from pneuma_assets.core.terms.collect import CollectedTerms, TermCollector, collect_rows


class ReadableTable(ABC):
    """An open table; its methods do what `sources.base.Source` promises of them.

    A format says of what DuckDB reads all rows, and how it reads a few without the others.
    """

    connection: duckdb.DuckDBPyConnection
    missing: Collection[str] = NOT_A_NUMBER
    """Cells that are counted as NULL."""

    @property
    @abstractmethod
    def columns(self) -> Sequence[Column]:
        """The columns, with names and types fit for people."""

    @property
    @abstractmethod
    def row_count(self) -> int:
        """How many rows there are."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Iterator[relation.Relation]]:
        """Give what to select all rows from, part by part in their order."""

    @abstractmethod
    def rows_at(self, positions: Sequence[int]) -> list[SampledRow]:
        """Return the rows at these positions, cells as text; cheaper than reading all."""

    def profile(self, ref: TableRef, kept: Sequence[RowMark]) -> Table:  # noqa: ARG002
        """Return the columns and the number of rows."""
        return Table(ref.table_id, tuple(self.columns), self.row_count, ref.location)

    def sample(self, rows: int, seed: int, kept: Sequence[RowMark]) -> list[SampledRow] | None:
        """Draw rows uniformly, and keep those of `kept` that are still there; None if all are.

        Rows that stand where they stood cost their parts; the whole table is read only if one of
        them is gone or has moved.
        """
        found: Mapping[int, Sequence[int]] = {}
        if kept:
            before = [mark.position for mark in kept if mark.position < self.row_count]
            there = {row.mark for row in self.rows_at(before)}
            if all(mark in there for mark in kept):
                return None
            found = self._positions_of(wanted_keys(kept))
        positions = resampled_positions(self.row_count, rows, seed, kept, found)
        return None if positions is None else self.rows_at(positions)

    def _positions_of(self, wanted: Mapping[int, int]) -> Mapping[int, Sequence[int]]:
        """Look in all rows, which are one part, for those of some keys, as often as wanted."""
        width = len(self.columns)
        with self.reading() as (every,):
            return relation.survey(self.connection, every, width, wanted).positions

    def scan(self, batch_rows: int) -> Iterator[pa.RecordBatch]:
        """Read the whole table as Arrow batches of at most `batch_rows` rows."""
        columns = self.columns
        with self.reading() as parts:
            for part in parts:
                yield from relation.batches(self.connection, part, columns, batch_rows)

    def evidence(self, seed: int) -> CollectedTerms:
        """Read all rows once and return what is kept of them."""
        collector, width = TermCollector(seed, self.missing), len(self.columns)
        if width > relation.WIDE and width * self.row_count <= relation.TERM_CELLS:
            rows = (row.cells for row in self.rows_at(range(self.row_count)))
            return collect_rows(rows, width, seed, self.missing)
        with self.reading() as parts:
            for part in parts:
                relation.feed(collector, self.connection, part, width)
        return collector.collected()

    def comments(self) -> Sequence[str]:
        """Return what the table says of itself and of its columns, as its owner wrote it."""
        return ()


class OpeningSource(Source):
    """Answers what stages ask of a table by opening it for each call."""

    @abstractmethod
    def opened(self, ref: TableRef) -> AbstractContextManager[ReadableTable]:
        """Open a table; raises `TableReadError`."""

    def profile(self, ref: TableRef, kept: Sequence[RowMark] = ()) -> Table:
        """Read the columns and count the rows; text in one pass, others from what files say."""
        with self.opened(ref) as table:
            return table.profile(ref, kept)

    def sample(
        self, ref: TableRef, rows: int, seed: int, kept: Sequence[RowMark] = ()
    ) -> list[SampledRow] | None:
        """Draw rows uniformly without replacement, in the order of the table, cells as text."""
        with self.opened(ref) as table:
            return table.sample(rows, seed, kept)

    def scan(self, ref: TableRef, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        """Read the whole table as Arrow batches of at most `batch_rows` rows; text as text."""
        with self.opened(ref) as table:
            yield from table.scan(batch_rows)

    def evidence(self, ref: TableRef, seed: int) -> CollectedTerms:
        """Read all rows once, unless they are in memory, and return what is kept of them."""
        with self.opened(ref) as table:
            return table.evidence(seed)

    def contexts(self, ref: TableRef) -> Contexts:
        """Return what the table says of itself and its columns, as plain text."""
        with self.opened(ref) as table:
            return Contexts([text for text in map(plain_text, table.comments()) if text])
