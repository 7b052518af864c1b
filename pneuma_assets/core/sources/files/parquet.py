"""How Parquet is read: counts from the footers, rows by number from the row groups they are in."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property

import duckdb
import pyarrow as pa

from pneuma_assets.core.sources.base import SampledRow
from pneuma_assets.core.sources.bounds import check_width
from pneuma_assets.core.sources.duckdb.relation import (
    Relation,
    batches,
    cells,
    describe,
    feed,
    key,
    sampled,
    survey,
)
from pneuma_assets.core.sources.files.source import FormatReader
from pneuma_assets.core.sources.files.staging import OpenTable
from pneuma_assets.core.sources.sampling import resample
from pneuma_assets.core.tables import Column, RowMark, Table, TableRef
from pneuma_assets.core.terms.collect import CollectedTerms, TermCollector


class ParquetReader(FormatReader):
    """Reads tables of Parquet files: one, or those of a folder."""

    @contextmanager
    def opened(self, ref: TableRef) -> Iterator["ParquetTable"]:
        """Make the files readable in parts."""
        with self.staged(ref) as table:
            table.place_all(columnar=True)
            yield ParquetTable(table)


class ParquetTable:
    """An open table.

    Partitions with different columns are joined by name. Some writers leave bytes in strings
    that are not UTF-8; these show as U+FFFD.
    """

    def __init__(self, table: OpenTable) -> None:
        """Refuse a table of too many columns by the first footer; to describe it takes minutes.

        Raises:
            TableReadError: It has more than the limits allow.
        """
        self._files = table.files
        self._connection: duckdb.DuckDBPyConnection = table.connection
        root = self._connection.execute(
            "SELECT num_children FROM parquet_schema(?) LIMIT 1", [self._files[:1]]
        ).fetchall()
        check_width(int(root[0][0] or 0) if root else 0)
        partitioned = str(table.partitioned).lower()
        options = f"hive_partitioning = {partitioned}, union_by_name = {partitioned}, "
        options += "utf8_validation = 'replace'"
        self._relation = Relation(f"read_parquet(?, {options})", (self._files,))

    def profile(self, ref: TableRef, kept: Sequence[RowMark]) -> Table:  # noqa: ARG002
        """Read the columns and count the rows from the footers."""
        return Table(ref.table_id, tuple(self._columns), sum(self._counts), ref.location)

    def sample(self, rows: int, seed: int, kept: Sequence[RowMark]) -> list[SampledRow] | None:
        """Draw rows from the row groups they are in."""
        return resample(rows, seed, kept, sum(self._counts), self._rows_at, self._positions_of)

    def scan(self, batch_rows: int) -> Iterator[pa.RecordBatch]:
        """Read the whole table."""
        yield from batches(self._connection, self._relation, self._columns, batch_rows)

    def evidence(self, seed: int) -> CollectedTerms:
        """Read all rows and return what is kept of them."""
        gatherer = TermCollector(seed)
        feed(gatherer, self._connection, self._relation, len(self._columns))
        return gatherer.collected()

    def comments(self) -> Sequence[str]:
        """Return nothing: no tool shows people what a footer says."""
        return ()

    @cached_property
    def _columns(self) -> list[Column]:
        return describe(self._connection, self._relation)

    @cached_property
    def _counts(self) -> list[int]:
        """The number of rows of each file; reads footers only."""
        counts = dict(
            self._connection.execute(
                "SELECT file_name, num_rows FROM parquet_file_metadata(?)", [self._files]
            ).fetchall()
        )
        return [int(counts[name]) for name in self._files]

    def _positions_of(self, wanted: Mapping[int, int]) -> Mapping[int, Sequence[int]]:
        return survey(self._connection, self._relation, len(self._columns), wanted).positions

    def _rows_at(self, positions: Sequence[int]) -> list[SampledRow]:
        """Return the rows at these positions of all files in sequence, cells as text."""
        wanted: dict[int, list[int]] = defaultdict(list)
        number, before = 0, 0
        starts = {}
        for position in sorted(positions):
            while position >= before + self._counts[number]:
                before += self._counts[number]
                number += 1
            starts[number] = before
            wanted[number].append(position - before)
        width = len(self._columns)
        rows: list[SampledRow] = []
        for number, file_rows in wanted.items():
            found = self._connection.execute(
                f"SELECT file_row_number, {key(width)}, {cells(width)} "
                f"FROM {self._relation.aliased(width)} WHERE file_index = {number} "
                f"AND file_row_number IN ({', '.join(map(str, file_rows))})",
                self._relation.parameters,
            )
            rows += sampled(found, starts[number])
        return rows
