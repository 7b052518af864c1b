"""What the name of one column says, and what its cells are."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pneuma_assets.core.answers.tables import AnswerColumn, AnswerTable
from pneuma_assets.core.answers.templates.cells import are_amounts, number_rows, tell_apart
from pneuma_assets.core.evidence.fields import name_parts
from pneuma_assets.core.evidence.typed import unglued
from pneuma_assets.core.joins.types import kind_of as joins_kind
from pneuma_assets.core.text.abbreviations import ABBREVIATIONS
from pneuma_assets.core.text.analysis import Analyzer

COUNTING = frozenset({"num", "number", "count", "cnt", "nbr", "qty", "quantity", "total"})
"""Words by which a column's name says that it counts something."""
NAMING = ("name", "title", "label", "number", "code", "id")
"""By which of its columns people know a row: the earlier before the later."""
KEYS = frozenset({"id", "key", "code", "uuid", "guid", "oid", "ref", "sku", "isbn", "fips", "zip"})
LOOKED_AT = 50
"""Rows whose cells tell of their columns: whether rows are told apart, say."""

_GLUED = {"id", "name", "date", "time", "code", "num", "number", "title", "by", "count", "year"}
_EMPTY = frozenset({"has", "have", "had", "is", "are", "was", "do", "does"})
_CALENDAR = frozenset({"year", "month", "day", "date", "quarter", "week"})
_LONGEST = 200
_SHORTEST_GLUED, _SHORTEST_WORD = 6, 3
_DAYS = re.compile(r"(?:small)?date|timestamp", re.IGNORECASE)


class Kind(StrEnum):
    """What the cells of a column are: a time is one of a day, or how long something takes."""

    NUMBER = "number"
    DATE = "date"
    TIME = "time"
    TRUTH = "truth"
    TEXT = "text"


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A column of one table of the set.

    Attributes:
        table: The table's place in the set.
        name: As the table has it.
        kind: What its cells are.
        parts: The words of its name.
        stems: Those that tell it from others.
        spelled: Likewise of the name spelt out, where its words are cut short.
        of_table: Stems that only repeat its table's name, or say that it is a name or a number.
        said: Stems of what is said of it, beyond its name.
        is_key: Whether it names rows and measures nothing.
        unique: Whether it tells all rows apart that are known.
        amounts: Whether it is a text whose cells are numbers in writing.
        matched: How well it is known to be meant, from 0 to 1.
    """

    table: int
    name: str
    kind: Kind
    parts: tuple[str, ...]
    stems: frozenset[str]
    spelled: frozenset[str]
    of_table: frozenset[str]
    said: frozenset[str]
    is_key: bool
    unique: bool
    amounts: bool = False
    matched: float = 0.0


class FieldMaker:
    """Makes the fields of one table; what its names are glued of is looked up once a part."""

    def __init__(self, table: AnswerTable, said: Iterable[str], analyzer: Analyzer) -> None:
        spelled = f"{table.evidence.spelled_columns} {table.evidence.spelled_names}".split()
        self._table = table
        self._analyzer = analyzer
        self._words = {*said, *_GLUED, *spelled}
        self._split: dict[str, Sequence[str]] = {}
        self._places = {name: place for place, name in enumerate(table.evidence.columns)}
        self._light = self._stems({*NAMING, *KEYS, *COUNTING})
        self.parts = tuple(self._parts(table.read.name))
        self.own = self._stems(self.parts)

    def field(self, place: int, column: AnswerColumn) -> Field:
        """Return a column of the table, whose place in the set is given."""
        parts = self._parts(column.name)
        bare = [part for part in parts if part not in _EMPTY] or list(parts)
        if len(parts) > 1 and COUNTING.intersection(parts):
            bare.append("number")
        stems = self._stems(bare)
        repeated = self.own if self.own <= stems else frozenset()
        telling = stems - self._light - repeated or stems - repeated or stems
        spelled = self._spelled(column, parts, bare) - self._light - repeated
        kind, cells = kind_of(column.type), self._cells(column.name)
        numbers = kind is Kind.NUMBER and self._places.get(column.name) == 0
        return Field(
            place,
            column.name,
            kind,
            tuple(parts),
            telling,
            spelled or telling,
            stems - telling,
            self._stems([column.said[:_LONGEST]]) - stems - self.own,
            _is_key(parts) or (numbers and number_rows(parts, cells)),
            tell_apart(cells),
            kind is Kind.TEXT and are_amounts(cells),
            self._table.matched.get(column.name, 0.0),
        )

    def _stems(self, words: Iterable[str]) -> frozenset[str]:
        return frozenset(self._analyzer.terms(" ".join(words)))

    def _parts(self, name: str) -> list[str]:
        """Return the words of a name, those apart that it is glued of."""
        return [word for part in name_parts(name[:_LONGEST]) for word in self._words_of(part)]

    def _words_of(self, part: str) -> Sequence[str]:
        """Split a part, also one that is said as it is, if none of its words is short."""
        if part not in self._split:
            split = unglued([part], self._words)
            if part in self._words and len(part) >= _SHORTEST_GLUED:
                split = unglued([part], self._words - {part})
                split = split if min(map(len, split)) >= _SHORTEST_WORD else [part]
            self._split[part] = split
        return self._split[part]

    def _spelled(
        self, column: AnswerColumn, parts: Sequence[str], bare: Sequence[str]
    ) -> frozenset[str]:
        """Return the stems of a name that is spelt otherwise: abbreviations, `key phrase`."""
        if len(parts) > len(name_parts(column.name[:_LONGEST])):
            light = {*NAMING, *KEYS, *COUNTING}
            glued = self._stems(["".join(part for part in bare if part not in light)])
            return glued or self._stems(bare)
        return self._stems(ABBREVIATIONS.get(part, part) for part in bare)

    def _cells(self, column: str) -> list[str | None]:
        """Return a column's cells of the first rows that are kept."""
        place = self._places.get(column)
        if place is None:
            return []
        rows = self._table.evidence.rows[:LOOKED_AT]
        return [row[place] for row in rows if place < len(row)]


def is_when(one: Field) -> bool:
    """Tell whether a column says when something was: a day, a time, a year."""
    return one.kind in {Kind.DATE, Kind.TIME} or not _CALENDAR.isdisjoint(one.parts)


def kind_of(type_name: str) -> Kind:
    """Return what the cells of a column are, by its type as its source spells it."""
    kind = joins_kind(type_name)
    if kind == "time":
        return Kind.DATE if _DAYS.match(type_name.strip()) else Kind.TIME
    return {"number": Kind.NUMBER, "truth": Kind.TRUTH}.get(kind or "", Kind.TEXT)


def _is_key(parts: Sequence[str]) -> bool:
    last = parts[-1] if parts else ""
    return last in KEYS or (len(parts) == 1 and re.fullmatch(r"[a-z]{1,2}id", last) is not None)
