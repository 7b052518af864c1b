"""Conditions: by numbers and dates, and by cells."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pneuma_assets.core.answers.templates import vocabulary as say
from pneuma_assets.core.answers.templates.fields import is_when
from pneuma_assets.core.answers.templates.mentions import NameSpan, span_of_table
from pneuma_assets.core.answers.templates.plan import NoPlanError
from pneuma_assets.core.answers.templates.sentence import (
    Compared,
    Sentence,
    is_key,
    is_measured,
    names_table,
    tells_when,
)
from pneuma_assets.core.answers.templates.values import ValueSpan
from pneuma_assets.core.answers.templates.words import Word, is_year


def read_numbers(sentence: Sentence) -> None:
    """Read `more than 5`, `before 2010`, `between 3 and 7`, `in 2015`, `id 3`."""
    _or_more(sentence)
    for place in range(len(sentence.words)):
        if place in sentence.reading.used:
            continue
        for length in (2, 1):
            key = tuple(sentence.at(place + n) for n in range(length))
            how = say.COMPARING.get(key)
            at = _number_at(sentence, place + length, 2 if length > 1 or how != key[0] else 0)
            if how and at is not None:
                _compared(sentence, how, place, at, (at,))
                break
        if sentence.at(place) == "between":
            low = _number_at(sentence, place + 1, 0)
            high = _number_at(sentence, place + 3, 0) if sentence.at(place + 2) == "and" else None
            if low is not None and high is not None:
                _compared(sentence, "between", place, high, (low, high))
    _years(sentence)


def _or_more(sentence: Sentence) -> None:
    """Read `100 or more`, `in 2020 or later`; not `50 and over 2 orders`."""
    for place, word in enumerate(sentence.words):
        how = say.BEYOND.get(sentence.at(place + 2))
        if how is None or sentence.at(place + 1) not in {"or", "and"} or word.quoted:
            continue
        behind = (sentence.at(place - 2), sentence.at(place - 1))
        compared = behind in say.COMPARING or behind[1:] in say.COMPARING
        following = sentence.words[place + 3 : place + 4]
        another = following and (following[0].number or following[0].text == "than")
        if (word.number or word.date) and not (compared or another):
            _compared(sentence, how, place, place + 2, (place,))


def _number_at(sentence: Sentence, place: int, skip: int) -> int | None:
    for at in range(place, min(place + skip + 1, len(sentence.words))):
        if sentence.words[at].number or sentence.words[at].date:
            return at if at not in sentence.reading.used else None
        if sentence.at(at) not in {"the", "a", "year", "of", "or", "equal", "to"}:
            return None
    return None


def _compared(sentence: Sentence, how: str, start: int, stop: int, at: tuple[int, ...]) -> None:
    words = [sentence.words[one] for one in at]
    is_date = all(word.date or is_year(word) for word in words)
    name = _before(sentence, start, 4) or _after(sentence, stop + 1)
    sentence.use(*range(start, stop + 1))
    _drop_values(sentence, range(start, stop + 1))
    numbers = tuple(word.date or word.number for word in words)
    sentence.reading.compared.append(
        Compared(sentence.take(name) if name else None, how, numbers, is_date)
    )


def _before(sentence: Sentence, place: int, reach: int) -> NameSpan | None:
    """Return the nearest name before a place of which a number can be said."""
    for one in reversed(sentence.names):
        if one.stop <= place and place - one.stop <= reach and is_measured(one):
            between = sentence.words[one.stop : place]
            if all(word.text in say.LITTLE and not word.ends for word in between):
                return one
    return None


def _after(sentence: Sentence, place: int) -> NameSpan | None:
    """Return the name that begins behind a number and its unit: `more than 5 reviews`."""
    while sentence.at(place) in say.UNITS and place < len(sentence.words):
        place += 1
    return next((one for one in sentence.names if place <= one.start <= place + 1), None)


def _years(sentence: Sentence) -> None:
    """Read `in 2020`, `in the year 2020`, `id 3`."""
    for at, word in enumerate(sentence.words):
        if at in sentence.reading.used or not (word.number or word.date) or word.quoted:
            continue
        before = next((one for one in sentence.names if one.stop == at), None)
        year = is_year(word) or bool(word.date)
        if before is not None and (is_measured(before) or is_key(before) or names_table(before)):
            _compared_equal(sentence, before, at, word, year)
        elif before is not None and (table := _table_at_end(sentence, before)) is not None:
            sentence.use(at)
            _drop_values(sentence, (at,))
            numbers = (word.date or word.number,)
            sentence.reading.compared.append(Compared(table, "equals", numbers, False, True))
        elif year and sentence.at(at - 1) in {"in", "during", "of", "year", "from", "for", "on"}:
            sentence.use(at - 1)
            _compared_equal(sentence, None, at, word, True, _verb_before(sentence, at - 1))


def _compared_equal(
    sentence: Sentence,
    name: NameSpan | None,
    at: int,
    word: Word,
    is_date: bool,
    verb: NameSpan | None = None,
) -> None:
    sentence.use(at)
    _drop_values(sentence, (at,))
    taken = sentence.take(name) if name is not None else verb
    numbers = (word.date or word.number,)
    sentence.reading.compared.append(Compared(taken, "equals", numbers, is_date, name is not None))


def _verb_before(sentence: Sentence, place: int) -> NameSpan | None:
    """Take the column that says when: that of `joined` in `members who joined in 2020`."""
    verb = next((one for one in sentence.names if one.stop == place), None)
    counts = any(sentence.at(n) in {"many", *say.COUNTS} for n in range(place))
    if verb is None or not tells_when(verb) or (counts and len(verb.words) > 1):
        return None  # `Members joined` are counted, too.
    if not sentence.at(verb.stop - 1).endswith("ed"):
        return None
    when = (one for one in verb.options if one.field is not None and is_when(one.field))
    return replace(sentence.take(verb), options=tuple(when))


def _table_at_end(sentence: Sentence, span: NameSpan) -> NameSpan | None:
    """Return the table with which a column's name ends: `status of order 11`."""
    last = span.stop - 1
    for one in span.options:
        if len(span.words) > 1 and one.table.stems.intersection(sentence.words[last].stems):
            return span_of_table(one.table, (last,))
    return None


