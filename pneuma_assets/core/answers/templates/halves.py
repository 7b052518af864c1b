"""Whether a question asks for two things of which one would be told: `lowest and highest`."""

from collections.abc import Sequence
from itertools import pairwise

from pneuma_assets.core.answers.templates import vocabulary as say
from pneuma_assets.core.answers.templates.asking import aggregate_of
from pneuma_assets.core.answers.templates.mentions import NameSpan
from pneuma_assets.core.answers.templates.plan import NoPlanError
from pneuma_assets.core.answers.templates.sentence import Sentence
from pneuma_assets.core.answers.templates.values import ValueSpan

_OF_PARTS = frozenset({"overall", "combined"})
_JOINING = frozenset({"the", "of", "a", "an", "all", "also", "number", "numbers", "count"})
_COMPARING = {"than", "before", "after", "until", "exceeding", *say.BEYOND} - {"up", "down"}
"""Words that compare, also with what is no number: `more than Ana`, `after the last order`."""


_TWO = "it asks for two things, and a statement tells one of them"


def check_whole(sentence: Sentence, names: Sequence[NameSpan], values: Sequence[ValueSpan]) -> None:
    """Refuse a question that asks for something more than was read.

    A plan computes one thing of one column, so a second one would be left out.

    Args:
        sentence: A question, after it was read.
        names: All of its names, also those that something was made of.
        values: Likewise.

    Raises:
        NoPlanError: It does.
    """
    inside = {place for name in names for place in name.words}
    inside |= {place for value in values for place in range(value.start, value.stop)}
    plain = ["" if n in inside else sentence.at(n) for n in range(len(sentence.words))]
    if _computes_two(sentence, plain):
        raise NoPlanError(_TWO)
    if left := _aggregate_left(sentence, plain):
        raise NoPlanError(f"it is not plain what the {left} is of")
    two = _counts_again(sentence, plain, names) or _measures_two(sentence, names)
    if two or _counts_beside(sentence, names):
        raise NoPlanError(_TWO)
    if _of_the_first(sentence, plain):
        raise NoPlanError("nothing is computed of the first rows alone")
    if left := _comparison_left(sentence, plain):
        raise NoPlanError(f"it is not plain what {left!r} compares")


def _computes_two(sentence: Sentence, plain: Sequence[str]) -> bool:
    """Tell whether `and` stands between two of `average`, `highest`, `number`."""
    computing = [place for place in range(len(plain)) if _computes(sentence, plain, place)]
    for one, other in pairwise(computing):
        between = plain[one + 1 : other]
        listed = other == one + 1 and sentence.words[one].ends == ","
        beside = {"and", "or", "but"}.intersection(between) or listed
        counts = {plain[one], plain[other]} & say.COUNTS
        own = say.OWN.intersection(between) and _limits(sentence, plain, one)
        if beside and not own and (not counts or set(between) <= _JOINING | {"and", "or"}):
            return True
    return False


def _computes(sentence: Sentence, plain: Sequence[str], place: int) -> bool:
    text = plain[place]
    if place in sentence.reading.clause or plain[max(0, place - 1)] == "at":
        return False
    return bool(aggregate_of(text)) or text in say.MOST | say.LEAST | say.COUNTS


def _aggregate_left(sentence: Sentence, plain: Sequence[str]) -> str:
    """Return an `average` or a `total` of which nothing was made; `in total` says nothing."""
    for place, text in enumerate(plain):
        if not aggregate_of(text) or place in sentence.reading.used or text in _OF_PARTS:
            continue
        if text != "total" or plain[max(0, place - 1)] != "in":
            return text
        sentence.use(place)
    return ""


def _counts_again(sentence: Sentence, plain: Sequence[str], names: Sequence[NameSpan]) -> bool:
    """Tell whether a second `how many`, `number of` is of something else than the first."""
    reading = sentence.reading
    for place, (one, other) in enumerate(pairwise(plain)):
        counts = (one, other) == ("how", "many") or (one in say.COUNTS and other == "of")
        if not counts or place in reading.used or place + 1 in reading.used:
            continue
        name = next((n for n in names if place < n.start <= place + 4), None)
        measured = reading.measured
        if name is None or measured is None or name.options[0] != measured.options[0]:
            return True
    return False


def _counts_beside(sentence: Sentence, names: Sequence[NameSpan]) -> bool:
    """Tell whether things are asked for, and then a count: `which users, and how many reviews`."""
    reading = sentence.reading
    texts = [sentence.at(place) for place in range(len(sentence.words))]
    beside = any(texts[n : n + 3] == ["and", "how", "many"] for n in range(len(texts)))
    if not beside or texts[0] not in say.WHICH | say.ORDERS or not reading.how:
        return False
    told = [*reading.groups, *(reading.shown if reading.of_shown else ())]
    return names[0] not in told if names else False


def _measures_two(sentence: Sentence, names: Sequence[NameSpan]) -> bool:
    """Tell whether another name stands beside what is counted: `how many X and Y`."""
    measured = sentence.reading.measured
    if measured is None or not sentence.reading.how:
        return False
    at = measured.stop
    if sentence.at(at) not in {"and", "or"} and sentence.words[at - 1].ends != ",":
        return False
    at += sentence.at(at) in {"and", "or"}
    while sentence.at(at) in _JOINING:
        at += 1
    return any(name.start == at for name in names)


def _comparison_left(sentence: Sentence, plain: Sequence[str]) -> str:
    """Return a word that compares with what is no number: `after the order of Ana`."""
    left = (n for n, text in enumerate(plain) if text in _COMPARING)
    return next((plain[n] for n in left if n not in sentence.reading.used), "")


def _of_the_first(sentence: Sentence, plain: Sequence[str]) -> bool:
    """Tell whether something is computed of the first rows: `average of the top 2 orders`."""
    computed = False
    for place, text in enumerate(plain):
        if computed and _limits(sentence, plain, place):
            return True
        computed = computed or bool(aggregate_of(text))
    return False


def _limits(sentence: Sentence, plain: Sequence[str], place: int) -> bool:
    following = sentence.words[place + 1 : place + 2]
    return plain[place] in say.LIMITING and bool(following and following[0].number)
