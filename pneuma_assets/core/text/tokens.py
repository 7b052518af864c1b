"""How texts fall into words, and words into parts, with or without accents.

Characters are told apart by Unicode's own properties, which `regex` knows and `re` does not.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

import regex

# Scripts without spaces between words: Chinese, Japanese; Thai, Lao, Khmer, Burmese ("SA"). Korean
# has spaces, but writes particles onto its words.
_UNSPACED = (
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Hangul}\u30fc\p{LB=SA}--[^\p{L}\p{N}\p{M}]]"
)
_LETTER = rf"[[\p{{L}}\p{{N}}]--{_UNSPACED}]"
INSIDE_OF_WORD = rf"[[\p{{L}}\p{{N}}\p{{M}}]--{_UNSPACED}]"
"""A sign of a word in a script that parts words (`regex.V1`): vowel signs, too."""
_AT_START = r"(?<![\p{L}\p{N}\p{M}])"
_AT_END = r"(?![\p{L}\p{N}\p{M}])"

# 1,234,567 and 12,34,567; 1'234'567; 1.234.567, but not 1.234, which is a fraction to most.
_GROUPED = (
    r"(?<![\p{L}\p{N}\p{M}_]|\d[.,\u066c'\u2019])[1-9]\d{0,2}"
    r"(?:(?:[,\u066c]\d\d\d?){0,20}[,\u066c]\d{3}(?![,\u066c]?\d)"
    r"|(?:['\u2019]\d{3}){1,20}(?!['\u2019]?\d)"
    r"|(?:\.\d{3}){2,20}(?!\.?\d))"
)
# AT&T, R&D, Q&A; C++, C#.
_INITIALS = rf"{_AT_START}\p{{L}}{{1,3}}(?:&\p{{L}}{{1,3}}){{1,3}}{_AT_END}"
_LANGUAGE = rf"{_AT_START}[A-Za-z](?:\+\+|#){_AT_END}(?![+#])"

_LETTERS = rf"{_UNSPACED}+|{_LETTER}{INSIDE_OF_WORD}{{0,63}}"
_WORD = regex.compile(_LETTERS, regex.V1)
_ANY_WORD = regex.compile(rf"{_GROUPED}|{_INITIALS}|{_LANGUAGE}|{_LETTERS}", regex.V1)
# Most texts need none of this, and `re` reads them three times as fast.
_ASCII_WORD = re.compile("[A-Za-z0-9]{1,64}")
_MORE_THAN_LETTERS = re.compile(r"[&+#]|\d[,\u066c'\u2019]\d\d|\d\.\d{3}\.\d{3}")
_RUN = regex.compile(_UNSPACED, regex.V1)
_CHARACTER = regex.compile(r"\P{M}\p{M}{0,8}")

_POSSESSIVE = regex.compile("['\u2019]s\\b", regex.IGNORECASE)
# Spaces that keep the thousands of a number together; a plain space may part two numbers.
_THIN_SPACE = regex.compile(r"(?<=\d)[\u00a0\u2007\u2009\u202f](?=\d{3}(?!\d))")
_NON_JOINER = regex.compile(r"(?<=\p{M})\u200c")  # of Indian scripts; in Persian it parts words

# NFKD leaves these whole. The Turkish i without a dot meets the I that `casefold` gave one.
_UNMARKED = str.maketrans(
    {"\u0131": "i", "\u0142": "l", "\u0111": "d", "\u00f8": "o", "\u00e6": "ae", "\u0153": "oe"}
)
_DOTTED_CAPITAL_I = "\u0130"
_UNSEEN = "\u0640\u200d"  # Arabic's tatweel draws a letter out, a joiner says how to draw it


@dataclass(frozen=True)
class Tokenizer:
    """How a text falls into words and parts of words.

    Attributes:
        prepare: Applied to the whole text first.
        part: Matches a part of a word: HTTPServer2 -> HTTP, Server, 2.
        finish: Applied to each stem last.
    """

    prepare: Callable[[str], str]
    part: "regex.Pattern[str]"
    finish: Callable[[str], str]


def words_of(text: str) -> list[str]:
    """Return the words of a prepared text; long ones are cut: no key grows without bound.

    A run of a script without spaces is one word, of any length, for `characters_of`.
    """
    if _MORE_THAN_LETTERS.search(text):
        return _ANY_WORD.findall(text)
    return _ASCII_WORD.findall(text) if text.isascii() else _WORD.findall(text)


def characters_of(word: str) -> list[str] | None:
    """Return the characters, signs included, of a word in a script without spaces; else None."""
    return _CHARACTER.findall(word) if _RUN.match(word) else None


class _Table(dict[int, int | None]):
    """Translates characters, each looked up in Unicode when it is first met."""

    def __init__(self, *, accents: bool) -> None:
        super().__init__()
        self._accents = accents

    def __missing__(self, code: int) -> int | None:
        character = chr(code)
        unseen = character in _UNSEEN or _is_variation(code)
        found: int | None = code
        if unseen or (_is_accent(character) and not self._accents):
            found = None
        elif character.isdecimal():
            found = ord(str(unicodedata.decimal(character)))
        self[code] = found
        return found


def _is_variation(code: int) -> bool:
    """Tell a variation selector, which asks for one of a character's shapes."""
    return 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF


