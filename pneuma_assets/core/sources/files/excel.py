"""Reads workbooks (.xlsx, .xlsm, .xlsb, .xls, .ods) through calamine, a table a sheet.

A sheet is written down as tab-separated text and then read as any text is: header, types and rows
are found in the same way. Cells hold what a person sees: the results of formulas, dates as dates.
"""

import csv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources import bounds
from pneuma_assets.core.sources.files.names import split_inside
from pneuma_assets.core.sources.files.staging import OpenTable, library
from pneuma_assets.core.sources.files.text_reader import TextReader
from pneuma_assets.core.tables import TableRef

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook


_TITLE_ROWS = 20
"""Rows at the top in which a title above the table is looked for."""

_UNPACKED_SHARE = 0.25
"""Of the memory that a reader may have, what a book may take unpacked: its cells take more."""


_explained = partial(library, "python-calamine", "excel", "remove its password, or save it again")


class ExcelReader(TextReader):
    """Reads the visible sheets of workbooks."""

    @contextmanager
    def text(self, ref: TableRef) -> Iterator[OpenTable]:
        """Open a sheet as text."""
        location, name = split_inside(ref.location, ref.format)
        with self.staged(ref) as table:
            book = _open_book(table, table.storage.path(location))
            if name not in _visible(book):
                raise TableReadError("the workbook has no such sheet any more")
            text = table.scratch / "sheet.tsv"
            with _explained():
                sheet = book.get_sheet_by_name(name)
            skipped = _write_down(sheet, text)
            table.use_room(text.stat().st_size)
            table.files, table.partitions, table.called = [str(text)], [{}], [""]
            table.format = "tsv"
            table.prepare_text()
            table.options[0]["skip"] = str(skipped)
            yield table

    def names_inside(self, ref: TableRef) -> tuple[str, ...]:
        """Return the names of the visible sheets; one that is empty is a table with a problem."""
        with self.staged(ref) as table:
            return tuple(_visible(_open_book(table, table.path)))


def _open_book(table: OpenTable, path: str) -> "CalamineWorkbook":
    with _explained():
        from python_calamine import CalamineWorkbook

        name = table.place(path, table.scratch / "book")
        _check_size(Path(name))
        return CalamineWorkbook.from_path(name)


def _check_size(path: Path) -> None:
    """Refuse a book that unpacks to more than may be held in memory."""
    most = int(bounds.limits().memory_gigabytes * 10**9 * _UNPACKED_SHARE)
    size = path.stat().st_size
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            size = sum(part.file_size for part in packed.infolist())
    if size > most:
        raise TableReadError(
            f"it takes {size / 1e9:.1f} GB unpacked, more than {most / 1e9:.1f}; split it, or "
            "raise limits.memory_gigabytes in the deployment file"
        )
    bounds.reading(size)


def _visible(book: "CalamineWorkbook") -> list[str]:
    """Return the names of the sheets of cells that are not hidden."""
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    return [
        sheet.name
        for sheet in book.sheets_metadata
        if sheet.typ == SheetTypeEnum.WorkSheet and sheet.visible == SheetVisibleEnum.Visible
    ]


def _write_down(sheet: "CalamineSheet", target: Path) -> int:
    """Write the table in a sheet down as text; returns the number of rows above it."""
    bounds.check_width(sheet.width)
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        rows = _without_titles(_rows(sheet), sheet.width)
        skipped, header = next(rows, (0, []))
        writer.writerows([header] if header else [])
        writer.writerows(cells for _, cells in rows)
    if not target.stat().st_size:
        raise TableReadError("the sheet is empty; fill or remove it")
    return skipped


def _rows(sheet: "CalamineSheet") -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that hold anything, numbered; merged cells all have the text of the first."""
    merged = _merged(sheet)
    texts: dict[tuple[int, int], str] = {}
    start_row, start_column = sheet.start or (0, 0)
    for row_number, row in enumerate(sheet.iter_rows(), start_row):
        cells = [_spelled(cell) for cell in row]
        for top, left, right in merged.get(row_number, ()):
            first, last = left - start_column, min(right - start_column + 1, len(cells))
            if not 0 <= first < len(cells):
                continue
            if row_number == top:
                texts[top, left] = cells[first]
            cells[first:last] = [texts.get((top, left), "")] * (last - first)
        if any(cells):
            yield row_number, cells


_MERGED_ROWS = 100_000


def _merged(sheet: "CalamineSheet") -> dict[int, list[tuple[int, int, int]]]:
    """Return by row the ranges that are merged: their top, left and right."""
    found: dict[int, list[tuple[int, int, int]]] = {}
    room = _MERGED_ROWS
    for (top, left), (bottom, right) in sheet.merged_cell_ranges or ():
        room -= bottom - top + 1
        if room < 0:
            break  # Nobody merges so many by hand.
        for row in range(top, bottom + 1):
            found.setdefault(row, []).append((top, left, right))
    return found


def _without_titles(
    rows: Iterator[tuple[int, list[str]]], width: int
) -> Iterator[tuple[int, list[str]]]:
    """Leave out what stands above the table: rows that say one thing, of a table of several."""
    first = list(islice(rows, _TITLE_ROWS))
    if width > 1:
        wide = [len(set(filter(None, row))) > 1 for _, row in first]
        first = first[wide.index(True) :] if True in wide else first
    yield from first
    yield from rows


def _spelled(cell: Any) -> str:
    """Return a cell as a person sees it: no zeros that only a computer writes."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime):
        whole = cell.time() == time()
        return cell.date().isoformat() if whole else cell.isoformat(" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    return str(cell)
