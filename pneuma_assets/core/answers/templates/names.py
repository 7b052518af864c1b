"""The names of a set of tables, as the words of a question meet them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from pneuma_assets.core.answers.tables import AnswerColumn, AnswerSet
from pneuma_assets.core.answers.templates.fields import (
    COUNTING,
    NAMING,
    Field,
    FieldMaker,
    Kind,
)
from pneuma_assets.core.answers.templates.words import Word
from pneuma_assets.core.evidence.fields import name_parts
from pneuma_assets.core.joins.words import singular
from pneuma_assets.core.text.analysis import Analyzer
from pneuma_assets.core.text.stop_words import QUESTION_STOP_WORDS

MOST_COLUMNS = 2_000
"""Of a set of tables, so many columns are looked at, those of the first tables first."""
MOST_ALIKE = 100
"""Columns with one word in their names that are looked at when a question says it."""
_MOST_SAID = 2
"""Columns of which the same word is said, beyond which it tells none of them."""
_SHORTEST_CUT, _LONGEST_CUT = 3, 5
_WHOLE = frozenset({"full", "complete", "display", "official"})
"""Words of a name that name nothing else than what is named: `full name`."""


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """A table of the set: the stems of its name, and which columns stand for a row of it.

    Of `hidden` columns nothing but the names is known, and no statement may read them.
    """

    place: int
    stems: frozenset[str]
    fields: tuple[Field, ...]
    shown: tuple[Field, ...]
    key: Field | None
    hidden: tuple[Field, ...]


@dataclass(eq=False)
class Names:
    """The names of a set of tables.

    Attributes:
        tables: In the set's order.
        by_stem: Columns by the stems of their names.
        by_said: Columns by what is said of them, where no name has that.
    """

    tables: list[Named] = field(default_factory=list)
    by_stem: dict[str, list[Field]] = field(default_factory=dict)
    by_said: dict[str, list[Field]] = field(default_factory=dict)


def names_of(tables: AnswerSet, analyzer: Analyzer) -> Names:
    """Return the names of a set of tables."""
    found = Names()
    room = MOST_COLUMNS
    said = {part for table in tables.tables for part in name_parts(table.read.name)}
    joined = _joined(tables)
    for place, table in enumerate(tables.tables):
        maker = FieldMaker(table, said, analyzer)
        fields = tuple(maker.field(place, column) for column in table.columns[: max(0, room)])
        room -= len(fields)
        shown = _shown(fields, maker.parts)
        key = _key(fields, joined.get(table.table_id, ()))
        names = (AnswerColumn(name, "") for name in table.read.hidden[:MOST_COLUMNS])
        hidden = tuple(maker.field(place, column) for column in names)
        found.tables.append(Named(place, maker.own, fields, shown, key, hidden))
    _look_up(found)
    return found


def _look_up(names: Names) -> None:
    for one in chain.from_iterable(table.fields for table in names.tables):
        for stem in one.stems | one.spelled | one.of_table:
            alike = names.by_stem.setdefault(stem, [])
            if len(alike) < MOST_ALIKE:
                alike.append(one)
        for stem in one.said:
            names.by_said.setdefault(stem, []).append(one)
    own = {stem for table in names.tables for stem in table.stems}
    names.by_said = {
        stem: some
        for stem, some in names.by_said.items()
        if len(some) <= _MOST_SAID and stem not in names.by_stem and stem not in own
    }


def with_short(words: Sequence[Word], names: Names, analyzer: Analyzer) -> list[Word]:
    """Let a word that no name has stand for what is cut short of it: `expectancy`, `exp`."""
    shorts = {
        part
        for table in names.tables
        for one in table.fields
        for part in one.parts
        if _SHORTEST_CUT <= len(part) <= _LONGEST_CUT
    } - (QUESTION_STOP_WORDS | COUNTING)
    found = []
    for word in words:
        known = any(stem in names.by_stem or stem in names.by_said for stem in word.stems)
        cuts = (word.text[:length] for length in range(_LONGEST_CUT, _SHORTEST_CUT - 1, -1))
        cut = None if known or word.quoted else next((c for c in cuts if c in shorts), None)
        if cut is not None and len(word.text) >= len(cut) + _SHORTEST_CUT:
            found.append(replace(word, stems=(*word.stems, *analyzer.terms(cut)), short=True))
        else:
            found.append(word)
    return found


def _shown(fields: Sequence[Field], own: Iterable[str]) -> tuple[Field, ...]:
    """Return the columns by which people know a row: its name, else its first text."""
    texts = [one for one in fields if one.kind is Kind.TEXT and not one.is_key]
    person = [one for one in texts if {"first", "last"} & set(one.parts) and "name" in one.parts]
    person += [one for one in texts if one.parts in (("firstname",), ("lastname",))]
    if len(person) == 2:
        return tuple(person)
    for word in NAMING:
        named = [one for one in fields if one.parts[-1:] == (word,)]
        named = [one for one in named if _singular(one.parts[:-1]) - _WHOLE <= _singular(own)]
        if named:
            return (min(named, key=lambda one: len(one.parts)),)
    same = [one for one in texts if _singular(one.parts) <= _singular(own)]
    others = [one for one in fields if one.is_key]
    return tuple((same or texts or others or list(fields))[:1])


def _singular(parts: Iterable[str]) -> set[str]:
    return {singular(part) for part in parts}


def _key(fields: Sequence[Field], joined: Iterable[str]) -> Field | None:
    """Return the column that tells rows apart: what others refer to, else one called so."""
    keys = [one for one in fields if one.name in set(joined)]
    own = [one for one in fields if one.is_key and one.unique]
    own = [one for one in own if one.parts == ("id",) or one is fields[0]]
    return next(iter(keys or own), None)


def _joined(tables: AnswerSet) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for edge in tables.joins:
        if len(edge.other_columns) == 1:
            found.setdefault(edge.other, []).append(edge.other_columns[0])
    return found
