"""What reading a text table showed: its columns, its number of rows, and how to read it again."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path

import duckdb

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.base import UNALIGNED, UNREAD, Row, SampledRow
from pneuma_assets.core.sources.duckdb.relation import Relation, rows_at
from pneuma_assets.core.sources.files import delimited, json_lines
from pneuma_assets.core.sources.files.staging import OpenTable
from pneuma_assets.core.sources.files.text_layout import Layout, TextFile, is_encoding_error
from pneuma_assets.core.sources.names import readable_names
from pneuma_assets.core.sources.sampling import positions_in
from pneuma_assets.core.tables import Column, RowMark


def _joined(layouts: Sequence[Layout]) -> tuple[list[Column], list[Layout]]:
    """Join the columns of all files; the layouts that are returned say where each has them.

    They are matched by name, whatever its case, and by how many before it have the same. The values
    of folders stand last, and hide columns of their names.
    """
    found: dict[tuple[str, int], list[Column]] = defaultdict(list)
    files = []
    for layout in layouts:
        seen: Counter[str] = Counter()
        places: dict[tuple[str, int], int] = {}
        values = [Column(name, kind_of_value(value)) for name, value in layout.partition.items()]
        for place, column in enumerate((*layout.columns, *values)):
            name = column.name.lower()
            slot = (name, seen[name] if place < len(layout.columns) else 0)
            seen[name] += 1
            places[slot] = place
            found[slot].append(column)
        files.append(places)
    keys = {name.lower() for layout in layouts for name in layout.partition}
    order = sorted(found, key=lambda slot: slot[0] in keys)
    names = readable_names([found[slot][0].name for slot in order])
    columns = [
        Column(name, common_kind({column.type for column in found[slot]}))
        for name, slot in zip(names, order, strict=True)
    ]
    return columns, [
        replace(layout, places=[places.get(slot) for slot in order])
        for layout, places in zip(layouts, files, strict=True)
    ]


def kind_of_value(value: str | None) -> str:
    """Return the type of a value of a folder, which is as it is spelled there: 01 is a text."""
    if value is None:
        return ""
    for kind, read in (("BIGINT", int), ("DATE", date.fromisoformat)):
        with suppress(ValueError):
            if str(read(value)) == value and len(value) <= 18:
                return kind
    return "VARCHAR"


def common_kind(kinds: set[str]) -> str:
    """Return the type of a column that files of one table call by these types."""
    kinds = kinds - {""}
    if len(kinds) == 1:
        return kinds.pop()
    return "DOUBLE" if kinds == {"BIGINT", "DOUBLE"} else "VARCHAR"


_CELL_BYTES = 64
"""What Python needs for a short text beside its place in a row."""

_PLACE_BYTES = 8
"""For each cell of a row, be it empty, and for each place of a column in a file."""

_ROW_BYTES = 96
"""What a row takes without its cells: a tuple and the row's key."""

_COLUMN_BYTES = 200
"""For a column of a table or of one of its files: its name and type, and how it is read."""

LOSSY = "values that do not fit those of other lines were left out"
"""The note of a table that could only be read without them."""


