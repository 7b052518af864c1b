"""How texts fall into words, and words into parts, with or without accents."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

# Chinese and Japanese write no spaces: each character is a word, as in Lucene's tokenizer.
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_POSSESSIVE = re.compile("['\u2019]s\\b", re.IGNORECASE)

# NFKD leaves these whole. The Turkish i without a dot meets the I that `casefold` gave one.
_UNMARKED = str.maketrans(
    {"\u0131": "i", "\u0142": "l", "\u0111": "d", "\u00f8": "o", "\u00e6": "ae", "\u0153": "oe"}
)
_DOTTED_CAPITAL_I = "\u0130"


@dataclass(frozen=True)
class Spelling:
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


FOLDED = Spelling(
    prepare=_prepare_english,
    word=re.compile(rf"[{_IDEOGRAPHS}]|[^\W_{_IDEOGRAPHS}]{{1,64}}"),
    part=re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+|[^\W_]"),
    finish=str,
)
"""Accents go first; English has none that tell words apart."""


@cache
def accented() -> Spelling:
    """Return the spelling of languages whose accents tell words apart; made when first needed.

    Accents go last: stemmers know endings by them. Of 20,000 inflected words a language
    (simplemma's dictionaries), these shares then meet their base form, rather than those in
    brackets: French 89 % (76), Spanish 82 % (65), Russian 84 % (71), Polish 64 % (41), German 82 %
    (82). The price: a word typed without its accents may keep another ending than with them.
    """
    # Where the scripts stand that have capitals, or marks behind their letters.
    characters = [chr(code) for code in range(0x80, 0x2000)]
    capitals = "A-Z" + "".join(c for c in characters if c.isupper())
    small = "a-z" + "".join(c for c in characters if c.islower())
    marks = "".join(c for c in characters if unicodedata.category(c) in {"Mn", "Mc"})
    letter = rf"[^\W_{_IDEOGRAPHS}]"
    return Spelling(
        prepare=_compose,
        word=re.compile(rf"[{_IDEOGRAPHS}]|{letter}(?:{letter}|[{marks}]){{0,63}}"),
        part=re.compile(
            rf"[{capitals}][{capitals}{marks}]*(?![{small}{marks}])"
            rf"|[{capitals}]?(?:[^\W\d_{capitals}]|[{marks}])+|\d+|[^\W_]"
        ),
        finish=_fold_stem,
    )
