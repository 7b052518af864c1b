"""Orders and superlatives: `ordered by X`, `the highest X`, `top 5`, `most Y`."""

from collections.abc import Iterable

from pneuma_assets.core.answers.templates import vocabulary as say
from pneuma_assets.core.answers.templates.asking import aggregate_of
from pneuma_assets.core.answers.templates.fields import Kind
from pneuma_assets.core.answers.templates.mentions import NameSpan
from pneuma_assets.core.answers.templates.plan import NoPlanError
from pneuma_assets.core.answers.templates.sentence import (
    Reading,
    Sentence,
    are_amounts,
    is_key,
    is_measured,
    is_plural,
    names_table,
)

_CLAUSES = frozenset({"ordered", "sorted", "sort", "order", "ranked", "arranged"})
_DIRECTING = frozenset(
    {"by", "from", "ascending", "asc", "descending", "desc", "alphabetical", "alphabetically"}
)
_TWO_ENDS = "of two superlatives, as in 'lowest and highest', one is read"


def read_order(sentence: Sentence) -> None:
    """Read `ordered by X from highest to lowest`, to the end of its sentence.

    Raises:
        NoPlanError: It is not plain how rows are ordered.
    """
    words = sentence.words
    for place, word in enumerate(words):
        following = {sentence.at(n) for n in range(place + 1, place + 5)}
        if word.quoted or word.text not in _CLAUSES or not following & _DIRECTING:
            continue
        stop = next((n + 1 for n in range(place, len(words)) if words[n].ends == "."), None)
        stop = stop or len(words)
        _ordered(sentence, place, stop)
        return
    for place, word in enumerate(words):
        if word.text != "from" or sentence.at(place + 1) not in {"the", *say.MOST, *say.LEAST}:
            continue
        near = range(place, min(place + 8, len(words)))
        if "to" in map(sentence.at, near) and len(directions_of(map(sentence.at, near))) == 2:
            last = max(n for n in near if sentence.at(n) in say.MOST | say.LEAST)
            _ordered(sentence, place, last + 1)
            return


def _ordered(sentence: Sentence, start: int, stop: int) -> None:
    reading = sentence.reading
    rest = [sentence.at(n) for n in range(start, stop)]
    rising = {"ascending", "asc", "alphabetically", "alphabetical"} & set(rest)
    direct = directions_of(rest)
    falls = {"descending", "desc"} & set(rest) or (direct and direct[0] in say.MOST)
    for at, text in zip(range(start, stop), rest, strict=True):
        behind = sentence.at(at - 1) in direct
        if text in say.ORDERING or text in direct or (text == "first" and behind):
            sentence.use(at)
        if text == "last" and behind:  # `Newest last`.
            raise NoPlanError(_TWO_ENDS)
    reading.limit = -1
    reading.clause = range(start, stop)
    sentence.names = [one for one in sentence.names if one.start != start]
    reading.falling = bool(falls) and not rising
    if direct and not rising | ({"descending", "desc"} & set(rest)):
        reading.direction = direct[0]
    name = sentence.next(start, stop - start - 1)
    if name is not None and not {"number", "count"} & set(rest):
        reading.ordered = sentence.take(name)
    elif name is not None:
        sentence.use(*(n for n, text in enumerate(rest, start) if text in {"number", "count"}))
    for one in [one for one in sentence.names if start <= one.start < stop]:
        sentence.take(one)


def read_superlatives(sentence: Sentence) -> None:
    """Read `the highest X`, `the most Y`, `top 5 X by Y`, `the longest X`.

    Raises:
        NoPlanError: It is not plain what is compared, or by which of two.
    """
    reading = sentence.reading
    for place in range(len(sentence.words)):
        text = sentence.trigger(place)
        if text not in say.MOST | say.LEAST or place in reading.used:
            continue
        sentence.use(place)
        text, after = _superlative(sentence, text, place + 1)
        if sentence.words[after : after + 1] and sentence.words[after].number:
            reading.limit = int(float(sentence.words[after].number))
            sentence.use(after)
            after += 1
        _note(reading, text)
        if text in say.LIMITING and reading.limit > 0:
            reading.of_shown = bool(reading.how)
            _by_terms(sentence, after)
            continue
        if sentence.at(after) in {"common", "frequent", "popular", "often", "frequently"}:
            sentence.use(after)
            reading.how = reading.how or "common"
            reading.of_shown = True
            continue
        if reading.measured is None:
            _by(sentence, text, after)
        elif not _is_of_measured(sentence, after):
            raise NoPlanError(f"it is not plain what is {text}")


