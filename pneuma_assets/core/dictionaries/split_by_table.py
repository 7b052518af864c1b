"""Which parts of a text about several tables are about which: Markdown, or any plain text.

A heading that names a table is about it up to the next heading of its level; so is an item of a
list with all that stands further in, a row of a table, a sentence with those after it that name
none. What names none is of all tables.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from string import whitespace
from typing import NamedTuple

from pneuma_assets.core.dictionaries.html import NAMING
from pneuma_assets.core.dictionaries.lines import is_about_columns, without_mark
from pneuma_assets.core.terms.fields import name_parts

Tables = frozenset[str]
"""Tables by their file names; none: what is said is said of all."""

NONE: Tables = frozenset()

_QUOTED = re.compile(r"(`{1,2}|\*\*|__|[\"'\u2018\u201c])([^`*\"\n]{1,200}?)(?:\1|[\u2019\u201d])")
_PARTS = re.compile(r"\s*[|()\[\]]\s*|\s*:(?:\s+|$)|\s+(?:[-\u2013\u2014]{1,3}|=|#)\s+|\t+|\s{3,}")
_SEVERAL = re.compile(r"\s*[,;&+]\s*(?:and\s+)?|\s+and\s+")
_COMPOUND = re.compile(r"\w[_\-.]\w")
_BESIDE = frozenset(["csv", "data", "dataset", "file", "sheet", "table"])
_FILLING = _BESIDE | {"a", "an", "and", "chapter", "no", "number", "section", "set", "the"}
_LONGEST_NAME = 12


class TableNames:
    """Finds tables by their file names, with an extension or without, however they are spelled."""

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        """Take each name that a document may use, and the file that it is of."""
        self._tables: dict[tuple[str, ...], set[str]] = {}
        self._sure: set[tuple[str, ...]] = set()
        self._sizes: dict[str, set[int]] = {}
        for name, table in names:
            words = tuple(name_parts(name))
            if words and len(words) <= _LONGEST_NAME:
                self._tables.setdefault(words, set()).add(table)
                self._sizes.setdefault(words[0], set()).add(len(words))
                if _COMPOUND.search(name):
                    self._sure.add(words)

    @cached_property
    def all(self) -> Tables:
        """All tables."""
        return NONE.union(*self._tables.values())

    def inside(self, text: str) -> Tables:
        """Return what a heading names: where names lie in one another, the longest is meant."""
        return self._of(run for run, _ in self._runs(name_parts(text)))

    def heading(self, text: str) -> Tables:
        """Return what a heading or a cell is about and nothing else.

        That is its first part with words, or each of several names in it: `sales.csv: what was
        sold`, `orders and customers`, `The table sales`.
        """
        head = next((part for part in _PARTS.split(text) if name_parts(part)), "")
        named = [self._alone(one) for one in _SEVERAL.split(head)]
        return NONE.union(*named) if all(named) else NONE

    def entry(self, text: str, *, sure: bool) -> Tables:
        """Return what an item of a list is about: it begins with a name.

        With `sure`, the name must be one beyond doubt, as in the method of that name.
        """
        words = name_parts(text)
        run, at = next(self._runs(words), ((), 1))
        quoted = _QUOTED.match(text)
        begins = at == 0 and (run in self._sure or (not sure and quoted is not None))
        named = self._of([run]) if begins else NONE
        return named if sure else self.heading(text) or named

    def sure(self, text: str) -> Tables:
        """Return what prose names beyond doubt.

        The name is of several words or has its extension, it is quoted, or "table" or the like
        stands beside it. `orders` alone is a word like any other.
        """
        words = name_parts(text)
        runs = list(self._runs(words))
        sure = (run for run, at in runs if run in self._sure or _is_called(words, at, len(run)))
        quoted = (self._whole(name_parts(one[2])) for one in _QUOTED.finditer(text))
        return self._of(sure).union(*quoted)

    def _alone(self, text: str) -> Tables:
        words = name_parts(text)
        return self._whole(words) or self._whole([word for word in words if word not in _FILLING])

    def _whole(self, words: Sequence[str]) -> Tables:
        return frozenset(self._tables.get(tuple(words), ()))

    def _of(self, runs: Iterable[tuple[str, ...]]) -> Tables:
        return NONE.union(*(self._tables[run] for run in runs))

    def _runs(self, words: Sequence[str]) -> Iterator[tuple[tuple[str, ...], int]]:
        """Yield the names in a text and where they begin, none inside another."""
        at = 0
        while at < len(words):
            sizes = sorted(self._sizes.get(words[at], ()), reverse=True)
            tried = (tuple(words[at : at + size]) for size in sizes)
            run = next((one for one in tried if one in self._tables), None)
            if run is not None:
                yield run, at
            at += 1 if run is None else len(run)


def _is_called(words: Sequence[str], at: int, size: int) -> bool:
    around: Collection[str] = (*words[max(0, at - 1) : at], *words[at + size : at + size + 1])
    return not _BESIDE.isdisjoint(around)


_SEPARATOR_LINE = re.compile(r"[\s|:-]+")
_CELL = re.compile(r"(?<!\\)\|")
_FIRST = 3
"""Cells in which a table's name may stand where no header tells."""

