"""The fields in which a table is searched by its words, and the terms of each.

Every engine indexes `field_entries` and looks up `query_terms`, so that all of them rank alike.
Terms of one field are compared with terms of the same field only, and each field has statistics of
its own. A table's score in a field is that of its best entry there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import chain, pairwise

from pneuma_assets.core.tables import DocumentKind, TableTerms
from pneuma_assets.core.terms.name_terms import (
    name_terms,
    names_of_table,
    query_name_terms,
    unglued,
)
from pneuma_assets.core.text.analysis import (
    MAX_QUESTION_TERMS,
    MAX_TERMS,
    QUESTION_STOP_WORDS,
    Analyzer,
)
from pneuma_assets.core.text.tokens import FOLDED, words_of


class Field(StrEnum):
    """One way in which a table may show that it is meant."""

    NAMES = "names"
    """Words of the names of the table, and of what it lies in; one entry a table."""
    GRAMS = "grams"
    """Pieces of all names, for those that are typed in (`typed`); one entry a table."""
    VALUES = "values"
    """Words of the columns' names and of all that the rows say; one entry a table."""
    CELLS = "cells"
    """Whole cells; one entry a table."""
    PAIRS = "pairs"
    """Words that stand side by side in a cell; looked up, never scored; one entry a table."""
    ROWS = "rows"
    """Words of a row and of the first columns' names; one entry a row, in the order of
    `TableTerms.rows`, or one for the columns' names alone where there is no row."""
    HEADERS = "headers"
    """Words of the table's own name, of its columns' names and of what is written about columns,
    each with the number of words of the shortest of these that has it (`header_terms`), and how
    many columns there are; looked up, never scored; one entry a table."""


KIND_OF: Mapping[Field, DocumentKind] = {
    field: DocumentKind.VALUES
    if field in {Field.VALUES, Field.CELLS, Field.PAIRS, Field.ROWS}
    else DocumentKind.NAMES
    for field in Field
}
"""What a filter on kinds of documents calls each field."""

PRESENCE = frozenset({Field.GRAMS, Field.CELLS, Field.ROWS, Field.HEADERS})
"""Fields in which a term counts for its rarity alone, however often it occurs in however long an
entry: BM25 with k1 = 0."""

CELL_WORDS = 8
"""A cell of more words is no name that a question would repeat as a whole."""

NAME_WORDS = 5
"""A name of more words is not looked for as a whole."""

TERM_RULES = 4
"""Raised with every change of the terms that `field_entries` returns for the same evidence: engines
keep it beside the terms, and make them anew where it differs."""

HEADERS_IN_ROWS = 500
"""Terms of columns' names that each row repeats; all of them stand with the values once."""

_MOST_WORDS = 200
"""Of a question, the runs of this many words are looked up."""

_HEADER_WORDS = (1, 2, 3, 4, 8, 16)
"""Numbers of words of a name or description that are told apart; a longer one has the last."""
_NAME_AT_MOST = 4
"""Words of a name; a longer one counts as one of so many."""
_WIDTHS = range(15)
"""Powers of two by which numbers of columns are told; a table has 10,000 at most."""
WIDTH = ""
"""The word that stands for the number of columns in what `header_terms` looks up."""
_MOST_LOOKED_UP = 100
"""Different words of a question that are looked up among names."""
_LONGEST = 10_000
"""Characters of one cell or name that are looked at."""

_NO_SIGNS = str.maketrans("", "", ",.'\u066c\u2019&")


@dataclass(frozen=True, slots=True)
class FieldEntry:
    """What is looked through as one: its terms, repeated as often as they occur."""

    field: Field
    terms: Sequence[str]


def field_entries(evidence: TableTerms, analyzer: Analyzer) -> Iterator[FieldEntry]:
    """Yield the entries of one table; a field without a term has none, but every row has one.

    No term holds a space, so joining them by spaces loses nothing.
    """
    rows = [[cell for cell in row if cell] for row in evidence.rows]
    cells = [*chain.from_iterable(rows), *evidence.cells]
    headers = analyzer.terms(spaced(*evidence.columns, evidence.spelled_columns))
    of_cells = {cell: analyzer.terms(cell) for cell in cells}
    of_rows = [[term for cell in row for term in of_cells[cell]] for row in rows]
    loose = (term for cell in evidence.cells for term in of_cells[cell])
    single = {
        Field.NAMES: _name_terms(evidence, analyzer),
        Field.GRAMS: _typed_terms(evidence),
        Field.VALUES: [*chain.from_iterable(of_rows), *loose, *headers],
        Field.CELLS: list(dict.fromkeys(filter(None, map(cell_term, of_cells)))),
        Field.PAIRS: [pair for cell in cells for pair in _pairs(of_cells[cell])],
        Field.HEADERS: _header_terms(evidence, analyzer),
    }
    yield from (FieldEntry(field, terms[:MAX_TERMS]) for field, terms in single.items() if terms)
    first = headers[:HEADERS_IN_ROWS]
    yield from (FieldEntry(Field.ROWS, [*terms, *first][:MAX_TERMS]) for terms in of_rows or [[]])


def query_terms(question: str, analyzer: Analyzer) -> dict[Field, list[str]]:
    """Return the terms to look up in each field for a question, so many of each at most."""
    words = analyzer.question_terms(question)
    plain = plain_words(question)[:_MOST_WORDS]
    asked = {
        Field.NAMES: [*words, *_phrases_asked(question, analyzer)],
        Field.GRAMS: query_name_terms(name_parts(question)),
        Field.VALUES: words,
        Field.CELLS: list(dict.fromkeys(_cells_asked(plain))),
        Field.ROWS: words,
    }
    return {field: terms[:MAX_QUESTION_TERMS] for field, terms in asked.items()}


