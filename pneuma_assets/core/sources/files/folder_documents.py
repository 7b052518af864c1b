"""Documents about several tables: a README, a data dictionary, what lies beside a workbook."""

import csv
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from pneuma_assets.core.evidence.fields import name_parts
from pneuma_assets.core.sources.files.json_documents import names_of
from pneuma_assets.core.sources.names import (
    HOLDERS,
    PARTITION_MARK,
    inside,
    is_folder_document,
    parse_file_name,
    split_inside,
)
from pneuma_assets.core.sources.written.rows import TABLE_TITLES
from pneuma_assets.core.sources.written.sections import Section, sections_of
from pneuma_assets.core.sources.written.table_names import NONE, TableNames, Tables
from pneuma_assets.core.tables import TableRef

_SIGNS = ",;\t|"
_MOST_ROWS = 20_000

NamesInside = Callable[[TableRef], Sequence[str]]
"""Returns the names of all tables in a file."""


class Parts(NamedTuple):
    """What a document says of one table: of it alone, of it and some others, of all."""

    own: str
    several: str
    of_all: str


class Neighbours(NamedTuple):
    """A table among those that a document may be about.

    Attributes:
        own: What stands for the table in `names`.
        names: What documents may call each of the tables, with what stands for it.
    """

    own: Tables
    names: tuple[tuple[str, str], ...]

    @property
    def several(self) -> bool:
        """Whether there are others."""
        return not {table for _, table in self.names} <= self.own

    def parts(self, text: str) -> Parts:
        """Return the parts of a text about several tables; without others, all is the table's."""
        if not self.several:
            return Parts(text, "", "")
        found = _sections(text, self.names)
        return Parts(
            _joined(one for one in found if one.tables and one.tables <= self.own),
            _joined(one for one in found if one.tables - self.own and one.tables & self.own),
            _joined(one for one in found if one.tables == NONE),
        )


def neighbours_of(
    ref: TableRef, path: str, siblings: Collection[str], names_inside: NamesInside
) -> Neighbours:
    """Return a table among its folder's, or those of its file.

    Args:
        ref: The table.
        path: Of its file or folder.
        siblings: The names of the files beside it that the document may be about.
        names_inside: Asked where the file may hold several.
    """
    file = path.rstrip(PARTITION_MARK).rpartition("/")[2]
    last = ref.table_id.rpartition("/")[2]
    names = [(name, one) for one in siblings if one != file for name in _called(one)]
    if ref.format not in HOLDERS:
        return Neighbours(frozenset({file}), (*names, *((n, file) for n in {*_called(file), last})))
    location, own = split_inside(ref.location, ref.format)
    for table in dict.fromkeys((*names_inside(replace(ref, location=location)), own)):
        names += [(name, inside(file, table)) for name in (table, *_called(file))]
    return Neighbours(frozenset({inside(file, own)}), tuple(names))


def is_shared(name: str, folder: str, ref: TableRef, path: str) -> bool:
    """Tell whether a document is about other tables, too; one inside a table's folder is not."""
    in_table = path.endswith(PARTITION_MARK) and f"{folder}/".startswith(path)
    return not in_table and (is_folder_document(name) or ref.format in HOLDERS)


def cells_as_lines(text: str) -> str:
    """Return a data dictionary of cells as a Markdown table; nothing if it names no tables."""
    first = text.partition("\n")[0]
    sign = max(_SIGNS, key=first.count)
    rows = [[cell.strip() for cell in row] for row in islice(_read(text, sign), _MOST_ROWS)]
    titles = [" ".join(name_parts(cell)) for cell in rows[0]] if rows else []
    if len(titles) < 2 or TABLE_TITLES.isdisjoint(titles):
        return ""
    return "\n".join(map(_line, [rows[0], ["---"] * len(rows[0]), *rows[1:]]))


def _read(text: str, sign: str) -> Iterator[list[str]]:
    reader = csv.reader(text.splitlines(keepends=True), delimiter=sign)
    try:
        yield from (row for row in reader if any(map(str.strip, row)))
    except csv.Error as error:
        raise ValueError(f"its cells cannot be told apart: {error}") from error


def _line(row: Sequence[str]) -> str:
    cells = (" ".join(cell.replace("|", "\\|").split()) for cell in row)
    return f"| {' | '.join(cells)} |"


def _called(file_name: str) -> tuple[str, ...]:
    if is_folder_document(file_name):
        return ()
    parsed = parse_file_name(file_name)
    return (*names_of(file_name), f"{parsed.stem}.{parsed.format}") if parsed else ()


@lru_cache(maxsize=4)
def _sections(text: str, names: tuple[tuple[str, str], ...]) -> Sequence[Section]:
    """Return the parts of a text, which the tables of a folder ask for one after another."""
    return sections_of(text, TableNames(names))


def _joined(sections: Iterator[Section]) -> str:
    return "\n\n".join(one.text for one in sections)