def _superlative(sentence: Sentence, text: str, after: int) -> tuple[str, int]:
    """Return a superlative of one word or two, and where it ends: `most recent`, `least recent`."""
    following = sentence.at(after)
    if text not in {"most", "least"} or following not in say.MOST | say.LEAST:
        return text, after
    sentence.use(after)
    if text == "least" and following not in say.LEAST_OF:
        raise NoPlanError(f"'least {following}' is not read")
    return (say.LEAST_OF.get(following, "") if text == "least" else following), after + 1


def _note(reading: Reading, text: str) -> None:
    """Note by which superlative it is ordered; of two, one has to say how many: `top 5 oldest`."""
    limited = reading.superlative in say.LIMITING and reading.limit > 0
    if reading.superlative and not limited:
        raise NoPlanError(_TWO_ENDS)
    if limited or not reading.superlative:
        reading.implied = say.IMPLIED.get(text, ()) if text in say.LIMITING else ()
    reading.superlative, reading.falling = text, text in say.MOST


def _is_of_measured(sentence: Sentence, after: int) -> bool:
    """Tell whether a superlative is of what is counted or computed; note it if so."""
    reading = sentence.reading
    name = sentence.next(after, 2)
    if reading.measured is not None and after <= reading.measured.start <= after + 4:
        reading.of_shown = True
    elif name is not None and reading.measured is not None and _mean_one(name, reading.measured):
        sentence.take(name)
        reading.of_shown = True
    return reading.of_shown


def _by_terms(sentence: Sentence, after: int) -> None:
    for at in range(after, len(sentence.words)):
        by = sentence.at(at) == "by" or (sentence.at(at) == "of" and sentence.at(at - 1) == "terms")
        name = sentence.next(at + 1, 2) if by else None
        if name is not None:
            sentence.use(at, at - 1)
            sentence.reading.measured = sentence.take(name)
            return


def _by(sentence: Sentence, text: str, after: int) -> None:
    reading = sentence.reading
    counted = sentence.at(after) in {"number", "count", "amount"} or text in {"most", "fewest"}
    aggregate = aggregate_of(sentence.at(after))
    name = sentence.next(after, 4 if counted else 2)
    if name is None:
        reading.implied = reading.implied or say.IMPLIED.get(text, ())
        return
    if any(sentence.at(n) in say.MOST | say.LEAST for n in range(after, name.start)):
        raise NoPlanError(_TWO_ENDS)  # `The lowest and highest price`: two answers.
    is_thing = _is_thing(name, text)
    if aggregate and not counted:
        sentence.use_little(after, name.start)
        reading.how, reading.measured = aggregate, sentence.take(name)
        reading.of_shown = True
    elif is_thing and not counted:
        reading.implied = say.IMPLIED.get(text, ())
        reading.implied_of = name
    else:
        sentence.use_little(after, name.start)
        reading.measured = sentence.take(name)
        reading.of_shown = True
        if not is_measured(name) or is_plural(name, sentence.words):
            if not counted or are_amounts(name):
                raise NoPlanError(f"it is not plain what is {text}")
            reading.how = "count"


def _is_thing(name: NameSpan, text: str) -> bool:
    """Tell whether what a superlative compares is told by another column: `the latest order`."""
    if names_table(name) or (is_key(name) and not is_measured(name)):
        return True
    fields = [one.field for one in name.options if one.field is not None]
    numbers = all(one.kind is Kind.NUMBER for one in fields)
    return (
        text in say.OF_TIME
        and numbers
        and not any(
            say.MEASURING.intersection(one.parts) or set(say.IMPLIED[text]).intersection(one.parts)
            for one in fields
        )
    )


def directions_of(texts: Iterable[str]) -> list[str]:
    """Return the superlatives by which an order is told: `highest`, `lowest`."""
    return [one for one in texts if one in say.MOST | say.LEAST and one not in {"first", "last"}]


def _mean_one(first: NameSpan, second: NameSpan) -> bool:
    one, other = first.options[0], second.options[0]
    return one.table is other.table and one.field is other.field
