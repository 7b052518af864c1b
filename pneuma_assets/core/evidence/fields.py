"""The fields in which a table's evidence is searched, and the terms of each.

Every engine indexes `entries_of` and looks up `asked_of`, so that all of them rank alike. Terms of
one field are compared with terms of the same field only, and each field has statistics of its own.
A table's score in a field is that of its best entry there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, pairwise

from pneuma_assets.core.tables import DocumentKind, Evidence
from pneuma_assets.core.text.analysis import Analyzer
from pneuma_assets.core.text.spelling import FOLDED, words_of
from pneuma_assets.core.text.stop_words import QUESTION_STOP_WORDS


class Field(StrEnum):
    """One way in which a table may show that it is meant."""

    NAMES = "names"
    """Words of the names; one entry a table."""
    GRAMS = "grams"
    """Runs of three letters of the names, for names in part or mistyped; one entry a table."""
    VALUES = "values"
    """Words of all that the rows say; one entry a table."""
    CELLS = "cells"
    """Whole cells, and pairs of words that stand side by side in one; one entry a table."""
    ROWS = "rows"
    """Words of a row; one entry a row, in the order of `Evidence.rows`."""


KIND_OF: Mapping[Field, DocumentKind] = {
    Field.NAMES: DocumentKind.NAMES,
    Field.GRAMS: DocumentKind.NAMES,
    Field.VALUES: DocumentKind.VALUES,
    Field.CELLS: DocumentKind.VALUES,
    Field.ROWS: DocumentKind.VALUES,
}
"""What a filter on kinds of documents calls each field."""

PRESENCE = frozenset({Field.GRAMS, Field.CELLS})
"""Fields in which a term counts for its rarity alone, however often it occurs in however long an
entry: BM25 with k1 = 0."""

CELL_WORDS = 8
"""A cell of more words is no name that a question would repeat as a whole."""

NAME_WORDS = 5
"""A name of more words is not looked for as a whole."""

_GRAM = 3
_MOST_GRAMS = 4_000
_MOST_WORDS = 200
"""Of a question, the runs of this many words are looked up."""
_LONGEST = 10_000
"""Characters of one cell or name that are looked at."""

_NO_SIGNS = str.maketrans("", "", ",.'\u066c\u2019&")


@dataclass(frozen=True, slots=True)
class FieldEntry:
    """What is looked through as one: its terms, repeated as often as they occur."""

    field: Field
    terms: Sequence[str]


def entries_of(evidence: Evidence, analyzer: Analyzer) -> Iterator[FieldEntry]:
    """Yield the entries of one table; fields without a term have none, but every row has one.

    No term holds a space, so joining them by spaces loses nothing.
    """
    names = (*evidence.names, *evidence.columns)
    rows = [[cell for cell in row if cell] for row in evidence.rows]
    of_rows = [analyzer.terms("\n".join(row)) for row in rows]
    words = [term for terms in of_rows for term in terms]
    single = {
        Field.NAMES: _name_terms(names, evidence.spelled, analyzer),
        Field.GRAMS: list(dict.fromkeys(gram for name in names for gram in grams_of(name)))[
            :_MOST_GRAMS
        ],
        Field.VALUES: words + analyzer.terms("\n".join(evidence.cells)),
        Field.CELLS: _cell_terms((*(cell for row in rows for cell in row), *evidence.cells)),
    }
    yield from (FieldEntry(field, terms) for field, terms in single.items() if terms)
    yield from (FieldEntry(Field.ROWS, terms) for terms in of_rows)


def asked_of(question: str, analyzer: Analyzer) -> dict[Field, list[str]]:
    """Return the terms to look up in each field for a question."""
    words = analyzer.question_terms(question)
    return {
        Field.NAMES: [*words, *_phrases_asked(question, analyzer)],
        Field.GRAMS: list(dict.fromkeys(grams_of(question)))[:_MOST_WORDS],
        Field.VALUES: words,
        Field.CELLS: _cells_asked(question),
        Field.ROWS: words,
    }


def grams_of(text: str) -> Iterator[str]:
    """Yield the runs of three letters of a name; its ends, and the signs in it, count as letters.

    Nothing but letters and digits tells names apart: `petal_length`, `petalLength` and `petal
    length` are the same one.
    """
    joined = f"^{'_'.join(name_parts(text))}$"
    if len(joined) > len("^$"):
        yield from (joined[at : at + _GRAM] for at in range(len(joined) - _GRAM + 1))


def name_parts(name: str) -> list[str]:
    """Return the parts of a name in lower case: HTTPServer_2 -> http, server, 2."""
    words = words_of(FOLDED.prepare(name[:_LONGEST]))
    return [part.casefold() for word in words for part in FOLDED.part.findall(word)]


def plain_words(text: str) -> list[str]:
    """Return a text's words in lower case, without accents and signs: 1,234 -> 1234."""
    words = words_of(FOLDED.prepare(text[:_LONGEST]))
    return [word.casefold().translate(_NO_SIGNS) for word in words]


def _name_terms(names: Iterable[str], spelled: str, analyzer: Analyzer) -> list[str]:
    """Return the words of names, and names of several words as one term each."""
    parts = [analyzer.terms(" ".join(name_parts(name))) for name in names]
    whole = (_phrase(terms) for terms in parts if len(terms) > 1)
    return [*chain.from_iterable(parts), *analyzer.terms(spelled), *whole]


def _phrases_asked(question: str, analyzer: Analyzer) -> Iterator[str]:
    terms = analyzer.terms(" ".join(name_parts(question)))[:_MOST_WORDS]
    return (_phrase(run) for length in range(2, NAME_WORDS + 1) for run in _runs(terms, length))


def _phrase(terms: Sequence[str]) -> str:
    return "=" + "_".join(terms)


def _cell_terms(cells: Iterable[str]) -> list[str]:
    """Return each different cell as one term, and the pairs of words inside longer ones."""
    found: dict[str, None] = {}
    for cell in cells:
        words = plain_words(cell)
        if 0 < len(words) <= CELL_WORDS:
            found["=" + "_".join(words)] = None
        if len(words) > len(("a", "pair")):
            found.update((f"~{a}_{b}", None) for a, b in pairwise(words))
    return list(found)


def _cells_asked(question: str) -> list[str]:
    words = plain_words(question)[:_MOST_WORDS]
    runs = (run for length in range(1, CELL_WORDS + 1) for run in _runs(words, length))
    whole = ("=" + "_".join(run) for run in runs if not QUESTION_STOP_WORDS.issuperset(run))
    pairs = (f"~{a}_{b}" for a, b in pairwise(words))
    return list(dict.fromkeys((*whole, *pairs)))


def _runs(words: Sequence[str], length: int) -> Iterator[Sequence[str]]:
    return (words[at : at + length] for at in range(len(words) - length + 1))