TABLE_TITLES = frozenset([
    "table", "table name", "tables", "file", "file name", "filename", "files", "dataset",
    "dataset name", "data set", "datasets", "sheet", "relation", "entity",
])  # fmt: skip
"""What stands above the names of tables."""

_OF_COLUMNS = NAMING - {"name", "key", "property", "parameter", "header"}


def _cells(line: str) -> list[str]:
    cells = [cell.strip() for cell in _CELL.split(line.strip())]
    return cells[1 if line.lstrip().startswith("|") else 0 :]


def _is_separator(line: str) -> bool:
    """Tell whether a line parts a table's header from its rows."""
    return "|" in line and "-" in line and _SEPARATOR_LINE.fullmatch(line) is not None


_HEADING = re.compile(r" {0,3}(#{1,6})\s+(\S.*)")
_UNDERLINE = re.compile(r"([=\-~^\"'*+])\1{2,}\s*")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_TREE = re.compile(r"[\s\u2500-\u257f|]*(?:[\u2500-\u257f]|[|`+]--)[\u2500-\u257f-]*\s*")
_ALONE = re.compile(r"(?:\*\*|__|`)?[^\s:*`][^:*`]{0,100}:?(?:\*\*|__|`)?:?")
_SIGN = re.compile(r":\s+|\s+[-\u2013\u2014]{1,2}\s+|\t+|\s{3,}")
_SENTENCE = re.compile(r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bcf\.)(?<!\bvs\.)(?<=[.!?])\s+")


class Section(NamedTuple):
    """A part of a text, and the tables that it is about; none: it is about all."""

    tables: Tables
    text: str


class _Heading(NamedTuple):
    level: int
    title: str


@dataclass(slots=True)
class _Scope:
    """What the lines below a heading, a name or an item are about."""

    level: int
    tables: Tables
    about_columns: bool = False
    indented: bool = False


def sections_of(text: str, names: TableNames) -> list[Section]:
    """Return the parts of a text in order, parts side by side that are about the same as one.

    Takes time linear in the text.
    """
    found: list[tuple[Tables, list[str]]] = []
    for tables, line in _Reading(text.expandtabs(4).splitlines(), names).parts():
        of_all = NONE if tables == names.all else tables
        if found and (not line.strip() or found[-1][0] == of_all):
            found[-1][1].append(line)
        else:
            found.append((of_all, [line]))
    return [Section(tables, "\n".join(lines)) for tables, lines in found]


