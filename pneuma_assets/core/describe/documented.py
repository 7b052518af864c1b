"""Which columns the lists in documents describe; what people wrote is taken word for word."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from pneuma_assets.core.dictionaries.lines import TEXT_CHARACTERS, Cells, Glossary, says_something
from pneuma_assets.core.tables import Column, Description, Provenance, Table
from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.text.analysis import ENGLISH_STOP_WORDS
from pneuma_assets.core.text.safe import one_line

EXACT, FOLDED, SHARED = 1.0, 0.9, 0.8
"""Confidence: the document writes the name as the table does; but for case and signs; or says one
thing of several columns at once."""

_LOOKED_AT = 3
"""Cells of a row in which the name may stand: a number, or a mark, may stand before it."""

_TEXT_CELLS = 10
"""Cells after the name in which its text may stand."""

_SOME, _MOST = 3, 2
_METADATA = frozenset({
    "author", "authors", "contact", "created", "creator", "date", "email", "id", "keywords",
    "language", "license", "licence", "name", "publisher", "source", "status", "title", "type",
    "updated", "url", "version", "year",
})  # fmt: skip
"""What lists say of a whole dataset, in lower case; also names of columns."""

_PARTS = re.compile(r"\s*(?:[,;/&]|\band\b|\bor\b)\s*")
_RUN = re.compile(r"(\D{0,60}?)(\d{1,5})\s*(?:-|\u2013|\u2026|\.{2,3}|:|to)\s*(\D{0,60}?)(\d{1,5})")
_AROUND = " \t`\"'\u2018\u2019\u201c\u201d*:"
_LONGEST_RUN = 500
_NAMES_CHARACTERS = 2_000

_IN_RUNS = 10_000
"""Names that runs such as `x1-x9` stand for in all documents of a table, and ten a column more:
a cell of `1-499,1-499,...` would otherwise cost seconds."""


def comments_of(table: Table) -> dict[int, Description]:
    """Return what the database's own comments say of columns, by position."""
    said = {
        position: one_line(column.comment, TEXT_CHARACTERS)
        for position, column in enumerate(table.columns)
    }
    return {
        position: Description(text, Provenance.PERSON, "the column's comment", EXACT)
        for position, text in said.items()
        if says_something(text)
    }


def documented_descriptions(
    table: Table, glossaries: Sequence[Glossary], provenance: Provenance = Provenance.DOCUMENT
) -> dict[int, Description]:
    """Return what lists in documents say of a table's columns, by position.

    A list whose header or heading says that it is about columns counts if half of its entries
    name columns, or if those it names are half of the table's; of any other, only one that names
    at least three columns, and half of the table's. A colon in prose, the list of a factor's
    levels, and what is said of the dataset do none of these. Where two lists describe a column,
    the one that describes more columns is believed.
    """
    names = _Names(table.columns)
    told = [found for one in glossaries if (found := _read(one, names, provenance))]
    best: dict[int, Description] = {}
    for one in sorted(told, key=len, reverse=True):
        for position, description in one.items():
            if not _repeats(names.named[position], description.text):
                best.setdefault(position, description)
    return best


def _repeats(name: str, text: str) -> bool:
    """Tell whether a text says no more than the name, as `the GNP` does of `gnp`."""
    words = frozenset(name_parts(text))
    return bool(words) and (words - ENGLISH_STOP_WORDS).issubset(name_parts(name))


def _read(
    glossary: Glossary, names: "_Names", provenance: Provenance
) -> dict[int, Description] | None:
    """Return what a list tells by position, its names taken from those cells that name most."""
    if names.named_in(glossary.header) > 1:
        return None  # example rows below a header of their own
    tries = [_read_at(at, glossary, names, provenance) for at in range(_LOOKED_AT)]
    best = _without_metadata(max(tries, key=len), glossary, names)
    found = len(best)
    half_of_list = found * _MOST >= len(glossary.rows)
    most_of_table = found >= _SOME and found * _MOST >= names.count
    small = glossary.about_columns or (names.count < _SOME and found == names.count)
    return best if found and (most_of_table or (small and half_of_list)) else None


