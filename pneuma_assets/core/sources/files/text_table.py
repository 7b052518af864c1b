"""What reading a text table showed: its columns, its number of rows, and how to read it again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import pyarrow as pa

from pneuma_assets.core.evidence.gather import Gathered, Gatherer, gather_rows
from pneuma_assets.core.sources.base import UNALIGNED, Row, SampledRow
from pneuma_assets.core.sources.duckdb.evidence import feed
from pneuma_assets.core.sources.duckdb.relation import Relation, batches, rows_at
from pneuma_assets.core.sources.files.layout import Layout, with_partition
from pneuma_assets.core.sources.files.staging import OpenTable
from pneuma_assets.core.sources.positions import positions_in
from pneuma_assets.core.tables import Column, RowMark

_CELL_BYTES = 64
"""What Python needs for a short text beside its place in a row."""

_PLACE_BYTES = 8
"""For each cell of a row, be it empty, and for each place of a column in a file."""

_ROW_BYTES = 96
"""What a row takes without its cells: a tuple and the row's key."""

_COLUMN_BYTES = 200
"""For a column of a table or of one of its files: its name and type, and how it is read."""

LOSSY = "lines that do not fit the other lines were left out"
"""The note of a table that could only be read without some of its lines."""


@dataclass(frozen=True)  # no slots: it caches
class TextTable:
    """What reading a text table showed; with `rows`, the whole table.

    `places` says of each file where each of the table's columns stands in it. `positions` are
    those of the rows whose keys were `wanted`.
    """

    layouts: Sequence[Layout]
    partitions: Sequence[Mapping[str, str | None]]
    columns: Sequence[Column]
    places: Sequence[Sequence[int | None]]
    wanted: Mapping[int, int]
    positions: Mapping[int, Sequence[int]]
    rows: Sequence[list[Row]] | None = None

    @cached_property
    def row_count(self) -> int:
        """Of all files."""
        return sum(layout.row_count for layout in self.layouts)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of the reading."""
        lossy = any(layout.lossy for layout in self.layouts)
        unaligned = any(layout.unaligned for layout in self.layouts)
        return (*([LOSSY] if lossy else []), *([UNALIGNED] if unaligned else []))

    @cached_property
    def rows_size(self) -> int:
        """Bytes of memory that the rows take, about."""
        rows = [row for file in self.rows or () for row in file]
        filled = (cell for row in rows for cell in row[:-1] if cell is not None)
        places = sum(_ROW_BYTES + _PLACE_BYTES * len(row) for row in rows)
        return places + sum(_CELL_BYTES + len(cell) for cell in filled)

    @cached_property
    def layout_size(self) -> int:
        """Bytes of memory that all else takes, about."""
        columns = len(self.columns) + sum(len(layout.columns) for layout in self.layouts)
        places = sum(map(len, self.places)) + sum(map(len, self.positions.values()))
        files = sum(_COLUMN_BYTES + len(layout.sql) for layout in self.layouts)
        return files + _COLUMN_BYTES * columns + _PLACE_BYTES * places

    def covers(self, wanted: Mapping[int, int]) -> bool:
        """Tell whether `found` knows of these keys."""
        return self.rows is not None or wanted.items() <= self.wanted.items()

    def found(self, wanted: Mapping[int, int]) -> Mapping[int, Sequence[int]]:
        """Return where rows of these keys stand."""
        if self.rows is None or not wanted:
            return self.positions
        return positions_in(chain.from_iterable(self.rows), wanted)

    def without_rows(self) -> "TextTable":
        """Forget the rows; where the wanted ones stand is kept."""
        return replace(self, rows=None, positions=self.found(self.wanted))

    def prepare(self, table: OpenTable) -> None:
        """Transcode the files of a table opened again that had to be transcoded."""
        for number, layout in enumerate(self.layouts):
            if layout.transcoded:
                table.transcode(number)

    def kept_rows(self, positions: Sequence[int]) -> list[SampledRow]:
        """Return rows that are in memory, without the table."""
        drawn = []
        for number, inside, before in self._by_file(positions):
            for position in inside:
                *values, row_key = (self.rows or ())[number][position]
                mark = RowMark(before + position, row_key)
                drawn.append(self._placed(SampledRow(mark, tuple(values)), number))
        return drawn

    def rows_at(self, table: OpenTable, positions: Sequence[int]) -> list[SampledRow]:
        """Return the rows at these positions of all files in sequence, cells as text."""
        drawn = []
        for number, inside, before in self._by_file(positions):
            source, width = self._source(table, number)
            for row in rows_at(table.connection, source, width, inside):
                mark = RowMark(before + row.mark.position, row.mark.key)
                drawn.append(self._placed(SampledRow(mark, row.cells), number))
        return drawn

    def batches(self, table: OpenTable, batch_rows: int) -> Iterator[pa.RecordBatch]:
        """Yield all rows as text, at most `batch_rows` at once."""
        for relation in self.aligned(table):
            yield from batches(table.connection, relation, self.columns, batch_rows)

    def evidence(self, table: OpenTable, seed: int) -> Gathered:
        """Return what is kept of all rows, which are read unless they are in memory."""
        if self.rows is not None:
            return self.kept_evidence(seed)
        gatherer = Gatherer(seed)
        for relation in self.aligned(table):
            feed(gatherer, table.connection, relation, len(self.columns))
        return gatherer.gathered()

    def kept_evidence(self, seed: int) -> Gathered:
        """Return the same of rows that are in memory, without the table."""
        rows = (
            [None if i is None else row[i] for i in places]
            for file, places in zip(self.rows or (), self.places, strict=True)
            for row in file
        )
        return gather_rows(rows, len(self.columns), seed)

    def aligned(self, table: OpenTable) -> Iterator[Relation]:
        """Yield what to select each file's rows from, cells in the order of the columns."""
        for number, places in enumerate(self.places):
            source, width = self._source(table, number)
            picked = ", ".join("NULL::VARCHAR" if i is None else f"c{i}" for i in places)
            yield Relation(f"(SELECT {picked} FROM {source.aliased(width)})", source.parameters)

    def _source(self, table: OpenTable, number: int) -> tuple[Relation, int]:
        layout, partition = self.layouts[number], self.partitions[number]
        width = len(layout.columns)
        source = Relation(layout.sql, (table.files[number],))
        return with_partition(source, width, partition), width + len(partition)

    def _by_file(self, positions: Sequence[int]) -> Iterator[tuple[int, list[int], int]]:
        """Yield the number of each file that has some of the rows, which, and the rows before."""
        before = 0
        for number, layout in enumerate(self.layouts):
            after = before + layout.row_count
            inside = [position - before for position in positions if before <= position < after]
            if inside:
                yield number, inside, before
            before = after

    def _placed(self, row: SampledRow, number: int) -> SampledRow:
        values = tuple(None if i is None else row.cells[i] for i in self.places[number])
        return replace(row, cells=values)
