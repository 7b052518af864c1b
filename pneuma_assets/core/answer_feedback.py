"""What people said of answers, and questions that had no good one, as the state keeps them."""

import re
import unicodedata
from dataclasses import dataclass

import regex

WORD = re.compile(r"(?:(?<!\w)-(?=\d))?\d+(?:[.,]\d+)+|(?:(?<!\w)-(?=\d))?\w+[#+]*")
"""A word of a question, or a number, with its sign."""
_WORD_OR_SIGN = regex.compile(rf"{WORD.pattern}|[\p{{M}}\p{{Sc}}\p{{So}}%]+")
_SPOKEN = [
    (re.compile(spelling, re.IGNORECASE), spoken)
    for spelling, spoken in (
        (r"n['\u2019]t\b", " not"),
        (r"!=|<>|\u2260", " not "),
        (r">|\u2265", " over "),
        (r"<|\u2264", " under "),
        (r"(?<=\d),(?=\d{3}(?!\d))", ""),
        ("\u2212", "-"),
    )
]
"""Spellings of which words alone, without signs, would leave nothing or something else."""
_DIGITS = {
    word: digits
    for words, numbers in (
        ("two three four five six seven eight nine ten eleven twelve", "2 3 4 5 6 7 8 9 10 11 12"),
        ("second third fourth fifth sixth seventh eighth ninth", "2nd 3rd 4th 5th 6th 7th 8th 9th"),
    )
    for word, digits in zip(words.split(), numbers.split(), strict=True)
}


@dataclass(frozen=True, slots=True)
class SavedAnswer:
    """What somebody says of an answer; `sql` is empty where tables alone are the answer.

    `resolved` says whether the statement reads no other table, as far as the guard can tell.
    """

    answer_id: str
    question: str
    tables: tuple[str, ...]
    sql: str
    confirmed: bool
    author: str
    door: str
    said_at: float = 0.0
    resolved: bool = True

    @property
    def content(self) -> tuple[str, frozenset[str], str]:
        """What is the same in two answers of which the later counts."""
        return words_of(self.question), frozenset(self.tables), self.sql.strip()


@dataclass(frozen=True, slots=True)
class FailedQuestion:
    """A question without a good answer.

    Attributes:
        question_id: Names it.
        question: The text.
        outcome: `refused`: no table was likely to answer; `rejected`: somebody said that the answer
            is wrong.
        door: By which it was asked last.
        times: How often it was asked so.
        asked_at: When last, in seconds since 1970.
    """

    question_id: str
    question: str
    outcome: str
    door: str
    times: int
    asked_at: float


def words_of(question: str) -> str:
    """Return what two spellings of a question share: its words, without case and punctuation.

    Accents, vowel signs, and signs of currencies and shares tell questions apart.
    """
    text = unicodedata.normalize("NFKC", spoken(question))
    return " ".join(map(folded_word, _WORD_OR_SIGN.findall(text))) or text


def spoken(question: str) -> str:
    """Return a question with words for the signs that would be lost with its punctuation."""
    for spelling, words in _SPOKEN:
        question = spelling.sub(words, question)
    return question


def folded_word(word: str) -> str:
    """Return a word as it is compared: without case, numbers in digits."""
    return _DIGITS.get(folded := word.casefold(), folded)
