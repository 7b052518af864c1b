"""From text to words: one analyzer for every engine, so that all of them rank alike.

An engine indexes and asks for `Analyzer.terms`, whatever analysis it could do by itself.
`analyzer_named` makes the one that a deployment file names.

Table text is half prose, half identifiers. Words are therefore also split inside: `petal_length`,
`PetalLength` and `petal length` meet, and `McDonald` still meets `mcdonald` because a word of
several written together is kept whole as well. What each rule is worth: docs/index-engine.md.
"""

import re
import threading
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

import Stemmer

from pneuma_assets.core.errors import ConfigError

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
_POSSESSIVE = re.compile("['\u2019]s\\b", re.IGNORECASE)

# Where the scripts stand that have capitals, or marks behind their letters.
_CHARACTERS = [chr(code) for code in range(0x80, 0x2000)]
_CAPITALS = "A-Z" + "".join(c for c in _CHARACTERS if c.isupper())
_SMALL = "a-z" + "".join(c for c in _CHARACTERS if c.islower())
_MARKS = "".join(c for c in _CHARACTERS if unicodedata.category(c) in {"Mn", "Mc"})

# NFKD leaves these whole. The Turkish i without a dot meets the I that `casefold` gave one.
_UNMARKED = str.maketrans(
    {"\u0131": "i", "\u0142": "l", "\u0111": "d", "\u00f8": "o", "\u00e6": "ae", "\u0153": "oe"}
)
_DOTTED_CAPITAL_I = "\u0130"


@dataclass(frozen=True)
class _Spelling:
    """How a text falls into words and parts of words.

    Attributes:
        prepare: Applied to the whole text first.
        word: Matches a word; longer ones are cut: no key of a dictionary grows without bound.
        part: Matches a part of a word: HTTPServer2 -> HTTP, Server, 2.
        finish: Applied to each stem last.
    """

    prepare: Callable[[str], str]
    word: re.Pattern[str]
    part: re.Pattern[str]
    finish: Callable[[str], str]


def _fold(text: str) -> str:
    """Drop accents and compatibility forms: what people type seldom has them."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def _fold_stem(stem: str) -> str:
    """Fold what a stemmer left, letters with strokes and ligatures, too."""
    return _fold(stem).translate(_UNMARKED)


def _prepare_english(text: str) -> str:
    return _POSSESSIVE.sub(" ", _fold(text))


def _compose(text: str) -> str:
    """Write each accented letter as one character, as stemmers expect."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", text).replace(_DOTTED_CAPITAL_I, "I")


_FOLDED = _Spelling(
    prepare=_prepare_english,
    word=re.compile(rf"[{_IDEOGRAPHS}]|[^\W_{_IDEOGRAPHS}]{{1,64}}"),
    part=re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+|[^\W_]"),
    finish=str,
)
"""Accents go first; English has none that tell words apart."""

_ACCENTED = _Spelling(
    prepare=_compose,
    word=re.compile(
        rf"[{_IDEOGRAPHS}]|[^\W_{_IDEOGRAPHS}](?:[^\W_{_IDEOGRAPHS}]|[{_MARKS}]){{0,63}}"
    ),
    part=re.compile(
        rf"[{_CAPITALS}][{_CAPITALS}{_MARKS}]*(?![{_SMALL}{_MARKS}])"
        rf"|[{_CAPITALS}]?(?:[^\W\d_{_CAPITALS}]|[{_MARKS}])+|\d+|[^\W_]"
    ),
    finish=_fold_stem,
)
"""Accents go last: stemmers know endings by them. Of 20,000 inflected words a language (simplemma's
dictionaries), these shares then meet their base form, rather than those in brackets: French 89 %
(76), Spanish 82 % (65), Russian 84 % (71), Polish 64 % (41), German 82 % (82). The price: a word
typed without its accents may keep another ending than with them."""


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
        spelling: _Spelling = _FOLDED,
    ) -> None:
        self.name = name
        self._stop_words = stop_words
        self._spelling = spelling
        self._stemmer = None if stemmer is None else Stemmer.Stemmer(stemmer)
        self._stemmer_lock = threading.Lock()  # a Stemmer is not to be shared by threads
        self._terms_of_word = lru_cache(maxsize=_CACHED_WORDS)(self._split_word)
        self._question_stop_terms = frozenset(self.terms(" ".join(question_stop_words)))

    def terms(self, text: str) -> list[str]:
        """Return the terms of `text` in order, repeated as often as they occur.

        Terms consist of letters and digits only, so joining them by spaces loses nothing.
        """
        found: list[str] = []
        for word in self._spelling.word.findall(self._spelling.prepare(text[:MAX_CHARACTERS])):
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
        parts = self._spelling.part.findall(word)
        if sum(not part.isdigit() for part in parts) > 1:
            parts.append(word)
        lowered = (part.casefold() for part in parts)
        kept = [part for part in lowered if part not in self._stop_words]
        finished = (self._spelling.finish(stem) for stem in self._stems(kept))
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
        return Analyzer("english-1", name, ENGLISH_STOP_WORDS, QUESTION_STOP_WORDS)
    stemmer = None if name == "plain" else name
    return Analyzer(f"{name}-1", stemmer, spelling=_ACCENTED)


ENGLISH = analyzer_named("english")
