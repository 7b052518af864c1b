"""From text to words: one analyzer for every engine, so that all of them rank alike.

An engine indexes and asks for `Analyzer.terms`, whatever analysis it could do by itself.

Table text is half prose, half identifiers. Words are therefore also split inside: `petal_length`,
`PetalLength` and `petal length` meet, and `McDonald` still meets `mcdonald` because a word of
several written together is kept whole as well. What each rule is worth: docs/index-engine.md.
"""

import re
import threading
import unicodedata
from functools import lru_cache

import Stemmer

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

MAX_CHARACTERS = 1_000_000
"""Of a text, this much is analysed; a block is a few kilobytes unless someone means harm."""

MAX_TERMS = 65_535
"""Most terms of one text; a term's count in one block fits 16 bits because of it."""

MAX_QUESTION_TERMS = 1_000
"""Of a question, this many terms are looked up."""

_CACHED_WORDS = 65_536

# Chinese and Japanese write no spaces: each character is a word, as in Lucene's tokenizer.
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Longer words are cut: no key of a dictionary grows without bound.
_WORD = re.compile(rf"[{_IDEOGRAPHS}]|[^\W_{_IDEOGRAPHS}]{{1,64}}")
# HTTPServer2 -> HTTP, Server, 2.
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+|[^\W_]")
_POSSESSIVE = re.compile("['\u2019]s\\b", re.IGNORECASE)


class Analyzer:
    """Turns a text or a question into the terms that an index compares.

    `name` identifies every rule that decides which terms come out; an index records it and
    refuses to be opened with another one. Safe to use from several threads.
    """

    def __init__(
        self,
        name: str,
        stemmer: str,
        stop_words: frozenset[str],
        question_stop_words: frozenset[str] = frozenset(),
    ) -> None:
        self.name = name
        self._stop_words = stop_words
        self._stemmer = Stemmer.Stemmer(stemmer)
        self._stemmer_lock = threading.Lock()  # a Stemmer is not to be shared by threads
        self._terms_of_word = lru_cache(maxsize=_CACHED_WORDS)(self._split_word)
        self._question_stop_terms = frozenset(self.terms(" ".join(question_stop_words)))

    def terms(self, text: str) -> list[str]:
        """Return the terms of `text` in order, repeated as often as they occur.

        Terms consist of letters and digits only, so joining them by spaces loses nothing.
        """
        found: list[str] = []
        for word in _WORD.findall(_POSSESSIVE.sub(" ", _fold(text[:MAX_CHARACTERS]))):
            found.extend(self._terms_of_word(word))
            if len(found) >= MAX_TERMS:
                break
        return found[:MAX_TERMS]

    def question_terms(self, text: str) -> list[str]:
        """Return the terms to look up for a question, the first `MAX_QUESTION_TERMS` of them."""
        terms = self.terms(text)
        telling = [term for term in terms if term not in self._question_stop_terms]
        return (telling or terms)[:MAX_QUESTION_TERMS]

    def _split_word(self, word: str) -> tuple[str, ...]:
        parts = _PART.findall(word)
        if sum(not part.isdigit() for part in parts) > 1:
            parts.append(word)
        lowered = (part.casefold() for part in parts)
        kept = [part for part in lowered if part not in self._stop_words]
        with self._stemmer_lock:
            return tuple(self._stemmer.stemWords(kept))


def _fold(text: str) -> str:
    """Drop accents and compatibility forms: what people type seldom has them."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if not unicodedata.combining(c))


# Snowball's "english" is Porter2: like Porter on these texts, but it leaves "us" and "s" alone.
ENGLISH = Analyzer("english-1", "english", ENGLISH_STOP_WORDS, QUESTION_STOP_WORDS)
