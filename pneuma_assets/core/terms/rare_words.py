"""Words that tell a table from all others where it alone has them: which, and where they stand."""

import re
from collections.abc import Iterator
from itertools import pairwise

from pneuma_assets.core.terms.fields import Field, cell_term, name_parts
from pneuma_assets.core.terms.name_terms import names_with
from pneuma_assets.core.text.analysis import ENGLISH, Analyzer
from pneuma_assets.core.text.tokens import FOLDED, characters_of, words_of
from pneuma_assets.core.text.word_frequencies import is_common

MOST_SOUGHT = 32
"""Words of a question that are looked up, the first ones."""

_SHORTEST = 3
_IDENTIFIER = re.compile(r"(?<![\w'-])[A-Za-z0-9]+(?:(?:_+|[-'])[A-Za-z0-9]+){1,15}(?![\w'-])")
"""`hire_date`, `F-16`, `O'Hare`; of words such as one-way, `_is_identifier` wants a rare part."""
_PARTS = re.compile("[-']")
_NAME = re.compile(r"(?<!\w)(?=([A-Z]\w+ [A-Z]\w+))")

Place = tuple[Field | None, str]
"""A field of evidence, or None for the blocks, and what one entry or block there has: a term, or
all of several that are joined by spaces."""


def sought_words(question: str, analyzer: Analyzer) -> tuple[str, ...]:
    """Return what may tell a table from all others: no common English, identifiers, names.

    A name is two words that are capitalised. Of another language than English it is not known which
    words are common, so only those with a digit or an underscore are sought.
    """
    text = FOLDED.prepare(question)
    found: dict[str, None] = dict.fromkeys(filter(_is_identifier, _IDENTIFIER.findall(text)))
    english = analyzer.name == ENGLISH.name
    for word in words_of(text):
        if english or any(map(str.isdigit, word)):
            found |= dict.fromkeys(_telling(word))
    kept: dict[str, str] = {}  # a word in two spellings is one
    for one in (*found, *(_NAME.findall(question) if english else ())):
        kept.setdefault(one.casefold(), one)
    return tuple(kept.values())[:MOST_SOUGHT]


def places_of(word: str, analyzer: Analyzer) -> list[Place]:
    """Return where a word is looked for: a table that has one of these holds the word.

    An identifier is a whole name, or its parts stand side by side in cells; in a document, which
    has no pairs of words, they stand anywhere, but single letters and digits do so by chance.
    """
    parts, terms, said = name_parts(word), analyzer.question_terms(word), analyzer.terms(word)
    stems: list[Place] = [(at, terms[-1]) for at in (Field.NAMES, Field.VALUES, None) if terms]
    if len(terms) == 1 and (len(parts) == 1 or all(map(str.isdigit, parts))):
        return stems
    pairs = " ".join(map("_".join, pairwise(said)))
    places: list[Place] = [(Field.PAIRS, pairs)] if pairs else []
    if " " in word:
        return places
    if pairs and min(map(len, said)) > 1:
        places.append((None, " ".join(said)))
    if word.isalnum() and sum(map(str.isalpha, parts)) > 1:
        places += stems  # its last term is the whole word
    if cell := cell_term(word):
        places.append((Field.CELLS, cell))
    names = (name for name in names_with(parts) if "=" in name or "_" not in word)
    return [*places, *((Field.GRAMS, name) for name in names)]


def _is_identifier(text: str) -> bool:
    return "_" in text or not all(map(is_common, _PARTS.split(text)))


def _telling(word: str) -> Iterator[str]:
    """Yield a word, and its parts where it is several written together, but for common ones."""
    parts = name_parts(word)
    grouped = all(map(str.isdigit, parts))  # 1,234 is one number
    for one in dict.fromkeys((word.casefold(), *(() if grouped else parts))):
        if len(one) >= _SHORTEST and not is_common(one) and characters_of(one) is None:
            yield one
