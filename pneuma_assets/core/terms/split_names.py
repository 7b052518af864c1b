"""The words that names stand for: `sbcustjoindate` says customer, join and date.

Names are glued and cut short by people who knew what they meant. What is glued is parted by an
English dictionary's word frequencies; what is cut short is looked for among the words that people
wrote about the table itself, so nothing is guessed that nobody said.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING

from pneuma_assets.core.tables import TableTerms
from pneuma_assets.core.terms.fields import name_parts, plain_words
from pneuma_assets.core.text.abbreviations import ABBREVIATIONS

if TYPE_CHECKING:
    from symspellpy import SymSpell

_SHORTEST_GLUED = 6
_LONGEST_GLUED = 40
_SHORTEST_CUT, _LONGEST_CUT = 3, 6
_CUT_SHARE = 4
"""A word is at most so many times as long as what it is cut to."""
_COMMON = 30_000_000
"""Of a trillion words; one met more often is a word (age, car), not a short form (qty)."""
_COMMON_LONG, _COMMON_SHORT = 8_000_000, 150_000_000
_MOST_LOOKED_FOR = 1_000
"""Different short parts of one table's names that are looked for among what people wrote."""
_MOST_CHARACTERS = 50_000
"""Of what people wrote about one table."""


def spell_out(evidence: TableTerms, texts: Iterable[str]) -> TableTerms:
    """Return the evidence with its names spelt out by a dictionary and by these texts.

    Args:
        evidence: Of one table.
        texts: What people wrote about it.
    """
    said = _Said(texts)
    return replace(
        evidence,
        spelled_names=_spelled(evidence.names, said),
        spelled_columns=_spelled(evidence.columns, said),
    )


class _Said:
    """The words that people wrote about one table, and what may be cut short of them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._counts = _words_of(texts)
        self._by_letter: dict[str, list[str]] = {}
        for word in sorted(self._counts, key=lambda word: (self._counts[word], word), reverse=True):
            self._by_letter.setdefault(word[0], []).append(word)
        self._found: dict[str, str | None] = {}

    def whole(self, cut: str) -> str | None:
        """Return the word said most that may have been cut to this; None if none may."""
        if not _SHORTEST_CUT <= len(cut) <= _LONGEST_CUT or not cut.isalpha():
            return None
        if _dictionary().words.get(cut, 0) > _COMMON:
            return None
        if cut not in self._found and len(self._found) < _MOST_LOOKED_FOR:
            self._found[cut] = self._looked_for(cut)
        return self._found.get(cut)

    def _looked_for(self, cut: str) -> str | None:
        """Return the first that fits of the words said most; those that begin so come first."""
        most = _CUT_SHARE * len(cut)
        words = self._by_letter.get(cut[0], ())
        fitting = [word for word in words if len(cut) + 1 < len(word) <= most]
        beginning = (word for word in fitting if word.startswith(cut))
        return next(beginning, None) or next((word for word in fitting if _has(word, cut)), None)


def in_words(names: Iterable[str]) -> str:
    """Return names as words of a text, as a person would: `youngkidsCost` is `young kids cost`."""
    parts = (part for name in names for part in name_parts(name))
    return " ".join(word for part in parts for word in surely_parted(part))


def surely_parted(part: str) -> Sequence[str]:
    """Return the words that a part is glued of, else the part alone.

    All of them are common words, or abbreviations that nearly always mean the same: `paperid` is
    paper id.
    People are shown these: `neighborhood`, which the dictionary lacks, is not neigh, bor and hood.
    """
    words = parted(part)
    if len(words) == 1:
        return words
    short = sum(len(word) <= _SHORTEST_CUT for word in words)
    common = all(
        word in ABBREVIATIONS or _dictionary().words.get(word, 0) >= _at_least(word)
        for word in words
    )
    return words if short <= 1 and common and min(map(len, words)) > 1 else (part,)


def _at_least(word: str) -> int:
    """Return how common a word must be: short ones stand in many others by chance."""
    return _COMMON_LONG if len(word) > _SHORTEST_CUT else _COMMON_SHORT


def is_word(text: str) -> bool:
    """Tell whether a text is an English word, as a dictionary has them."""
    return text.casefold() in _dictionary().words


def parted(part: str) -> Sequence[str]:
    """Return the words that a part of a name may be glued of; the part alone if it is a word.

    Good enough to be searched: where it parts wrongly, the part itself is found all the same.
    """
    is_glued = part.isascii() and part.isalpha()
    if not is_glued or not _SHORTEST_GLUED <= len(part) <= _LONGEST_GLUED:
        return (part,)
    return _parted(part)


def _spelled(names: Sequence[str], said: _Said) -> str:
    """Return what is to be said of names beyond their own parts, each word once."""
    return " ".join(dict.fromkeys(word for name in names for word in _beyond(name, said)))


def _beyond(name: str, said: _Said) -> Iterator[str]:
    for part in name_parts(name):
        words = parted(part)
        if len(words) > 1:
            yield from words
        for word in words:
            whole = said.whole(word)
            if whole is not None:
                yield whole


def _has(word: str, letters: str) -> bool:
    """Tell whether these letters stand in the word in this order."""
    at = 0
    for letter in letters:
        at = word.find(letter, at) + 1
        if not at:
            return False
    return True


def _words_of(texts: Iterable[str]) -> Counter[str]:
    """Return how often each word is said, in the first characters of the texts."""
    said: Counter[str] = Counter()
    room = _MOST_CHARACTERS
    for text in texts:
        if room <= 0:
            break
        said.update(word for word in plain_words(text[:room]) if word.isalpha())
        room -= len(text)
    return said


@lru_cache(maxsize=65_536)
def _parted(part: str) -> Sequence[str]:
    if part in _dictionary().words:
        return (part,)
    words = _dictionary().word_segmentation(part, 0, _LONGEST_GLUED).corrected_string.split()
    return tuple(_mended(words)) if "".join(words) == part else (part,)


def _mended(words: Sequence[str]) -> Iterator[str]:
    """Join what no dictionary can part: `cu st join date` is `cust join date`."""
    for is_short, run in groupby(words, lambda word: len(word) < _SHORTEST_CUT):
        if is_short:
            yield "".join(run)
        else:
            yield from run


@cache
def _dictionary() -> "SymSpell":
    """Return English words and their frequencies; reading them takes a second, once a process."""
    from symspellpy import SymSpell

    speller = SymSpell(max_dictionary_edit_distance=0)
    words = files("symspellpy") / "frequency_dictionary_en_82_765.txt"
    speller.load_dictionary(str(words), term_index=0, count_index=1)
    return speller
