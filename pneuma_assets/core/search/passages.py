"""The passage of a block that shows a person why it was found."""

import re

from pneuma_assets.core.text.analysis import ENGLISH, Analyzer

LONGEST = 300
"""Characters of a passage: what a person reads at a glance, about four lines."""

_ELLIPSIS = " … "
_PART = re.compile(r" \| |(?<=[.!?]) ")
_MOST_CHARACTERS = 100_000


class Passages:
    """Finds the passages for one question; no text is analysed twice.

    Attributes:
        asked: The words that the question asks for.
    """

    def __init__(self, question: str, analyzer: Analyzer) -> None:
        """Take the question and the analyzer by which words are told."""
        self.asked = frozenset(analyzer.question_terms(question))
        self._wanted = frozenset(analyzer.terms(question))
        self._either = self.asked | self._wanted
        self._analyzer = analyzer
        self._known: dict[str, frozenset[str]] = {}

    def best(self, text: str) -> str:
        """Return the line of a text with the most different words of the question.

        Of a line longer than `LONGEST` only the cells or sentences with such words are kept, as far
        as there is room. If no word occurs (the meaning matched), the beginning stands for it all.
        """
        lines = [line for line in text[:_MOST_CHARACTERS].split("\n") if line.strip()] or [""]
        line = lines[0] if len(lines) == 1 else max(lines, key=lambda line: len(self._said(line)))
        line = line.strip()
        if len(line) <= LONGEST:
            return line
        parts = _PART.split(line)
        kept = _that_fit([part for part in parts if self._said(part)] or parts)
        passage = _ELLIPSIS.join(kept)
        self._known[passage] = frozenset().union(*map(self._words, kept))
        return passage

    def count(self, text: str) -> int:
        """Return how many different words that the question asks for occur."""
        return len(self.asked & self._words(text))

    def _said(self, text: str) -> frozenset[str]:
        """Return the words of the question that occur, those that it does not ask for, too."""
        return self._wanted & self._words(text)

    def _words(self, text: str) -> frozenset[str]:
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._either.intersection(self._analyzer.terms(text))
        return known


def best_passage(text: str, question: str, analyzer: Analyzer = ENGLISH) -> str:
    """Return the passage of one text; see `Passages.best`."""
    return Passages(question, analyzer).best(text)


def _that_fit(parts: list[str]) -> list[str]:
    """Return as many parts as fit, at least the beginning of the first."""
    kept, room = [parts[0][:LONGEST]], LONGEST - len(parts[0])
    for part in parts[1:]:
        room -= len(_ELLIPSIS) + len(part)
        if room < 0:
            break
        kept.append(part)
    return kept
