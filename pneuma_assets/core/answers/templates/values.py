"""Which words of a question are whole cells, and where these lie."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from pneuma_assets.core.answers.tables import AnswerSet
from pneuma_assets.core.answers.templates import vocabulary as say
from pneuma_assets.core.answers.templates.fields import Field
from pneuma_assets.core.answers.templates.names import Names
from pneuma_assets.core.answers.templates.words import Word, sign_of
from pneuma_assets.core.evidence.fields import CELL_WORDS, cell_term
from pneuma_assets.core.text.stop_words import QUESTION_STOP_WORDS

MOST_CELLS = 60_000
"""Cells of a set of tables that are compared with a question, those of the first rows."""
_SHORTEST_NUMBER = 3
"""Digits of a number that may be a cell by itself: 5 is one of too many."""
_BEGINNING = 3
"""Letters by which most cells are told from what is looked for."""


@dataclass(frozen=True, slots=True)
class Place:
    """A column with a cell, as that is stored; the column is None where only the table is known."""

    table: int
    field: Field | None
    stored: str


@dataclass(frozen=True, slots=True, eq=False)
class ValueSpan:
    """Words that are a whole cell, and where."""

    start: int
    stop: int
    places: tuple[Place, ...]


def values_in(
    words: Sequence[Word], tables: AnswerSet, names: Names, named: frozenset[int] = frozenset()
) -> tuple[list[ValueSpan], list[ValueSpan]]:
    """Return the longest runs of words that are whole cells, none within another, in order.

    Then those that are, but of little words alone, as `us` is of a country.

    Args:
        words: Of a question.
        tables: Whose cells.
        names: Of these.
        named: Places of little words that are written as names: cells like others.
    """
    runs = {
        (start, start + length): "_".join(word.text for word in words[start : start + length])
        for length in range(1, CELL_WORDS + 1)
        for start in range(len(words) - length + 1)
        if len({word.quoted for word in words[start : start + length]}) == 1
    }
    held = _held(tables, names, set(runs.values()))
    taken: set[int] = set()
    found, little = [], []
    for (start, stop), term in sorted(runs.items(), key=lambda one: one[0][0] - one[0][1]):
        if term not in held or not taken.isdisjoint(range(start, stop)):
            continue
        meant = _meant(held[term], words[stop - 1].sign)
        span = ValueSpan(start, stop, tuple(meant or held[term]))
        if not meant:
            little.append(span)
        elif named.issuperset(range(start, stop)) or _may_be_value(words[start:stop]):
            taken.update(range(start, stop))
            found.append(span)
        elif all(map(is_little, words[start:stop])):
            little.append(span)
    return sorted(found, key=lambda one: one.start), little


def _meant(places: Sequence[Place], sign: str) -> list[Place]:
    """Return the cells with these signs behind them; without signs, those that alone are called so.

    `O-` is no `O+`, and `O` none of both where both are there.
    """
    signs = [sign_of(place.stored) for place in places]
    same = [place for place, one in zip(places, signs, strict=True) if one == sign]
    return list(places) if not (same or sign) and len(set(signs)) == 1 else same


def _may_be_value(run: Sequence[Word]) -> bool:
    first = run[0]
    if all(map(is_little, run)) and not all(word.glued for word in run):
        return first.quoted or (len(first.text) == 1 and first.capital and first.text not in "i")
    if len(run) == 1 and first.number:
        return first.quoted or len(first.text) >= _SHORTEST_NUMBER
    return len(first.text) > 1 or len(run) > 1 or first.quoted or first.capital


def is_little(word: Word) -> bool:
    """Tell whether a word is no value by itself."""
    return word.text in QUESTION_STOP_WORDS or word.text in say.LITTLE


def _held(tables: AnswerSet, names: Names, terms: set[str]) -> dict[str, list[Place]]:
    """Return where these terms are whole cells, of each column the first spelling of each sign.

    Cells of rows come first, whose columns are known; of others only the table is.
    """
    found: dict[str, dict[tuple[int, str, str], Place]] = {term: {} for term in terms}
    longest = 2 * max(map(len, terms), default=0) + 10
    cells = chain(_cells_of_rows(tables, names), _other_cells(tables))
    known: dict[str, str | None] = {}
    begin = {term[:_BEGINNING] for term in terms}
    for place in islice(cells, MOST_CELLS):
        cell = place.stored
        first = cell[:_BEGINNING]
        plain = len(first) == _BEGINNING and first.isalnum() and first.isascii()
        if len(cell) > longest or (plain and first.lower() not in begin):
            continue  # Its term begins with the same letters, and no wanted one does.
        if cell not in known:
            known[cell] = cell_term(cell)
        held = found.get(known[cell] or "")
        if held is None:
            continue
        sign = sign_of(cell)
        if place.field is not None:
            held.setdefault((place.table, place.field.name, sign), place)
        elif all((table, of) != (place.table, sign) for table, _, of in held):
            held[place.table, "", sign] = place
    return {term: list(places.values()) for term, places in found.items() if places}


def _cells_of_rows(tables: AnswerSet, names: Names) -> Iterator[Place]:
    for place, table in enumerate(tables.tables):
        fields = {one.name: one for one in names.tables[place].fields}
        columns = [fields.get(name) for name in table.evidence.columns]
        for row in table.evidence.rows:
            for field, cell in zip(columns, row, strict=False):
                if cell and field is not None:
                    yield Place(place, field, cell)


def _other_cells(tables: AnswerSet) -> Iterator[Place]:
    for place, table in enumerate(tables.tables):
        yield from (Place(place, None, cell) for cell in table.evidence.cells)
