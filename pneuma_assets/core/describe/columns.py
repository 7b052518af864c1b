"""Descriptions of columns: which one is shown and indexed, and what names and values show.

Of all that could be said from a table itself, these bring a column's name nearer to what people
write about it: the words that short and glued names stand for, and the few values that a column
has. Between which numbers or dates all of its values lie is shown and not indexed, as it hides
tables from questions; examples of long texts and types do no good either (docs/descriptions.md).
The name's own words are no description.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import isfinite

from pneuma_assets.core.describe.documented import comments_of, documented_descriptions
from pneuma_assets.core.describe.texts import GUESSED, SPELT, spelt_out
from pneuma_assets.core.dictionaries.html import lists_in_markdown
from pneuma_assets.core.dictionaries.lines import Glossary
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.tables import MISSING, Column, Description, Provenance, Table
from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.terms.split_names import is_left_short, shared_prefix
from pneuma_assets.core.text.safe import one_line
from pneuma_assets.core.text.units import unit_of_cells, unit_of_name

Known = Mapping[int, Mapping[Provenance, Description]]
"""The descriptions of columns, by position and provenance."""

WRITTEN = (Provenance.CORRECTION, Provenance.PERSON, Provenance.DOCUMENT)
"""What people wrote; where there is any, nothing else is shown and no model is asked."""

DESCRIBING_VERSION = "6"
"""Raised when the same table is described otherwise, so that all tables are made anew."""


def read_descriptions(
    table: Table, glossaries: Sequence[Glossary], rows: Sequence[Row] = ()
) -> list[tuple[int, Description]]:
    """Return all that a table and the documents beside it say of its columns, without a model.

    `rows` are those gathered of it (`terms.collect`), all if it has few; none where only its names
    are known yet.
    """
    facts = fact_descriptions(table, rows, all_rows=len(rows) >= table.row_count)
    found = comments_of(table), documented_descriptions(table, glossaries), facts
    return [one for described in found for one in described.items()]


def added_descriptions(table: Table, contexts: Iterable[tuple[str, str]]) -> dict[int, Description]:
    """Return what lists in contexts that people added, each a name and a text, say of columns."""
    glossaries: list[Glossary] = []
    for name, text in contexts:
        try:
            glossaries += [replace(one, document=name) for one in lists_in_markdown(text)]
        except (ValueError, RecursionError):
            continue  # it is searched as text all the same
    return documented_descriptions(table, glossaries, Provenance.PERSON)


def best_descriptions(known: Known, models: Mapping[int, Description]) -> dict[int, Description]:
    """Return the description to show of each column: people's, else the model's, else facts.

    A correction without a text rejects what documents, models and facts say: only what people wrote
    in the table itself, or added to it, is shown then.

    `models` is what a model said.
    """
    orders = (*WRITTEN, Provenance.MODEL, Provenance.PROFILE)
    best: dict[int, Description] = {}
    for position in sorted({*known, *models}):
        said = dict(known.get(position, {}))
        if position in models:
            said[Provenance.MODEL] = models[position]
        rejected = Provenance.CORRECTION in said and not said[Provenance.CORRECTION].text
        allowed = (Provenance.PERSON,) if rejected else orders
        one = next((said[order] for order in allowed if order in said), None)
        if one is not None:
            best[position] = one
    return best


def is_written(known: Known, position: int) -> bool:
    """Tell whether people described a column, or want nobody else to."""
    return any(order in known.get(position, {}) for order in WRITTEN)


MOST_LEVELS = 8
"""Different values of a column that has few."""

SOURCE = "the column's name and values"

SEEN, SAMPLED = 1.0, 0.9
"""Confidence: values of all rows; of some of them."""

_LEVEL_CHARACTERS = 30
_NO_VALUES = frozenset(map(str.casefold, MISSING))
_OF_WORDS = frozenset({"tsvector", "tsquery"})
_WHOLE_NUMBERS = r"U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?\b"
_CODES = re.compile(_WHOLE_NUMBERS)
_NUMBERS = re.compile(rf"{_WHOLE_NUMBERS}|DECIMAL|NUMERIC|FLOAT|REAL|DOUBLE")
_DATES = re.compile("DATE|TIMESTAMP")


def fact_descriptions(
    table: Table, rows: Sequence[Row], *, all_rows: bool
) -> dict[int, Description]:
    """Return what names and values show of columns, by position; of many columns nothing.

    The rows are drawn uniformly; unless these are all that the table has, its values are examples.
    """
    found: dict[int, Description] = {}
    prefix = shared_prefix([name_parts(column.name) for column in table.columns])
    for position, column in enumerate(table.columns):
        given = _given([row[position] for row in rows])
        measured = all(_number(one) is not None for one in given)
        words, confidence = _said_by_name(column.name, prefix, measured=measured)
        if column.type in _OF_WORDS:  # of which `ts` is short for text search
            words, confidence = "", SPELT
        unit = "" if " in " in words else unit_of_cells(given)
        levels = _levels(column, given)
        whole = all_rows and (len(given) == len(rows) or not levels)
        values = _range(column, given) if whole and not levels else ""
        if levels:
            values = _said(levels, whole=whole, all_rows=all_rows)
        if text := "; ".join(filter(None, [words, unit and f"in {unit}", values])):
            sure = min(confidence, SEEN if whole or not (levels or unit) else SAMPLED)
            found[position] = Description(text, Provenance.PROFILE, SOURCE, sure)
    return found


def _said_by_name(name: str, prefix: str, *, measured: bool) -> tuple[str, float]:
    """Return what a name stands for, its unit in words, and how sure that is; never its own words.

    Nobody is told by `petal length` what `petal_length` is, nor by `user identifier` what
    `userid` is, nor by `warehouse cd` what `whse_cd` is. `measured`: all values are numbers.
    """
    rest, unit = unit_of_name(name) if measured else (name, "")
    words, confidence = spelt_out(rest, prefix)
    own = name_parts(one_line(rest))
    said = words.split() or own
    if any(map(is_left_short, {*own} & {*said})):
        return f"in {unit}" if unit else "", SPELT
    if unit:
        return f"{' '.join(said)} in {unit}".strip(), confidence
    known = "".join("id" if word == "identifier" else word for word in words.split())
    is_new = confidence == GUESSED and known != "".join(name_parts(name))
    return (words, confidence) if is_new else ("", SPELT)


def _given(cells: Iterable[object]) -> list[str]:
    """Return the texts of cells that hold a value, not a word for none.

    Where all other values look like that word it is one of them: of the country codes `DE`, `FR`
    and `NA` the last is Namibia's.
    """
    texts = [str(cell) for cell in cells if cell is not None and str(cell).strip()]
    sure = [text for text in texts if text.casefold() not in _NO_VALUES]
    if len(sure) == len(texts):
        return texts
    shapes = set(map(_shape, sure))
    return [text for text in texts if text.casefold() not in _NO_VALUES or shapes == {_shape(text)}]


def _shape(text: str) -> str:
    """Return how a text looks: `NA` and `DE` alike, `female` and `n/a` otherwise."""
    return "".join("A" if sign.isupper() else "a" if sign.isalpha() else sign for sign in text)


def _levels(column: Column, given: Sequence[str]) -> list[str]:
    """Return the values of a column that has few, in order; none of a measure or a long text."""
    kind = column.type.upper()
    if _NUMBERS.match(kind) and not _CODES.match(kind):
        return []
    counted = Counter(given)
    fewest = 2 if _CODES.match(kind) else 1  # of counts, drawn rows may all have none
    few = fewest <= len(counted) <= MOST_LEVELS and counted.total() >= 2 * len(counted)
    if not few or max(map(len, counted)) > _LEVEL_CHARACTERS:
        return []
    return sorted(map(one_line, counted), key=lambda level: (_number(level) or 0.0, level))


def _range(column: Column, given: Sequence[str]) -> str:
    """Return between which numbers or dates all values lie; nothing of one alone, or of others."""
    kind = column.type.upper()
    if _NUMBERS.match(kind):
        ordered = sorted({text for text in given if _number(text) is not None}, key=float)
    else:
        ordered = sorted(set(given)) if _DATES.match(kind) else []
    if len(ordered) < 2 or max(map(len, ordered)) > _LEVEL_CHARACTERS:
        return ""
    return f"from {one_line(ordered[0])} to {one_line(ordered[-1])}"


_RANGE = re.compile(r"(?:^|; )from [-+.:\de ]+ to [-+.:\de ]+$")


def searched_text(description: Description) -> str:
    """Return what is indexed of a description: all but the range of a column's values."""
    if description.provenance is not Provenance.PROFILE:
        return description.text
    return _RANGE.sub("", description.text)


def _number(text: str) -> float | None:
    """Return the number that a text is; None where it is none, or not finite."""
    with suppress(ValueError):
        return number if isfinite(number := float(text)) else None
    return None


def _said(levels: Sequence[str], *, whole: bool, all_rows: bool) -> str:
    """Return values in words; in quotes where they hold what stands between them.

    `whole`: all rows were seen, and have one; `all_rows`: they were seen.
    """
    if any(sign in level for level in levels for sign in ",;"):
        levels = [f'"{level}"' for level in levels]
    if len(levels) == 1 and all_rows:
        return f"always {levels[0]}" if whole else f"{levels[0]} where known"
    return f"{'one of' if whole else 'such as'} {', '.join(levels)}"