def _drop_values(sentence: Sentence, places: Iterable[int]) -> None:
    gone = set(places)
    sentence.values = [v for v in sentence.values if gone.isdisjoint(range(v.start, v.stop))]


def read_values(sentence: Sentence) -> None:
    """Read the cells, and the names that stand beside them for their columns."""
    for value in sentence.values:
        _check_called(sentence, value)
        sentence.use(*range(value.start, value.stop))
        sentence.reading.values.append(value)
        for name in list(sentence.names):
            gap = range(name.stop, value.start) if name.stop <= value.start else None
            if gap is None and name.start >= value.stop:
                gap = range(value.stop, name.start)
            if gap is None or len(gap) > 3:
                continue
            if any(sentence.at(one) not in _LABELLING for one in gap):
                continue
            if _labels(name, value, name.start < value.start, sentence.words):
                sentence.reading.labels.append((name, value))
                if not (names_table(name) and _is_called(name, value, sentence.words)):
                    sentence.take(name)  # `Customers called Ana` are what is asked for.
                break
    unread = (n for n in range(len(sentence.words)) if n not in sentence.reading.used)
    sentence.reading.ors = tuple(n for n in unread if sentence.at(n) == "or")


def _check_called(sentence: Sentence, value: ValueSpan) -> None:
    """Refuse `doctors named Maria` where patients alone are: others would be counted."""
    at = value.start - 1
    if sentence.at(at) not in say.CALLED:
        return
    before = [one for one in sentence.names if 0 <= at - one.stop <= 2]
    tables = {option.table.place for option in before[-1].options} if before else set()
    if tables and tables.isdisjoint(place.table for place in value.places):
        raise NoPlanError(f"none of these is {sentence.at(at)} {value.places[0].stored!r}")


_LABELLING = frozenset(
    {"", "named", "called", "name", "is", "of", "with", "the", "in", "titled", "a", "being", "was"}
)


def _is_called(name: NameSpan, value: ValueSpan, words: Sequence[Word]) -> bool:
    return any(words[n].text in say.CALLED for n in range(name.stop, value.start))


def _labels(name: NameSpan, value: ValueSpan, before: bool, words: Sequence[Word]) -> bool:
    """Tell whether a name says of which column, or of which table, a value is."""
    fields = {id(one.field) for one in name.options if one.field is not None}
    if any(place.field is not None and id(place.field) in fields for place in value.places):
        return True
    tables = {one.table.place for one in name.options if one.field is None}
    beside = name.stop == value.start or _is_called(name, value, words)
    return before and beside and any(place.table in tables for place in value.places)
