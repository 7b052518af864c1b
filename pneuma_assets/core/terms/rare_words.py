"""Words that tell a table from all others where it alone has them: which, and where they stand."""

import re
from collections.abc import Iterator

from pneuma_assets.core.terms.fields import Field, cell_term, name_parts
from pneuma_assets.core.terms.name_terms import names_with
from pneuma_assets.core.text.analysis import ENGLISH, Analyzer
from pneuma_assets.core.text.common_words import is_common
from pneuma_assets.core.text.tokens import FOLDED, characters_of, words_of

MOST_SOUGHT = 32
"""Words of a question that are looked up, the first ones."""

_SHORTEST = 3
_IDENTIFIER = re.compile(
    r"(?<![\w-])(?:[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)+"
    r"|(?=[\w-]*\d|[A-Z]-|\w+-[A-Z](?!\w))[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+)(?![\w-])"
)
"""`hire_date`; `F-16` and `H-Block`, but not words such as one-way."""
_NAME = re.compile(r"(?<!\w)(?=([A-Z]\w+ [A-Z]\w+))")

Place = tuple[Field | None, str]
"""A field of evidence, or None for the blocks, and a term that is looked up there."""


def sought_words(question: str, analyzer: Analyzer) -> tuple[str, ...]:
    """Return what may tell a table from all others: no common English, identifiers, names.

    A name is two words that are capitalised. Of another language than English it is not known which
    words are common, so only those with a digit or an underscore are sought.
    """
    found: dict[str, None] = dict.fromkeys(_IDENTIFIER.findall(question))
    english = analyzer.name == ENGLISH.name
    for word in words_of(FOLDED.prepare(question)):
        if english or any(map(str.isdigit, word)):
            found |= dict.fromkeys(_telling(word))
    kept: dict[str, str] = {}  # a word in two spellings is one
    for one in (*found, *(_NAME.findall(question) if english else ())):
        kept.setdefault(one.casefold(), one)
    return tuple(kept.values())[:MOST_SOUGHT]


def places_of(word: str, analyzer: Analyzer) -> list[Place]:
    """Return where a word is looked for: a table that has one of these terms holds the word."""
    parts, terms = name_parts(word), analyzer.question_terms(word)
    if len(terms) == 1 and (len(parts) == 1 or terms[0].isdigit()):
        return [(place, term) for term in terms for place in (Field.NAMES, Field.VALUES, None)]
    said = analyzer.terms(word)
    pair: list[Place] = [(Field.PAIRS, "_".join(said))] if len(said) == 2 else []
    if " " in word:
        return pair
    cell = cell_term(word)
    whole: list[Place] = [(Field.CELLS, cell)] if cell else []
    return [*((Field.GRAMS, name) for name in names_with(parts)), *whole, *pair]


def _telling(word: str) -> Iterator[str]:
    """Yield a word, and its parts where it is several written together, but for common ones."""
    parts = name_parts(word)
    grouped = all(map(str.isdigit, parts))  # 1,234 is one number
    for one in dict.fromkeys((word.casefold(), *(() if grouped else parts))):
        if len(one) >= _SHORTEST and not is_common(one) and characters_of(one) is None:
            yield one
