"""Which words are common in English, so that meeting one in a table tells little of it."""

import re
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
    """Return the first words of symspellpy's list, most frequent first; it takes 5 ms to read.

    The package itself, which takes long to import, is not loaded.
    """
    spec = find_spec("symspellpy")
    if spec is None or spec.origin is None:
        raise ImportError("symspellpy is not installed; install pneuma-assets anew")
    with (Path(spec.origin).parent / _LIST).open(encoding="utf-8-sig") as lines:
        return frozenset(line.partition(" ")[0] for line in islice(lines, _MOST))
