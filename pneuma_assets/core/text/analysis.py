"""From text to words: one analyzer for every engine, so that all of them rank alike.

An engine indexes and asks for `Analyzer.terms`, whatever analysis it could do by itself.
`analyzer_named` makes the one that a deployment file names.

Table text is half prose, half identifiers. Words are therefore also split inside: `petal_length`,
`PetalLength` and `petal length` meet, and `McDonald` still meets `mcdonald` because a word of
several written together is kept whole as well. What each rule is worth: docs/index-engine.md.
"""

import threading
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import pairwise

import Stemmer

from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.text.tokens import ACCENTED, FOLDED, Tokenizer, characters_of, words_of

MAX_CHARACTERS = 1_000_000
"""Of a text, this much is analysed; a block is a few kilobytes unless someone means harm."""

MAX_TERMS = 65_535
"""Most terms of one text; a term's count in one block fits 16 bits because of it."""

MAX_QUESTION_TERMS = 1_000
"""Of a question, this many terms are looked up."""

_CACHED_WORDS, _LONGEST_CACHED = 65_536, 64

_Terms = tuple[tuple[str, ...], tuple[str, ...]]
"""A word's terms in a text, and in a question."""
_INDEXED, _ASKED = 0, 1

_STOP_WORDS = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then "
    "there these they this to was will with"
)
ENGLISH_STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Lucene's list: short, so that it seldom takes a word that matters away from a column's name."""

_FUNCTION_WORDS = (
    "i me my myself we our ours ourselves you your yours yourself yourselves he him his himself "
    "she her hers herself it its itself they them their theirs themselves what which who whom "
    "whose this that these those am is are was were be been being have has had having do does did "
    "doing would should could ought can may might must shall will a an the and but if or because "
    "as until while of at by for with about against between into through during before after "
    "above below to from up down in out on off over under again further then once here there when "
    "where why how all any both each few more most other some such no nor not only own same so "
    "than too very"
)
QUESTION_STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Snowball's English list and the modal verbs, left out of questions only: a sentence asks with
words that are rare in tables, and BM25 takes rare for telling. A column named `how` stays in the
index, and a question of nothing but such words keeps them."""


class Analyzer:
    """Turns a text or a question into the terms that an index compares.

    `name` identifies every rule that decides which terms come out; an index records it and
    refuses to be opened with another one. Safe to use from several threads.
    """

    def __init__(
        self,
        name: str,
        stemmer: str | None,
        stop_words: frozenset[str] = frozenset(),
        question_stop_words: frozenset[str] = frozenset(),
        *,
        tokenizer: Tokenizer = FOLDED,
    ) -> None:
        self.name = name
        self._stop_words = stop_words
        self._tokenizer = tokenizer
        self._stemmer = None if stemmer is None else Stemmer.Stemmer(stemmer)
        self._stemmer_lock = threading.Lock()  # a Stemmer is not to be shared by threads
        self._split_known = lru_cache(maxsize=_CACHED_WORDS)(self._split_word)
        self._question_stop_terms = frozenset(self.terms(" ".join(question_stop_words)))

    def terms(self, text: str) -> list[str]:
        """Return the terms of `text` in order, repeated as often as they occur.

        No term holds a space, so joining them by spaces loses nothing.
        """
        return self._terms(text, _INDEXED)

    def question_terms(self, text: str) -> list[str]:
        """Return the terms to look up for a question, the first `MAX_QUESTION_TERMS` of them."""
        terms = self._terms(text, _ASKED)
        telling = [term for term in terms if term not in self._question_stop_terms]
        return (telling or terms)[:MAX_QUESTION_TERMS]

    def _terms(self, text: str, side: int) -> list[str]:
        found: list[str] = []
        for word in words_of(self._tokenizer.prepare(text[:MAX_CHARACTERS])):
            split = self._split_known if len(word) <= _LONGEST_CACHED else self._split_word
            found.extend(split(word)[side])
            if len(found) >= MAX_TERMS:
                break
        return found[:MAX_TERMS]

    def _split_word(self, word: str) -> _Terms:
        characters = characters_of(word)
        if characters is not None:
            pairs = tuple(map("".join, pairwise(characters)))
            return (*characters, *pairs), pairs or tuple(characters)
        parts = self._tokenizer.part.findall(word)
        if len(parts) > 1 and all(part.isdigit() for part in parts):
            number = "".join(parts)
            return (*parts, number), (number,)
        if sum(not part.isdigit() for part in parts) > 1 or word[-1] in "+#":
            parts.append(word.replace("&", ""))
        terms = self._finished(parts)
        return terms, terms

    def _finished(self, parts: Iterable[str]) -> tuple[str, ...]:
        """Return the stems of those parts that are no stop words."""
        lowered = (part.casefold() for part in parts)
        kept = [part for part in lowered if part not in self._stop_words]
        finished = (self._tokenizer.finish(stem) for stem in self._stems(kept))
        return tuple(term for term in finished if term)

    def _stems(self, words: list[str]) -> list[str]:
        if self._stemmer is None:
            return words
        with self._stemmer_lock:
            stems: list[str] = self._stemmer.stemWords(words)
        return stems


ANALYZERS = (
    "plain",
    *sorted(set(Stemmer.algorithms()) - {"porter", "dutch_porter", "lovins"}),  # English, Dutch
)
"""What `analyzer_named` knows: `plain`, and the languages of the installed Snowball stemmers."""


@cache
def analyzer_named(name: str) -> Analyzer:
    """Return the analyzer of a language, or `plain`: no stemming, no stop words.

    Only English has stop words: no installed library brings lists of good standing for the
    others, and BM25 weighs a word that stands in most blocks close to nothing anyway.

    Raises:
        ConfigError: There is no such analyzer; the message lists those that there are.
    """
    if name not in ANALYZERS:
        raise ConfigError(f"there is no analyzer {name!r}; use one of: {', '.join(ANALYZERS)}")
    if name == "english":
        # Snowball's "english" is Porter2: like Porter here, but it leaves "us" and "s" alone.
        return Analyzer("english-2", name, ENGLISH_STOP_WORDS, QUESTION_STOP_WORDS)
    stemmer = None if name == "plain" else name
    return Analyzer(f"{name}-2", stemmer, tokenizer=ACCENTED)


def analyzer_recorded(name: str) -> Analyzer | None:
    """Return the analyzer that an index recorded by its `name`; None if its rules are not here."""
    known = name.rpartition("-")[0]
    found = analyzer_named(known) if known in ANALYZERS else None
    return found if found is not None and found.name == name else None


ENGLISH = analyzer_named("english")
