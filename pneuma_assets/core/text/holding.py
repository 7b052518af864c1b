"""Which words, such as names of columns, a text holds whole, and what is left without them."""

import re
from collections.abc import Collection, Iterable

_SEPARATOR = " | "
_PART = re.compile(r" \| | … |\n")
"""What stands between the parts of a text about a table."""


def holding(words: Iterable[str], text: str) -> int:
    """Return how many of some words, in lower case, occur whole: `C0050`, not `C` and `0050`."""
    folded = text.casefold()
    there = (re.escape(word) for word in words if word in folded)  # most are not: no search is made
    return sum(bool(re.search(rf"(?<!\w){word}(?!\d)", folded)) for word in there)


def without(words: Collection[str], text: str) -> str:
    """Return a text without its parts that hold one of these words, in lower case."""
    if not holding(words, text):
        return text
    return _SEPARATOR.join(one for one in _PART.split(text) if not holding(words, one))
