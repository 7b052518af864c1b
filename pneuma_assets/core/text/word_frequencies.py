"""How often English words are met, and which are common: one of these in a table tells little."""

import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

_LIST = "frequency_dictionary_en_82_765.txt"
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_MOST = 10_000
"""Words that are common: the most frequent ones of a corpus of a trillion words."""


def is_common(word: str) -> bool:
    """Tell whether a word, in any case, is among the common ones of English, or an ordinal."""
    folded = word.casefold()
    return folded in _common() or _ORDINAL.fullmatch(folded) is not None


@cache
def _common() -> frozenset[str]:
    """Return the common words; these alone are read in 5 ms."""
    return frozenset(word for word, _ in islice(word_frequencies(), _MOST))


def word_frequencies() -> Iterator[tuple[str, int]]:
    """Yield the 82,765 words of symspellpy's list, most frequent first: how often in a trillion.

    The package itself, which takes long to import, is not loaded.
    """
    spec = find_spec("symspellpy")
    if spec is None or spec.origin is None:
        raise ImportError("symspellpy is not installed; install pneuma-assets anew")
    with (Path(spec.origin).parent / _LIST).open(encoding="utf-8-sig") as lines:
        for line in lines:
            word, count = line.split()
            yield word, int(count)
