"""A question as words: what each stands for in a name, in a cell, and as a number."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from pneuma_assets.core.evidence.fields import plain_words
from pneuma_assets.core.text.analysis import Analyzer

MOST_WORDS = 60
"""Of a question; what is longer says more than a template can."""
MOST_CHARACTERS = 2_000
"""Likewise."""
_NUMBER = re.compile(r"-?[0-9]{1,15}(?:,[0-9]{3})*(?:\.[0-9]{1,10})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CLOSING = {'"': '"', "'": "'", "`": "`", "\u201c": "\u201d", "\u2018": "\u2019"}
_QUOTES = "".join(_CLOSING) + "\u201d\u2019"
_ENDS = re.compile(r"[.?!;:]+$")
_SIGNS = {">": "more", "<": "less", ">=": "least", "<=": "most", "=": "equals"}
_SIGNS |= {"\u2265": "least", "\u2264": "most"}
_SIGNS |= dict.fromkeys(("!=", "<>", "\u2260", "~", "\u2248"), "not")
"""What signs before a number say; what is no comparison of a template is denied."""
_SIGN = re.compile(r"^\(?(>=|<=|<>|!=|[><=\u2264\u2265\u2260\u2248~])")
_BEHIND = re.compile(r"(?<=\w)[-+#*]+$")
_OR_MORE = re.compile(r"([0-9]{1,15})\+")
_SPOKEN_WORDS = "one two three four five six seven eight nine ten eleven twelve"
_SPOKEN = {word: str(number) for number, word in enumerate(_SPOKEN_WORDS.split(), 1)}
_POWERS = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question.

    Attributes:
        text: In lower case, without accents and signs, as `fields.cell_term` has the words of a
            cell; of a number or date all its parts.
        stems: As the analyzer has it in names; none of what it leaves out.
        number: What it says as a number, in digits; empty if it is none.
        date: It, if it is a date: `2021-03-05`.
        quoted: Whether it stands in quotes, or within them.
        capital: Whether it begins with a capital, or has one.
        spelled: As the question has it; empty where it was split otherwise.
        short: Whether it was taken for what a name cuts short of it.
        ends: Whether a sentence, or what stands before a comma, ends behind it.
        sign: What stands right behind it and tells a cell from others: `+` of `O+`.
        glued: Whether others are glued to it: `no-show`.
    """

    text: str
    stems: tuple[str, ...] = ()
    number: str = ""
    date: str = ""
    quoted: bool = False
    capital: bool = False
    spelled: str = ""
    short: bool = False
    ends: str = ""
    sign: str = ""
    glued: bool = False


def sign_of(text: str) -> str:
    """Return the signs with which a text ends that tell it from others: `C++`, `C#`, `O-`."""
    found = _BEHIND.search(text)
    return found[0] if found else ""


def read_words(question: str, analyzer: Analyzer) -> list[Word]:
    """Return the words of a question; none of one that is too long to be read whole."""
    if len(question) > MOST_CHARACTERS:
        return []
    words = list(islice(_words(question, analyzer), MOST_WORDS + 1))
    return _with_powers(words) if len(words) <= MOST_WORDS else []


def _words(question: str, analyzer: Analyzer) -> Iterator[Word]:
    inside = ""
    pieces = question.replace("'s ", " ").replace("\u2019s ", " ").split()
    for place, piece in enumerate(pieces):
        closing = inside or _opened(pieces[place:])
        bare = _ENDS.sub("", piece.rstrip(")],")).rstrip(",")
        closes = bool(closing) and bare.endswith(closing) and (bool(inside) or len(bare) > 1)
        if sign := _SIGN.match(piece):
            yield Word(_SIGNS[sign[1]])
        elif more := _OR_MORE.fullmatch(bare):
            yield Word("least")
            bare = more[1]
        yield from _of_piece(piece, bare.strip(_QUOTES + "()<>=$%"), bool(closing), analyzer)
        inside = "" if closes else closing


def _opened(pieces: Sequence[str]) -> str:
    """Return what closes the quotes that the first piece opens, if a later one does."""
    closing = _CLOSING.get(pieces[0].lstrip("(")[:1], "")
    ends = (piece.rstrip(")],.?!;:") for piece in pieces)
    return closing if any(len(one) > 1 and one.endswith(closing) for one in ends) else ""


def _of_piece(piece: str, bare: str, quoted: bool, analyzer: Analyzer) -> Iterator[Word]:
    initial = len(bare) == 1 and bare.isupper() and piece.endswith(".")
    ends = (
        ""
        if initial
        else "."
        if _ENDS.search(piece)
        else ","
        if piece.rstrip(")\"'").endswith(",")
        else ""
    )
    parts = plain_words(bare)
    date = bare if _DATE.fullmatch(bare) else ""
    number = bare.replace(",", "") if _NUMBER.fullmatch(bare) else ""
    if parts and (date or number):
        yield Word("_".join(parts), (), number, date, quoted, ends=ends)
        return
    spelled = re.findall(r"\w+", bare)
    capitals = [one[:1].isupper() for one in spelled]
    glued = tuple(analyzer.terms("".join(parts))) if 1 < len(parts) < 4 else ()
    for place, part in enumerate(parts):
        number = _SPOKEN.get(part, "")
        last = place == len(parts) - 1
        capital = capitals[place] if place < len(capitals) else any(capitals)
        stems = (*analyzer.terms(part), *glued)
        said = spelled[place] if len(spelled) == len(parts) else ""
        sign = sign_of(bare) if last else ""
        ending = ends if last else ""
        yield Word(
            part, stems, number, "", quoted, capital, said,
            ends=ending, sign=sign, glued=len(parts) > 1,
        )  # fmt: skip


def _with_powers(words: Sequence[Word]) -> list[Word]:
    """Read `a hundred thousand` and `5 million` as one number each."""
    found: list[Word] = []
    for word in words:
        power = _POWERS.get(word.text)
        before = found[-1] if found else None
        if power is None or word.quoted:
            found.append(word)
        elif before is not None and (before.number or before.text == "a"):
            value = float(before.number or 1) * power
            found[-1] = Word(word.text, (), f"{value:.10g}" if value < 1e9 else str(int(value)))
        else:
            found.append(Word(word.text, (), str(power)))
    return found


def is_year(word: Word) -> bool:
    """Tell whether a number may be a year."""
    return is_year_number(word.number)


def is_year_number(number: str) -> bool:
    """Tell whether digits may be those of a year: 1000 to 2100."""
    return (
        len(number) == 4 and number.isascii() and number.isdigit() and 1000 <= int(number) <= 2100
    )