def _is_accent(character: str) -> bool:
    """Tell a mark that people leave out from one that no reader of the script could do without.

    Unicode's combining classes from 10 to 36 are the points of Hebrew, Arabic and Syriac, those
    from 200 the accents by place; 0 and 7 to 132 are vowel signs, nuktas, viramas, voiced kana.
    """
    kind = unicodedata.combining(character)
    return kind == 1 or 10 <= kind <= 36 or kind >= 200


_BARE, _SAME = _Table(accents=False), _Table(accents=True)


def _fold(text: str) -> str:
    """Drop accents and compatibility forms: what people type seldom has them."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", text).translate(_BARE))


def _fold_stem(stem: str) -> str:
    """Fold what a stemmer left, letters with strokes and ligatures, too."""
    return _fold(stem).translate(_UNMARKED)


def _joined(text: str) -> str:
    """Mark what is one number or word although a character of its own stands inside."""
    return _NON_JOINER.sub("", _THIN_SPACE.sub("'", text))


def _prepare_english(text: str) -> str:
    if not text.isascii():
        text = _fold(_joined(text))
    return _POSSESSIVE.sub(" ", text)


def _compose(text: str) -> str:
    """Write each accented letter as one character, as stemmers expect."""
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFKC", _joined(text)).translate(_SAME)
    return composed.replace(_DOTTED_CAPITAL_I, "I")


FOLDED = Tokenizer(
    prepare=_prepare_english,
    part=regex.compile(
        r"[A-Z]+(?![a-z])|[A-Z]?[[\p{L}\p{N}\p{M}]--[\p{Nd}A-Z]]+|\d+|[\p{L}\p{N}]", regex.V1
    ),
    finish=str,
)
"""Accents go first; English has none that tell words apart."""

ACCENTED = Tokenizer(
    prepare=_compose,
    part=regex.compile(
        r"\p{Lu}[\p{Lu}\p{M}]*(?![\p{Ll}\p{M}])"
        r"|\p{Lu}?[[\p{L}\p{N}\p{M}]--[\p{Nd}\p{Lu}]]+|\d+|[\p{L}\p{N}]",
        regex.V1,
    ),
    finish=_fold_stem,
)
"""The tokenizer of languages whose accents tell words apart.

Accents go last: stemmers know endings by them. Of 20,000 inflected words a language (simplemma's
dictionaries), these shares then meet their base form, rather than those in brackets: French 89 %
(76), Spanish 82 % (65), Russian 84 % (71), Polish 64 % (41), German 82 % (82). The price: a word
typed without its accents may keep another ending than with them.
"""
