"""A question as words: what each stands for in a name, and as a number."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from pneuma_assets.core.terms.fields import plain_words
from pneuma_assets.core.text.analysis import Analyzer

MOST_CHARACTERS = 2_000
"""Of a question that is read; a longer one says more than can be looked through."""
_MOST_WORDS = 60
"""Likewise."""
_MOST_GLUED = 3
_NUMBER = re.compile(r"-?[0-9]{1,15}(?:,[0-9]{3})*(?:\.[0-9]{1,10})?\+?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_AROUND = "\"'`\u201c\u2018\u201d\u2019()<>=$%"
_SPOKEN_WORDS = "one two three four five six seven eight nine ten eleven twelve"
_SPOKEN = {word: str(number) for number, word in enumerate(_SPOKEN_WORDS.split(), 1)}
_POWERS = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question.

    Attributes:
        text: In lower case, without accents and signs; of a number or date all its parts.
        stems: As the analyzer has it in names; none of what it leaves out, nor of numbers.
        number: What it says as a number, in digits; empty if it is none.
    """

    text: str
    stems: tuple[str, ...] = ()
    number: str = ""


def read_words(question: str, analyzer: Analyzer) -> list[Word]:
    """Return the words of a question; none of one that is too long to be read whole."""
    if len(question) > MOST_CHARACTERS:
        return []
    pieces = question.replace("'s ", " ").replace("\u2019s ", " ").split()
    words = (word for piece in pieces for word in _of_piece(piece, analyzer))
    some = list(islice(words, _MOST_WORDS + 1))
    return _with_powers(some) if len(some) <= _MOST_WORDS else []


def _of_piece(piece: str, analyzer: Analyzer) -> Iterator[Word]:
    bare = piece.rstrip(")],.?!;:").strip(_AROUND)
    parts = plain_words(bare)
    number = bare.replace(",", "").rstrip("+") if _NUMBER.fullmatch(bare) else ""
    if parts and (number or _DATE.fullmatch(bare)):
        yield Word("_".join(parts), (), number)
        return
    glued = tuple(analyzer.terms("".join(parts))) if 1 < len(parts) <= _MOST_GLUED else ()
    for part in parts:
        yield Word(part, (*analyzer.terms(part), *glued), _SPOKEN.get(part, ""))


def _with_powers(words: Sequence[Word]) -> list[Word]:
    """Read `a hundred thousand` and `5 million` as one number each."""
    found: list[Word] = []
    for word in words:
        power = _POWERS.get(word.text)
        before = found[-1] if found else None
        if power is None:
            found.append(word)
        elif before is not None and (before.number or before.text == "a"):
            value = float(before.number or 1) * power
            found[-1] = Word(word.text, (), f"{value:.10g}" if value < 1e9 else str(int(value)))
        else:
            found.append(Word(word.text, (), str(power)))
    return found
