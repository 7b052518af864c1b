"""CSV, TSV and JSON Lines: every cell as the file spells it, one reading of a small file.

A table may have many files (Hive partitions). Each is read by its own layout, and a row's cells
are put where the columns of all files together have them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import duckdb

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.files import delimited, json_lines
from pneuma_assets.core.sources.files.layout import Layout
from pneuma_assets.core.sources.files.staging import OpenTable
from pneuma_assets.core.sources.files.text_columns import joined
from pneuma_assets.core.sources.files.text_look import FileLook, is_encoding_error
from pneuma_assets.core.sources.files.text_table import TextTable

SMALL_BYTES = 256 << 10
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
