"""How Parquet is read: counts from the footers, rows by number from the row groups they are in."""

from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from urllib.parse import quote

import pyarrow as pa

from pneuma_assets.core.sources.base import SampledRow
from pneuma_assets.core.sources.bounds import check_width
from pneuma_assets.core.sources.duckdb.relation import Relation, describe, sampled
from pneuma_assets.core.sources.files.source import FormatReader
from pneuma_assets.core.sources.files.staging import OpenTable
from pneuma_assets.core.sources.files.text_table import common_kind, kind_of_value
from pneuma_assets.core.sources.names import PANDAS_INDEX, comment_in
from pneuma_assets.core.sources.readable_table import ReadableTable
from pneuma_assets.core.tables import Column, TableRef, comments_on_columns


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
        options += "hive_types_autocast = false, utf8_validation = 'replace'"
        # Of a key with other signs DuckDB knows no type: it is text.
        names = {name for one in table.partitions for name in one if name == quote(name, safe="")}
        kinds = ({kind_of_value(one.get(name)) for one in table.partitions} for name in names)
        typed = map("'{}': {}".format, names, map(common_kind, kinds))
        options += f", hive_types = {{{', '.join(typed)}}}" if names else ""
        # The first footer tells how many columns there are: to describe too many takes minutes.
        found = "SELECT first(num_children) FROM parquet_schema(?)"
        ((width,),) = self.connection.execute(found, [self._files[:1]]).fetchall()
        check_width(int(width or 0))
        read = f"read_parquet(?, {options})"
        every = describe(self.connection, Relation(read, (self._files,)))
        self._shown = [one for one in every if not PANDAS_INDEX.fullmatch(one.name)] or every
        index = ", ".join(one.name for one in every if one not in self._shown)
        shown = f"* EXCLUDE ({index})" if index else "*"
        self._relation, self._placed = (
            Relation(f"(SELECT {shown}{more} FROM {read})", (self._files,))
            for more in ("", ", file_row_number, file_index")
        )

    @cached_property
    def columns(self) -> list[Column]:
        """The columns of all files, without those that pandas made of an index beside others."""
        return [replace(one, comment=self._said.get(one.name, "")) for one in self._shown]

    @cached_property
    def _said(self) -> dict[str, str]:
        """What the footer of the first file says of columns, by name, and of the table ("")."""
        found = "SELECT key, value FROM parquet_kv_metadata(?)"
        said = dict(self.connection.execute(found, [self._files[:1]]).fetchall())
        fields: Iterable[pa.Field] = ()
        with suppress(pa.ArrowException, ValueError, OSError):  # there is none, or not of Arrow
            fields = pa.ipc.read_schema(pa.py_buffer(b64decode(said.get(b"ARROW:schema", b""))))
        return {one.name: comment_in(one.metadata) for one in fields} | {"": comment_in(said)}

    def comments(self) -> Sequence[str]:
        """Return what the table says of itself and of its columns."""
        return [self._said[""], comments_on_columns(self.columns)]

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
            found = (
                f"{self._placed.aliased(width)} WHERE file_index = {number} "
                f"AND file_row_number IN ({', '.join(map(str, inside))})"
            )
            source = Relation(found, self._relation.parameters)
            rows += sampled(self.connection, "file_row_number", source, width, before)
        return rows
