"""How Parquet is read: counts from the footers, rows by number from the row groups they are in."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

import pyarrow as pa

from pneuma_assets.core.sources.base import SampledRow
from pneuma_assets.core.sources.bounds import check_width
from pneuma_assets.core.sources.duckdb.evidence import feed
from pneuma_assets.core.sources.duckdb.relation import (
    Relation,
    batches,
    cells,
    describe,
    key,
    sampled,
    survey,
)
from pneuma_assets.core.sources.files.source import Desk
from pneuma_assets.core.sources.files.staging import OpenTable, opened, place_columnar
from pneuma_assets.core.sources.positions import resampled_positions, wanted_keys
from pneuma_assets.core.tables import RowMark, Table, TableRef
from pneuma_assets.core.terms.collect import CollectedTerms, TermCollector


def relation(table: OpenTable) -> Relation:
    """Return what to select from.

    Partitions with different columns are joined by name. Some writers leave bytes in strings
    that are not UTF-8; these show as U+FFFD.
    """
    partitioned = str(table.partitioned).lower()
    options = f"hive_partitioning = {partitioned}, union_by_name = {partitioned}, "
    options += "utf8_validation = 'replace'"
    return Relation(f"read_parquet(?, {options})", (table.files,))


def check_columns(table: OpenTable) -> None:
    """Refuse a table of too many columns by the first footer; to describe it takes minutes.

    Raises:
        TableReadError: It has more than the limits allow.
    """
    root = table.connection.execute(
        "SELECT num_children FROM parquet_schema(?) LIMIT 1", [table.files[:1]]
    ).fetchall()
    check_width(int(root[0][0] or 0) if root else 0)


def count_rows(table: OpenTable) -> list[int]:
    """Return the number of rows of each file; reads footers only."""
    found = table.connection.execute(
        "SELECT file_name, num_rows FROM parquet_file_metadata(?)", [table.files]
    ).fetchall()
    counts = dict(found)
    return [int(counts[name]) for name in table.files]


def rows_at(table: OpenTable, width: int, positions: Sequence[int]) -> list[SampledRow]:
    """Return the rows at these positions of all files in sequence, cells as text."""
    wanted: dict[int, list[int]] = defaultdict(list)
    counts = count_rows(table)
    number, before = 0, 0
    starts = {}
    for position in sorted(positions):
        while position >= before + counts[number]:
            before += counts[number]
            number += 1
        starts[number] = before
        wanted[number].append(position - before)
    source = relation(table)
    rows: list[SampledRow] = []
    for number, file_rows in wanted.items():
        found = table.connection.execute(
            f"SELECT file_row_number, {key(width)}, {cells(width)} FROM {source.aliased(width)} "
            f"WHERE file_index = {number} "
            f"AND file_row_number IN ({', '.join(map(str, file_rows))})",
            source.parameters,
        )
        rows += sampled(found, starts[number])
    return rows


def sample(
    table: OpenTable, rows: int, seed: int, kept: Sequence[RowMark]
) -> list[SampledRow] | None:
    """Draw rows, and keep those of `kept` that are still there; None if all are.

    Rows that stand where they stood cost their row groups; the whole table is read only if one
    of them is gone or has moved.
    """
    source = relation(table)
    width = len(describe(table.connection, source))
    row_count = sum(count_rows(table))
    wanted = wanted_keys(kept)
    found: Mapping[int, Sequence[int]] = {}
    if kept:
        still = [mark.position for mark in kept if mark.position < row_count]
        there = {row.mark for row in rows_at(table, width, still)}
        if all(mark in there for mark in kept):
            return None
        found = survey(table.connection, source, width, wanted).positions
    positions = resampled_positions(row_count, rows, seed, kept, found)
    return None if positions is None else rows_at(table, width, positions)


def evidence(table: OpenTable, seed: int) -> CollectedTerms:
    """Read all rows and return what is kept of them."""
    check_columns(table)
    source = relation(table)
    gatherer = TermCollector(seed)
    feed(gatherer, table.connection, source, len(describe(table.connection, source)))
    return gatherer.collected()


class ParquetReader:
    """Reads tables of Parquet files: one, or those of a folder."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def profile(self, ref: TableRef, kept: Sequence[RowMark]) -> Table:  # noqa: ARG002
        """Read the columns and count the rows from the footers."""
        with self._opened(ref) as table:
            check_columns(table)
            columns = describe(table.connection, relation(table))
            row_count = sum(count_rows(table))
        return Table(ref.table_id, tuple(columns), row_count, ref.location)

    def sample(
        self, ref: TableRef, rows: int, seed: int, kept: Sequence[RowMark]
    ) -> list[SampledRow] | None:
        """Draw rows from the row groups they are in."""
        with self._opened(ref) as table:
            return sample(table, rows, seed, kept)

    def scan(self, ref: TableRef, batch_rows: int) -> Iterator[pa.RecordBatch]:
        """Read the whole table."""
        with self._opened(ref) as table:
            source = relation(table)
            columns = describe(table.connection, source)
            yield from batches(table.connection, source, columns, batch_rows)

    def evidence(self, ref: TableRef, seed: int) -> CollectedTerms:
        """Read all rows once and return what is kept of them."""
        with self._opened(ref) as table:
            return evidence(table, seed)

    def comments(self, ref: TableRef) -> Sequence[str]:  # noqa: ARG002
        """Return nothing: no tool shows people what a footer says."""
        return ()

    def close(self) -> None:
        """Do nothing: nothing is kept between two calls."""

    def _opened(self, ref: TableRef) -> AbstractContextManager[OpenTable]:
        return opened(self._desk.database, self._desk.storage, ref, place_columnar)