@dataclass(frozen=True)  # no slots: it caches
class TextTable:
    """What reading a text table showed; with `rows`, the whole table, each row with its key.

    `positions` are those of the rows whose keys were `wanted`.
    """

    layouts: Sequence[Layout]
    columns: Sequence[Column]
    wanted: Mapping[int, int]
    positions: Mapping[int, Sequence[int]]
    rows: Sequence[Row] | None = None

    @cached_property
    def row_count(self) -> int:
        """Of all files."""
        return sum(layout.row_count for layout in self.layouts)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of the reading."""
        lossy = any(layout.lossy and not layout.unread.lines for layout in self.layouts)
        unaligned = any(layout.unaligned for layout in self.layouts)
        unread = [layout for layout in self.layouts if layout.unread.lines]
        notes = [LOSSY] if lossy else []
        if unread:
            lines = sum(layout.unread.lines for layout in unread)
            bound = "at least " if any(layout.unread.at_least for layout in unread) else ""
            first, called = unread[0].unread.first, unread[0].called
            place = f"; the first is line {first:,}{called}" if first else called
            notes.append(f"{bound}{lines:,} {'lines' if lines > 1 else 'line'} {UNREAD}{place}")
        return (*notes, *([UNALIGNED] if unaligned else []))

    @property
    def reading(self) -> tuple[tuple[str, str], ...]:
        """The options by which others read its files; none where these differ."""
        first, *others = ((one.options, one.columns) for one in self.layouts)
        return tuple(first[0].items()) if all(one == first for one in others) else ()

    @cached_property
    def rows_size(self) -> int:
        """Bytes of memory that the rows take, about."""
        rows = self.rows or ()
        filled = (cell for row in rows for cell in row[:-1] if cell is not None)
        places = sum(_ROW_BYTES + _PLACE_BYTES * len(row) for row in rows)
        return places + sum(_CELL_BYTES + len(cell) for cell in filled)

    @cached_property
    def layout_size(self) -> int:
        """Bytes of memory that all else takes, about."""
        columns = len(self.columns) + sum(len(layout.columns) for layout in self.layouts)
        places = sum(map(len, (one.places for one in self.layouts)))
        places += sum(map(len, self.positions.values()))
        files = sum(_COLUMN_BYTES + len(layout.sql) for layout in self.layouts)
        return files + _COLUMN_BYTES * columns + _PLACE_BYTES * places

    def covers(self, wanted: Mapping[int, int]) -> bool:
        """Tell whether `found` knows of these keys."""
        return self.rows is not None or wanted.items() <= self.wanted.items()

    def found(self, wanted: Mapping[int, int]) -> Mapping[int, Sequence[int]]:
        """Return where rows of these keys stand."""
        return self.positions if self.rows is None else positions_in(self.rows, wanted)

    def without_rows(self) -> "TextTable":
        """Forget the rows; where the wanted ones stand is kept."""
        return replace(self, rows=None, positions=self.found(self.wanted))

    def kept_rows(self, positions: Sequence[int]) -> list[SampledRow]:
        """Return rows that are in memory."""
        rows = [(position, (self.rows or ())[position]) for position in positions]
        return [SampledRow(RowMark(position, row[-1]), row[:-1]) for position, row in rows]

    def rows_at(self, table: OpenTable, positions: Sequence[int]) -> list[SampledRow]:
        """Return the rows at these positions of all files in sequence, cells as text."""
        drawn = []
        before = 0
        for name, layout in zip(table.files, self.layouts, strict=True):
            after = before + layout.row_count
            inside = [position - before for position in positions if before <= position < after]
            if inside:
                source, width = layout.source(name)
                for row in rows_at(table.connection, source, width, inside):
                    mark = RowMark(before + row.mark.position, row.mark.key)
                    drawn.append(SampledRow(mark, _placed(row.cells, layout.places)))
            before = after
        return drawn

    def parts(self, table: OpenTable) -> Iterator[Relation]:
        """Yield what to select each file's rows from, cells in the order of the columns."""
        for name, layout in zip(table.files, self.layouts, strict=True):
            source, width = layout.source(name)
            picked = ", ".join("NULL::VARCHAR" if i is None else f"c{i}" for i in layout.places)
            yield Relation(f"(SELECT {picked} FROM {source.aliased(width)})", source.parameters)


def _placed(row: Row, places: Sequence[int | None]) -> Row:
    return tuple(None if i is None else row[i] for i in places)


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
    room = SMALL_CELLS if small else 0
    files, layouts = [], []
    positions: dict[int, list[int]] = defaultdict(list)
    before = 0
    for number, partition in enumerate(table.partitions):
        name, options = table.files[number], table.options[number]
        file = TextFile(table.connection, name, partition, wanted, room, options)
        layout = _find_layout(table, number, file)
        layouts.append(layout)
        files.append(file)
        room = 0 if file.rows is None else room - sum(map(len, file.rows))
        for row_key, inside in file.positions.items():
            positions[row_key] += [before + position for position in inside]
        before += layout.row_count
    _require_content(table, layouts, files)
    columns, layouts = _joined(layouts)
    rows: list[Row] | None = None
    if before * len(columns) <= SMALL_CELLS and all(file.rows is not None for file in files):
        rows = [
            (*_placed(row, layout.places), row[-1])
            for file, layout in zip(files, layouts, strict=True)
            for row in file.rows or ()
        ]
    return TextTable(layouts, columns, wanted, dict(positions), rows)


def _find_layout(table: OpenTable, number: int, file: TextFile) -> Layout:
    """Return how a file is read; it is transcoded first where its bytes are not UTF-8."""
    try:
        layout = _layout(file, table.format)
    except duckdb.Error as error:
        if file.transcoded or not is_encoding_error(error):
            raise
        table.transcode(number)
        file.name = table.files[number]
        layout = _layout(file, table.format)
    return replace(
        layout,
        options={**layout.options, **file.options},
        partition=file.partition,
        called=table.called[number],
    )


def _layout(file: TextFile, file_format: str) -> Layout:
    if file_format == "jsonl":
        return json_lines.find_layout(file)
    return delimited.find_layout(file, tabs=file_format == "tsv")


def _require_content(
    table: OpenTable, layouts: Sequence[Layout], files: Sequence[TextFile]
) -> None:
    if not any(layout.row_count for layout in layouts) and any(layout.lossy for layout in layouts):
        raise TableReadError("none of its lines can be read; write the file again")
    empty = (file.rows and all(row[0] == "{}" for row in file.rows) for file in files)
    if table.format == "jsonl" and all(empty):
        raise TableReadError("none of its objects has a key; write the file again")
    named = any(
        column.name not in {f"column{i}", "json"}
        for layout in layouts
        for i, column in enumerate(layout.columns)
    )
    if not named and not any(file.has_values for file in files):
        raise TableReadError("it holds neither column names nor values; write the file again")
