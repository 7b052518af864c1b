"""How Parquet is read: counts from the footers, rows by number from the row groups they are in."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property

from pneuma_assets.core.sources.base import SampledRow
from pneuma_assets.core.sources.bounds import check_width
from pneuma_assets.core.sources.duckdb.relation import Relation, cells, describe, key, sampled
from pneuma_assets.core.sources.files.source import FormatReader
from pneuma_assets.core.sources.files.staging import OpenTable
from pneuma_assets.core.sources.readable_table import ReadableTable
from pneuma_assets.core.tables import Column, TableRef


class ParquetReader(FormatReader):
    """Reads tables of Parquet files: one, or those of a folder."""

    @contextmanager
    def opened(self, ref: TableRef) -> Iterator["ParquetTable"]:
        """Make the files readable in parts."""
        with self.staged(ref) as table:
            table.place_all(columnar=True)
            yield ParquetTable(table)


class ParquetTable(ReadableTable):
    """An open table.

    Partitions with different columns are joined by name. Some writers leave bytes in strings
    that are not UTF-8; these show as U+FFFD.
    """

    def __init__(self, table: OpenTable) -> None:
        self._files, self.connection = table.files, table.connection
        partitioned = str(table.partitioned).lower()
        options = f"hive_partitioning = {partitioned}, union_by_name = {partitioned}, "
        options += "utf8_validation = 'replace'"
        self._relation = Relation(f"read_parquet(?, {options})", (self._files,))

    @cached_property
    def columns(self) -> list[Column]:
        """The columns of all files.

        Too many are refused by the first footer; to describe them takes minutes.
        """
        root = self.connection.execute(
            "SELECT num_children FROM parquet_schema(?) LIMIT 1", [self._files[:1]]
        ).fetchall()
        check_width(int(root[0][0] or 0) if root else 0)
        return describe(self.connection, self._relation)

    @cached_property
    def _counts(self) -> list[int]:
        """The number of rows of each file; reads footers only."""
        found = "SELECT file_name, num_rows FROM parquet_file_metadata(?)"
        counts = dict(self.connection.execute(found, [self._files]).fetchall())
        return [int(counts[name]) for name in self._files]

    @property
    def row_count(self) -> int:
        """That of all files."""
        return sum(self._counts)

    @contextmanager
    def reading(self) -> Iterator[Iterator[Relation]]:
        """Give all files as one part."""
        yield iter([self._relation])

    def rows_at(self, positions: Sequence[int]) -> list[SampledRow]:
        """Return the rows at these positions of all files in sequence, cells as text."""
        wanted: dict[tuple[int, int], list[int]] = defaultdict(list)
        number, before = 0, 0
        for position in sorted(positions):
            while position >= before + self._counts[number]:
                before += self._counts[number]
                number += 1
            wanted[number, before].append(position - before)
        width = len(self.columns)
        rows: list[SampledRow] = []
        for (number, before), inside in wanted.items():
            found = self.connection.execute(
                f"SELECT file_row_number, {key(width)}, {cells(width)} "
                f"FROM {self._relation.aliased(width)} WHERE file_index = {number} "
                f"AND file_row_number IN ({', '.join(map(str, inside))})",
                self._relation.parameters,
            )
            rows += sampled(found, before)
        return rows