class _Reading:
    """Goes through the lines of a text once."""

    def __init__(self, lines: Sequence[str], names: TableNames) -> None:
        self._lines = lines
        self._names = names
        self._headings = _headings(lines)
        first = next(iter(self._headings.values()), None)
        levels = [one.level for one in self._headings.values()]
        self._title = first if first and levels.count(min(levels)) == 1 == min(levels) else None
        self._above: list[_Scope] = []
        self._name: _Scope | None = None  # a line with nothing but a name, and its indent
        self._item: _Scope | None = None  # the item that lines further in belong to
        self._prose: list[str] = []
        self._blank = True

    def parts(self) -> Iterator[tuple[Tables, str]]:
        """Yield each line, or sentence, with what it is about."""
        lines = self._lines
        at = 0
        while at < len(lines):
            line, begin = lines[at], at
            at += 1
            if "|" in line and at < len(lines) and _is_separator(lines[at]):
                at = next((n for n in range(at, len(lines)) if "|" not in lines[n]), len(lines))
                yield from self._sentences()
                yield from self._rows(lines[begin:at])
            elif begin in self._headings:
                yield from self._sentences()
                self._open(self._headings[begin])
                yield self._tables, line
            elif line.strip():
                yield from self._line(line)
            else:
                yield from self._sentences()
                yield NONE, ""
            self._blank = not line.strip()
        yield from self._sentences()

    def _rows(self, lines: Sequence[str]) -> Iterator[tuple[Tables, str]]:
        """Yield the rows of a table; its header goes with the first row about anything."""
        header, separator, *rows = lines
        titles = [" ".join(name_parts(cell)) for cell in _cells(header)]
        column = next((at for at, title in enumerate(titles) if title in TABLE_TITLES), None)
        sure = self._sure or not _OF_COLUMNS.isdisjoint(titles)
        read = self._names.sure if sure else self._names.heading
        around = tables = self._tables
        seen: set[Tables] = set()
        for row in rows:
            cells = _cells(row)
            if column is None:
                tables = next(filter(None, map(read, cells[:_FIRST])), around)
            elif name := "".join(cells[column : column + 1]):  # else that of the row above
                tables = self._names.heading(name) or self._names.sure(name) or around
            if tables not in seen:
                seen.add(tables)
                yield from ((tables, line) for line in ("", header, separator))
            yield tables, row
        if not rows:
            yield around, header

    @property
    def _tables(self) -> Tables:
        if self._name is not None:
            return self._name.tables
        return self._above[-1].tables if self._above else NONE

    @property
    def _sure(self) -> bool:
        """Whether a word that is a table's name may be a column's here."""
        return bool(self._tables) or (bool(self._above) and self._above[-1].about_columns)

    def _open(self, heading: _Heading) -> None:
        """Let a heading hold; the only one of its level is the title of all, and may have words."""
        self._name = self._item = None
        while self._above and self._above[-1].level >= heading.level:
            self._above.pop()
        read = self._names.heading if heading is self._title else self._names.inside
        tables = read(heading.title) or self._tables
        self._above.append(_Scope(heading.level, tables, is_about_columns(heading.title)))

    def _line(self, line: str) -> Iterator[tuple[Tables, str]]:
        indent = len(line) - len(line.lstrip())
        if self._item is not None and indent > self._item.level:
            yield self._item.tables, line
            return
        drawn = _TREE.match(line)
        marked, body = (True, line[drawn.end() :]) if drawn else without_mark(line.strip())
        self._leave_name(indent)
        if not marked and not self._prose and (alone := self._named_alone(body)):
            self._item, self._name = None, _Scope(indent, alone)
            yield alone, line
        elif named := self._entry(body, marked=marked):
            yield from self._sentences()
            self._item = _Scope(indent, named)
            yield named, line
        elif self._item is not None and not marked and not self._blank:
            yield self._item.tables, line
        else:
            yield from self._sentences() if marked else ()
            self._item = None
            self._prose.append(line)

    def _named_alone(self, body: str) -> Tables:
        """Return what a line names that has no other word."""
        return self._names.heading(body) if _ALONE.fullmatch(body) else NONE

    def _entry(self, body: str, *, marked: bool) -> Tables:
        """Return what an entry is about; without a mark, it has a sign between name and text."""
        if marked:
            return self._names.entry(body, sure=self._sure)
        begin, *rest = _SIGN.split(body, maxsplit=1)
        named = self._names.heading(begin) if rest else NONE
        return named if not self._sure or named == self._names.sure(begin) else NONE

    def _leave_name(self, indent: int) -> None:
        """End what a name alone began: where the lines below it stood further in, at its margin."""
        if self._name is None:
            return
        if indent > self._name.level:
            self._name.indented = True
        elif self._name.indented:
            self._name = None

    def _sentences(self) -> Iterator[tuple[Tables, str]]:
        """Yield the paragraph so far; below a name it is about that, else each sentence tells."""
        text, self._prose = "\n".join(self._prose), []
        named = NONE
        for sentence in (
            _SENTENCE.split(text) if text and not self._tables else filter(None, [text])
        ):
            named = self._tables or self._names.sure(sentence) or named
            yield named, sentence


def _headings(lines: Sequence[str]) -> Mapping[int, _Heading]:
    """Return the headings of a text by their lines; levels of underlines are as they come."""
    found: dict[int, _Heading] = {}
    signs: list[str] = []
    fenced = False
    for at, line in enumerate(lines):
        fenced ^= _FENCE.match(line) is not None
        if fenced or not line.strip():
            continue
        if heading := _HEADING.fullmatch(line):
            found[at] = _Heading(len(heading[1]), heading[2].rstrip(f"{whitespace}#"))
        elif at and lines[at - 1].strip() and at - 1 not in found and _UNDERLINE.fullmatch(line):
            if line[0] not in signs:
                signs.append(line[0])
            found[at - 1] = _Heading(1 + signs.index(line[0]), lines[at - 1])
    return found
