"""The rows of a table in a text, and which of a lake's tables each is about."""

import re
from collections.abc import Iterator

from pneuma_assets.core.evidence.fields import name_parts
from pneuma_assets.core.sources.written.table_names import TableNames, Tables
from pneuma_assets.core.sources.written.tables import NAMING

_SEPARATOR = re.compile(r"[\s|:-]*-[\s|:-]*")
_CELL = re.compile(r"(?<!\\)\|")
_FIRST = 3
"""Cells in which a table's name may stand where no header tells."""

TABLE_TITLES = frozenset([
    "table", "table name", "tables", "file", "file name", "filename", "files", "dataset",
    "dataset name", "data set", "datasets", "sheet", "relation", "entity",
])  # fmt: skip
"""What stands above the names of tables."""

_OF_COLUMNS = NAMING - {"name", "key", "property", "parameter", "header"}


def is_separator(line: str) -> bool:
    """Tell whether a line parts a table's header from its rows."""
    return "|" in line and _SEPARATOR.fullmatch(line) is not None


class RowsOfTables:
    """Reads rows one by one; the header goes with the first row about anything."""

    def __init__(self, header: str, names: TableNames, around: Tables, *, sure: bool) -> None:
        """Take the header, what the text around the table is about, and what a name must be."""
        self._names = names
        self._header: str = header
        self._separator = ""
        self._around = self._before = around
        self._seen: set[Tables] = set()
        titles = [" ".join(name_parts(cell)) for cell in _cells(header)]
        self._at = next((at for at, title in enumerate(titles) if title in TABLE_TITLES), None)
        self._sure = sure or not _OF_COLUMNS.isdisjoint(titles)

    def read(self, line: str) -> Iterator[tuple[Tables, str]]:
        """Yield a row with what it is about, after the header where that is new."""
        if not self._separator:
            self._separator = line
            return
        tables = self._tables(_cells(line))
        if tables not in self._seen:
            self._seen.add(tables)
            yield tables, ""
            yield tables, self._header
            yield tables, self._separator
        yield tables, line

    def _tables(self, cells: list[str]) -> Tables:
        if self._at is None:
            read = self._names.sure if self._sure else self._names.heading
            return next(filter(None, map(read, cells[:_FIRST])), self._around)
        said = cells[self._at] if self._at < len(cells) else ""
        if said:
            self._before = self._names.heading(said) or self._names.sure(said) or self._around
        return self._before


def _cells(line: str) -> list[str]:
    cells = [cell.strip() for cell in _CELL.split(line.strip())]
    return cells[1 if line.lstrip().startswith("|") else 0 :]
