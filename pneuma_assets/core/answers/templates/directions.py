"""Which end of a column a superlative means: the oldest has the highest age, or the first date.

A superlative praises, measures or dates, and a column may count the other way round: the best rank
is the lowest, the fastest time the shortest. Where neither is plain, there is no draft.
"""

from collections.abc import Iterable

from pneuma_assets.core.answers.templates import vocabulary as say
from pneuma_assets.core.answers.templates.fields import Field, Kind
from pneuma_assets.core.answers.templates.plan import NoPlanError
from pneuma_assets.core.joins.words import singular

_NUMBERS = frozenset({"maximum", "max", "minimum", "min"})
"""They are said of numbers as such, whatever these mean."""
_AMOUNTS = _NUMBERS | frozenset(
    {"highest", "largest", "biggest", "greatest", "most", "top", "lowest", "smallest", "least",
     "fewest"}
)  # fmt: skip
"""They may be said of any number, and of how many there are."""
_PRAISING = frozenset({"best", "worst"})
_FAST = frozenset({"fastest", "slowest"})
_NEAR = frozenset({"nearest", "closest"})


def largest_first(word: str, one: Field | None) -> bool:
    """Tell whether what a superlative means has the largest numbers or latest dates.

    Args:
        word: The superlative.
        one: What it compares; None: how many there are.

    Raises:
        NoPlanError: It is not plain which end of the column is meant.
    """
    if one is None:
        return _sure(word, word in _AMOUNTS)
    parts = frozenset(one.parts)
    if word in say.OF_TIME:
        return _of_time(word, one, parts)
    if one.kind is not Kind.NUMBER:
        return _sure(word, word in _AMOUNTS)
    if say.RANKS & parts and word not in _NUMBERS:
        return not _sure(word, word in _PRAISING | {"top"} and not say.GOOD & parts)
    if word in _FAST and not say.SPEEDS & parts:
        return not _sure(word, bool(say.DURATIONS & parts))
    return _of_number(word, parts)


def _of_number(word: str, parts: frozenset[str]) -> bool:
    """Tell it of a column that counts the way round in which people speak."""
    if word == "top":
        return _sure(word, not say.DURATIONS & parts)
    if word in _PRAISING:
        return _sure(word, bool(say.GOOD & parts))
    return _sure(word, word not in _NEAR or bool(say.DISTANCES & parts))


def _sure(word: str, sure: bool) -> bool:
    """Return whether a word means the largest as a rule, where that is sure."""
    if not sure:
        raise NoPlanError(f"it is not plain which end of the column is the {word}")
    return word in say.MOST


def _of_time(word: str, one: Field, parts: frozenset[str]) -> bool:
    aged = one.kind is Kind.NUMBER and bool(say.AGE & parts)
    dated = not aged and (one.kind in {Kind.DATE, Kind.TIME} or bool(say.TIMES & parts))
    if word in say.AGES:
        _sure(word, aged or dated)
        return (word == "oldest") == aged
    return _sure(word, dated)


def may_imply(word: str, one: Field, table: Iterable[str]) -> bool:
    """Tell whether a superlative that names no column may mean this one.

    `The oldest employee` is not the one who was hired first: of the dates of a row only its own
    (`order_date` of `orders`) and that of its beginning (`founded`) tell how old it is. Numbers
    called `time` say how long something took, and not when.

    Args:
        word: The superlative.
        one: The column.
        table: The words of its table's name.
    """
    if word not in say.OF_TIME:
        return True
    parts = frozenset(one.parts)
    if one.kind is Kind.NUMBER and "time" in parts:
        return False
    if word not in say.AGES and say.BIRTH & parts:
        return False  # The first patient is not the oldest one.
    own = {singular(part) for part in table}
    others = {part for part in parts if singular(part) not in own}
    return word not in say.AGES or others <= say.AGE | say.TIMES | say.BEGINNINGS
