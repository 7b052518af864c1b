"""Where in a text the words of a question stand, for a page that marks them."""

from collections.abc import Iterator
from functools import lru_cache
from unicodedata import combining

import regex

from pneuma_assets.core.text.analysis import Analyzer
from pneuma_assets.core.text.tokens import FOLDED, characters_of, words_of

_RUN = regex.compile(r"[\p{L}\p{N}\p{M}]+")
_MOST_CHARACTERS = 20_000
"""Of one text, that are looked through."""
_LONGEST_KEPT = 40
"""Characters of a run whose terms are kept."""

Range = tuple[int, int]
"""Half-open, in characters."""


class Marker:
    """Finds the words of one question, as the index compares words: by their stems, folded.

    Args:
        question: In plain language; its function words are not marked.
        analyzer: The index's.
    """

    def __init__(self, question: str, analyzer: Analyzer) -> None:
        self._asked = frozenset(analyzer.question_terms(question))
        self._analyzer = analyzer

    def marks(self, text: str) -> tuple[Range, ...]:
        """Return the ranges of a text that the question says, ascending; none overlap."""
        found: list[Range] = []
        for run in _RUN.finditer(text, 0, _MOST_CHARACTERS):
            for first, last in self._in_run(run[0]):
                start, end = run.start() + first, run.start() + last
                if found and start <= found[-1][1]:
                    found[-1] = (found[-1][0], max(end, found[-1][1]))
                else:
                    found.append((start, end))
        return tuple(found)

    def _in_run(self, run: str) -> Iterator[Range]:
        """Yield the parts of a run of letters and digits that are asked for, or else all of it."""
        has_characters, terms = _looked_at(self._analyzer, run)
        if has_characters:
            yield from self._characters(run)
            return
        if self._asked.isdisjoint(terms):
            return
        found = FOLDED.part.finditer(run)
        parts = [(one.start(), _with_accents(run, one.end())) for one in found]
        own = [part for part in parts if self._says(run[slice(*part)])]
        yield from own or [(0, len(run))]

    def _characters(self, run: str) -> Iterator[Range]:
        """Yield the pairs of characters that are asked for, of a script without spaces."""
        for place in range(len(run)):
            if run[place : place + 2] in self._asked or run[place] in self._asked:
                yield (
                    place,
                    min(place + 2, len(run)) if run[place] not in self._asked else place + 1,
                )

    def _says(self, word: str) -> bool:
        return not self._asked.isdisjoint(self._analyzer.terms(word))


def _looked_at(analyzer: Analyzer, run: str) -> tuple[bool, frozenset[str]]:
    """Return whether a run has characters of a script without spaces, and its terms.

    Those of short runs are kept: other questions find the same tables.
    """
    return (_kept if len(run) <= _LONGEST_KEPT else _look)(analyzer, run)


def _look(analyzer: Analyzer, run: str) -> tuple[bool, frozenset[str]]:
    return any(map(characters_of, words_of(run))), frozenset(analyzer.terms(run))


_kept = lru_cache(maxsize=65_536)(_look)


def _with_accents(text: str, end: int) -> int:
    """Return the end of a part of a text, with the accents that follow it as characters."""
    while end < len(text) and combining(text[end]):
        end += 1
    return end