def _without_metadata(
    told: dict[int, Description], glossary: Glossary, names: "_Names"
) -> dict[int, Description]:
    """Return what a list tells without what is said of the dataset rather than of columns.

    Where a list names few columns of a table, or nothing else, `author` and `date` are those of
    the dataset.
    """
    others = {
        position: description
        for position, description in told.items()
        if names.named[position].strip().lower() not in _METADATA
    }
    few = len(told) * _MOST < names.count
    return others if few or (not others and not glossary.about_columns) else told


def _read_at(
    at: int, glossary: Glossary, names: "_Names", provenance: Provenance
) -> dict[int, Description]:
    columns: dict[int, Description] = {}
    sure: dict[int, float] = {}
    told = _column_of_texts(glossary.rows, at)
    for row in glossary.rows:
        text = _text(row, told)
        if not text or names.named_in(row) > 1:
            continue
        for position, confidence in names.find(row[at]):
            if confidence > sure.get(position, 0.0):
                columns[position] = Description(text, provenance, glossary.document, confidence)
                sure[position] = confidence
    return columns


def _column_of_texts(rows: Sequence[Cells], at: int) -> int:
    """Return which cell, of those after the name, holds most text: not the one of types."""
    sizes: Counter[int] = Counter()
    for row in rows:
        for place, cell in enumerate(row[at + 1 : at + 1 + _TEXT_CELLS], at + 1):
            sizes[place] += len(cell[:TEXT_CHARACTERS]) if says_something(cell) else 0
    return max(sizes, key=lambda place: (sizes[place], -place), default=at + 1)


def _text(row: Cells, at: int) -> str:
    text = one_line(row[at], TEXT_CHARACTERS) if at < len(row) else ""
    return text if says_something(text) else ""


class _Names:
    """Finds columns by what a document calls them."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.named = [column.name for column in columns]
        self.count = len(columns)
        self._in_runs = _IN_RUNS + 10 * self.count
        self._exact = _unique([column.name for column in columns])
        self._folded = _unique([_fold(column.name) for column in columns])

    def find(self, said: str) -> list[tuple[int, float]]:
        """Return the columns that a cell names, each with the confidence that they are meant."""
        said = said[:_NAMES_CHARACTERS].strip()
        whole = self._one(said, said.strip(_AROUND), _bare(said))
        if whole:
            return [whole]
        found = dict(hit for name in self._several(said) if (hit := self._one(name.strip(_AROUND))))
        shared = SHARED if len(found) > 1 else EXACT
        return [(position, confidence * shared) for position, confidence in found.items()]

    def named_in(self, cells: Cells) -> int:
        """Return how many different columns cells name, each as a whole."""
        found = (self._one(cell.strip(), cell.strip().strip(_AROUND)) for cell in cells[:100])
        return len({hit[0] for hit in found if hit})

    def _one(self, *spellings: str) -> tuple[int, float] | None:
        """Return the column that one of these is the name of, those as written first."""
        for known, key, confidence in ((self._exact, str, EXACT), (self._folded, _fold, FOLDED)):
            for name in map(key, spellings):
                if name in known:
                    return known[name], confidence
        return None

    def _several(self, said: str) -> Iterator[str]:
        """Yield the names in `x, y and z`, and those of runs such as `x1-x9`."""
        for part in _PARTS.split(said):
            run = _RUN.fullmatch(part.strip(_AROUND))
            names = _of_run(run) if run else None
            if names is None:
                yield part
            elif len(names) <= self._in_runs:
                self._in_runs -= len(names)
                yield from names


def _bare(said: str) -> str:
    """Return a name without what is said of its type: `age (integer)`."""
    return said.partition("(")[0].strip(_AROUND)


def _of_run(run: re.Match[str]) -> list[str] | None:
    """Return the names from the first to the last, None if these are no run."""
    first, last = int(run[2]), int(run[4])
    if run[3] not in ("", run[1]) or not 0 < last - first < _LONGEST_RUN:
        return None
    width = len(run[2]) if run[2].startswith("0") else 0
    return [f"{run[1]}{n:0{width}}" for n in range(first, last + 1)]


def _fold(name: str) -> str:
    return "".join(name_parts(name))


def _unique(names: Sequence[str]) -> dict[str, int]:
    """Return the position of each name that only one column has."""
    places: dict[str, int] = {}
    twice = set()
    for position, name in enumerate(names):
        if places.setdefault(name, position) != position:
            twice.add(name)
    return {name: position for name, position in places.items() if name and name not in twice}
