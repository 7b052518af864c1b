"""The passage of a block that shows a person why it was found."""

import re

from pneuma_assets.core.text.analysis import ENGLISH, Analyzer

LONGEST = 300
"""Characters of a passage: what a person reads at a glance, about four lines."""

_ELLIPSIS = " … "
_PART = re.compile(r" \| |(?<=[.!?]) ")
_MOST_CHARACTERS = 100_000


def best_passage(text: str, question: str, analyzer: Analyzer = ENGLISH) -> str:
    """Return the line of a block with the most different words of the question.

    Of a line longer than `LONGEST` only the cells or sentences with such words are kept, as far
    as there is room. If no word occurs (the meaning matched), the beginning stands for the block.
    """
    wanted = frozenset(analyzer.terms(question))
    lines = [line for line in text[:_MOST_CHARACTERS].split("\n") if line.strip()] or [""]
    line = max(lines, key=lambda line: len(wanted.intersection(analyzer.terms(line)))).strip()
    if len(line) <= LONGEST:
        return line
    parts = _PART.split(line)
    matching = [part for part in parts if not wanted.isdisjoint(analyzer.terms(part))]
    return _shorten(matching or parts)


def _shorten(parts: list[str]) -> str:
    """Join as many parts as fit, at least the beginning of the first."""
    kept, room = [parts[0][:LONGEST]], LONGEST - len(parts[0])
    for part in parts[1:]:
        room -= len(_ELLIPSIS) + len(part)
        if room < 0:
            break
        kept.append(part)
    return _ELLIPSIS.join(kept)
