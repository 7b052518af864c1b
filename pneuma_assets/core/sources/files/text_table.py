"""What reading a text table showed: its columns, its number of rows, and how to read it again."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from itertools import chain
from pathlib import Path

import duckdb
import pyarrow as pa

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.base import UNALIGNED, Row, SampledRow
from pneuma_assets.core.sources.duckdb.relation import (
    Relation,
    batches,
    feed,
    rows_at,
)
from pneuma_assets.core.sources.files import delimited, json_lines
from pneuma_assets.core.sources.files.layout import (
    FileLook,
    Layout,
    is_encoding_error,
    with_partition,
)
from pneuma_assets.core.sources.files.staging import OpenTable
from pneuma_assets.core.sources.names import readable_names
from pneuma_assets.core.sources.sampling import positions_in
from pneuma_assets.core.tables import Column, RowMark
from pneuma_assets.core.terms.collect import CollectedTerms, TermCollector, collect_rows


def joined(
    layouts: Sequence[Layout], partitions: Sequence[Mapping[str, str | None]]
) -> tuple[list[Column], list[list[int | None]]]:
    """Join the columns of all files by name, and say where each file has each of them."""
    kinds: dict[tuple[str, int], list[str]] = {}
    names: dict[tuple[str, int], str] = {}
    files = []
    for layout, partition in zip(layouts, partitions, strict=True):
        columns = [(column.name, column.type) for column in layout.columns]
        parts = [(name, _kind(value)) for name, value in partition.items()]
        slots = _slots([name for name, _ in columns])
        slots += [(name.lower(), 0) for name, _ in parts]  # a folder's value hides a column's
        files.append({slot: i for i, slot in enumerate(slots)})
        for slot, (name, kind) in zip(slots, columns + parts, strict=True):
            names.setdefault(slot, name)
            kinds.setdefault(slot, []).append(kind)
    keys = {name.lower() for partition in partitions for name in partition}
    order = sorted(names, key=lambda slot: slot[0] in keys)  # folders' values stand last
    readable = readable_names([names[slot] for slot in order])
    joined = [
        Column(name, _common(kinds[slot])) for name, slot in zip(readable, order, strict=True)
    ]
    return joined, [[positions.get(slot) for slot in order] for positions in files]


def _slots(names: Sequence[str]) -> list[tuple[str, int]]:
    """Return what columns of different files are matched by: the name, whatever its case."""
    seen: Counter[str] = Counter()
    slots = []
    for name in map(str.lower, names):
        slots.append((name, seen[name]))
        seen[name] += 1
    return slots


def _kind(value: str | None) -> str:
    if value is None:
        return ""
    if value.removeprefix("-").isdecimal() and len(value) <= 18:
        return "BIGINT"
    try:
        date.fromisoformat(value)
    except ValueError:
        return "VARCHAR"
    return "DATE"


def _common(kinds: Sequence[str]) -> str:
    """Return the type of a column that files of one table call by these types."""
    distinct = set(kinds) - {""}
    if len(distinct) == 1:
        return distinct.pop()
    return "DOUBLE" if distinct == {"BIGINT", "DOUBLE"} else "VARCHAR"


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

    def evidence(self, table: OpenTable, seed: int) -> CollectedTerms:
        """Return what is kept of all rows, which are read unless they are in memory."""
        if self.rows is not None:
            return self.kept_evidence(seed)
        gatherer = TermCollector(seed)
        for relation in self.aligned(table):
            feed(gatherer, table.connection, relation, len(self.columns))
        return gatherer.collected()

    def kept_evidence(self, seed: int) -> CollectedTerms:
        """Return the same of rows that are in memory, without the table."""
        rows = (
            [None if i is None else row[i] for i in places]
            for file, places in zip(self.rows or (), self.places, strict=True)
            for row in file
        )
        return collect_rows(rows, len(self.columns), seed)

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


SMALL_BYTES = 2 << 20
"""A table of smaller files is kept in memory between profile and sample."""

SMALL_CELLS = 500_000
"""Of a table that is kept; there may be many more of them than bytes where most are empty."""


def read_text_table(table: OpenTable, wanted: Mapping[int, int]) -> TextTable:
    """Read a whole table once, by the strictest options that work, and look for rows.

    Raises:
        duckdb.Error: No options work.
        TableReadError: There is nothing in it.
    """
    paths = [Path(name) for name in table.files]
    small = sum(path.stat().st_size for path in paths) <= SMALL_BYTES
    small = small and not any(path.suffix == ".gz" for path in paths)
    looks, layouts = [], []
    room = SMALL_CELLS if small else 0
    for number in range(len(paths)):
        look = FileLook(table.connection, table.partitions[number], wanted, room)
        layouts.append(_find_layout(table, number, look))
        looks.append(look)
        room = room - sum(map(len, look.rows)) if look.rows is not None else 0
    _require_content(table, layouts, looks)
    columns, places = joined(layouts, table.partitions)
    rows = [look.rows for look in looks if look.rows is not None]
    return TextTable(
        layouts,
        tuple(table.partitions),
        columns,
        places,
        wanted,
        _positions(layouts, looks),
        rows if len(rows) == len(looks) else None,
    )


def _find_layout(table: OpenTable, number: int, look: FileLook) -> Layout:
    try:
        return _layout(table, number, look)
    except duckdb.Error as error:
        if not is_encoding_error(error) or look.transcoded:
            raise
    table.transcode(number)
    look.transcoded = True
    return replace(_layout(table, number, look), transcoded=True)


def _layout(table: OpenTable, number: int, look: FileLook) -> Layout:
    file = table.files[number]
    if table.format == "jsonl":
        return json_lines.find_layout(table.connection, file, look)
    return delimited.find_layout(table.connection, file, look, tabs=table.format == "tsv")


def _positions(layouts: Sequence[Layout], looks: Sequence[FileLook]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    before = 0
    for layout, look in zip(layouts, looks, strict=True):
        for row_key, positions in look.positions.items():
            found.setdefault(row_key, []).extend(before + position for position in positions)
        before += layout.row_count
    return found


def _require_content(
    table: OpenTable, layouts: Sequence[Layout], looks: Sequence[FileLook]
) -> None:
    if not any(layout.row_count for layout in layouts) and any(layout.lossy for layout in layouts):
        raise TableReadError("none of its lines can be read; write the file again")
    empty = (look.rows and all(row[0] == "{}" for row in look.rows) for look in looks)
    if table.format == "jsonl" and all(empty):
        raise TableReadError("none of its objects has a key; write the file again")
    if any(look.has_values for look in looks):
        return
    named = any(
        column.name not in {f"column{i}", "json"}
        for layout in layouts
        for i, column in enumerate(layout.columns)
    )
    if named:
        return
    raise TableReadError("it holds neither column names nor values; write the file again")