def header_terms(question: str, analyzer: Analyzer) -> dict[str, tuple[str, float]]:
    """Return what to look up in `Field.HEADERS` for a question.

    Returns:
        By each term the word of the question that it stands for, and the share that this word has
        of the name: 1 where it is all of it, else the cosine of both as bags of words. For `WIDTH`,
        about how many columns there are, and not a share.
    """
    words = list(dict.fromkeys(analyzer.question_terms(question)))[:_MOST_LOOKED_UP]
    shares = {_header_term(word, n): (word, n**-0.5) for word in words for n in _HEADER_WORDS}
    return shares | {_header_term(WIDTH, n): (WIDTH, 2.0**n) for n in _WIDTHS}


def cell_term(value: str) -> str | None:
    """Return the term of a value as a whole cell, which every table with such a cell has.

    Case, accents and signs do not count. None where the value has no word, or more than
    `CELL_WORDS`: such a cell is not kept as a whole.
    """
    return _whole(plain_words(value))


def spaced(*names: str) -> str:
    """Return the parts of names as words of a text: `petalLength` becomes `petal length`."""
    return " ".join(part for name in names for part in name_parts(name))


@lru_cache(maxsize=65_536)
def header_of(column: str) -> str:
    """Return a column's name as words, by which it is embedded; empty where it has none."""
    return spaced(column)


def name_parts(name: str) -> list[str]:
    """Return the parts of a name in lower case: HTTPServer_2 -> http, server, 2."""
    words = words_of(FOLDED.prepare(name[:_LONGEST]))
    return [part.casefold() for word in words for part in FOLDED.part.findall(word)]


def plain_words(text: str) -> list[str]:
    """Return a text's words in lower case, without accents and signs: 1,234 -> 1234."""
    words = words_of(FOLDED.prepare(text[:_LONGEST]))
    return [word.casefold().translate(_NO_SIGNS) for word in words]


def _name_terms(evidence: TableTerms, analyzer: Analyzer) -> list[str]:
    """Return the words of a table's names, and names of several words as one term each."""
    parts = [analyzer.terms(spaced(name)) for name in evidence.names]
    whole = (_phrase(terms) for terms in parts if len(terms) > 1)
    return [*chain.from_iterable(parts), *analyzer.terms(evidence.spelled_names), *whole]


def _header_terms(evidence: TableTerms, analyzer: Analyzer) -> list[str]:
    """Return each word of names and descriptions once, with the shortest one's length; the width.

    What a name stands for counts as a word of a name of two words, and so do short descriptions.
    """
    shortest: dict[str, int] = {}
    spelled = analyzer.terms(f"{evidence.spelled_names} {evidence.spelled_columns}")
    for name in (*evidence.names[-1:], *evidence.columns):
        words = frozenset(analyzer.terms(header_of(name)))
        length = min(len(words), _NAME_AT_MOST)
        shortest |= {word: min(length, shortest.get(word, length)) for word in words}
    shortest |= {word: min(2, shortest.get(word, 2)) for word in spelled}
    for text in evidence.described:
        words = frozenset(analyzer.terms(text))
        length = next((n for n in _HEADER_WORDS[1:] if n >= len(words)), _HEADER_WORDS[-1])
        shortest |= {word: min(length, shortest.get(word, length)) for word in words}
    width = len(evidence.columns).bit_length()
    return [_header_term(WIDTH, width), *(_header_term(*one) for one in shortest.items())]


def _header_term(word: str, length: int) -> str:
    return f"{word}~{length}"


def _phrases_asked(question: str, analyzer: Analyzer) -> Iterator[str]:
    terms = analyzer.terms(spaced(question))[:_MOST_WORDS]
    return (_phrase(run) for length in range(2, NAME_WORDS + 1) for run in _runs(terms, length))


def _phrase(terms: Sequence[str]) -> str:
    return "=" + "_".join(terms)


def _typed_terms(evidence: TableTerms) -> list[str]:
    """Return the terms of the names of the table, alone and with its places, and of its columns."""
    said = set(evidence.spelled_names.split())
    table = [
        (name_parts(" ".join(places)), unglued(name_parts(own), said))
        for *places, own in names_of_table(evidence)
    ]
    of_columns = set(evidence.spelled_columns.split())
    return name_terms(table, [unglued(name_parts(one), of_columns) for one in evidence.columns])


def _whole(words: Sequence[str]) -> str | None:
    """Return the term of a cell of these words; no word holds what joins them."""
    return "_".join(words) if 0 < len(words) <= CELL_WORDS else None


def _cells_asked(words: Sequence[str]) -> Iterator[str]:
    """Yield what may be a cell of a question: every run of words that is not of little words."""
    runs = (run for length in range(1, CELL_WORDS + 1) for run in _runs(words, length))
    return filter(None, (_whole(run) for run in runs if not QUESTION_STOP_WORDS.issuperset(run)))


def _pairs(terms: Sequence[str]) -> list[str]:
    return ["_".join(pair) for pair in pairwise(terms)]


def _runs(words: Sequence[str], length: int) -> Iterator[Sequence[str]]:
    return (words[at : at + length] for at in range(len(words) - length + 1))
