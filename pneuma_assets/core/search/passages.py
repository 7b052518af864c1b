"""The passage of a block that shows a person why it was found."""

import re
from functools import lru_cache

from pneuma_assets.core.text.analysis import ENGLISH, Analyzer
from pneuma_assets.core.text.holding import holding

LONGEST = 300
"""Characters of a passage: what a person reads at a glance, about four lines."""

_ELLIPSIS = " … "
_CUT = "… "
_LONGEST_WORD = 30
"""Characters of a word that no cut goes through."""
_PART = re.compile(r" \| |(?<=[.!?]) ")
_HEADED = re.compile(r"^#{1,6} ([^\n]*)\n\s*(?=[^\s#]|##)", re.MULTILINE)
"""A heading of Markdown and what follows; `# of rooms: 2` may be a row, among others alike."""
_HEADING = re.compile(r"#{1,6} [^\n|:]*")
_MOST_CHARACTERS = 100_000
_LONGEST_KEPT = 1_000
"""Characters of a text whose terms are kept: lines of blocks, parts of them, names."""


class Passages:
    """Finds the passages for one question.

    Attributes:
        asked: The words that the question asks for.
        sought: Those that tell a table from others, in lower case (`sought_words`).
    """

    def __init__(
        self, question: str, analyzer: Analyzer, sought: frozenset[str] = frozenset()
    ) -> None:
        """Take the question and the analyzer by which words are told."""
        self.sought = sought
        self.asked = frozenset(analyzer.question_terms(question))
        self._wanted = frozenset(analyzer.terms(question))
        self._analyzer = analyzer

    def best(self, text: str) -> str:
        """Return the line of a text with the most different words of the question.

        A heading is one line with the line after it. Of a line longer than `LONGEST` only the cells
        or sentences with such words are kept, as far as there is room, those with most of them
        first; a longer one is cut around them. If no word occurs (the meaning matched), the
        beginning stands for it all.
        """
        text = _HEADED.sub(r"\1: ", text[:_MOST_CHARACTERS])
        lines = [line for line in text.split("\n") if line.strip()] or [""]
        line = lines[0] if len(lines) == 1 else max(lines, key=self._told)
        line = line.strip()
        if len(line) <= LONGEST:
            return line
        parts = _PART.split(line)
        return _ELLIPSIS.join(self._that_fit([part for part in parts if self._said(part)] or parts))

    def _that_fit(self, parts: list[str]) -> list[str]:
        """Return as many parts as fit, in their order, and of the one that says most at least some.

        Parts that say nothing that others do not come last.
        """
        new: list[int] = []
        others: list[int] = []
        said = set[str]()
        for at in sorted(range(len(parts)), key=lambda at: -len(self._said(parts[at]))):
            words = self._said(parts[at])
            (others if words <= said else new).append(at)
            said |= words
        room, kept = LONGEST, dict[int, str]()
        for at in (*new, *others):
            part = parts[at] if kept or len(parts[at]) <= LONGEST else self._cut(parts[at])
            if len(part) <= room:
                kept[at] = part
                room -= len(_ELLIPSIS) + len(part)
        return [kept[at] for at in sorted(kept)]

    def _cut(self, part: str) -> str:
        """Return a piece of a long part, the one with the most different words of the question."""
        half = (LONGEST - len(_CUT) - _LONGEST_WORD) // 2
        begins = [_begin_of_word(part, at) for at in range(0, len(part), half)]
        counts = [len(self._said(part[at : at + 2 * half])) for at in begins]
        best = counts.index(max(counts))
        if counts[best] and counts[best : best + 2] == [counts[best]] * 2:
            best += 1  # there it stands in the first half, and what follows it is seen
        at = begins[best]
        return _CUT + part[at : at + LONGEST - len(_CUT)] if at else part[:LONGEST]

    def count(self, text: str) -> int:
        """Return how many different words that the question asks for occur."""
        return len(self.asked & terms_in(text, self._analyzer))

    def _told(self, line: str) -> tuple[int, int]:
        return len(self._said(line)), holding(self.sought, line)

    def _said(self, text: str) -> frozenset[str]:
        """Return the words of the question that occur, those that it does not ask for, too."""
        return self._wanted & terms_in(text, self._analyzer)


def is_heading(text: str) -> bool:
    """Tell whether a passage is a heading alone, which tells nothing."""
    return _HEADING.fullmatch(text) is not None


def terms_in(text: str, analyzer: Analyzer) -> frozenset[str]:
    """Return the different terms of a text; those of short ones are kept for further questions."""
    return _kept_terms(text, analyzer) if len(text) <= _LONGEST_KEPT else _terms(text, analyzer)


def _terms(text: str, analyzer: Analyzer) -> frozenset[str]:
    return frozenset(analyzer.terms(text))


_kept_terms = lru_cache(maxsize=8_192)(_terms)


def best_passage(text: str, question: str, analyzer: Analyzer = ENGLISH) -> str:
    """Return the passage of one text; see `Passages.best`."""
    return Passages(question, analyzer).best(text)


def _begin_of_word(text: str, at: int) -> int:
    """Return where the word begins that stands at a place, or that place in a very long one."""
    return 1 + text.rfind(" ", max(0, at - _LONGEST_WORD), at) or at
