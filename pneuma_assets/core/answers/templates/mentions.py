"""Which columns and tables the words of a question name."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from pneuma_assets.core.answers.templates import vocabulary as say
from pneuma_assets.core.answers.templates.fields import COUNTING, Field, Kind
from pneuma_assets.core.answers.templates.names import MOST_ALIKE, Named, Names
from pneuma_assets.core.answers.templates.words import Word

_REACH = 3
"""Words of no meaning that may stand within a name: `names of the authors`."""
_MOST_OPTIONS = 8
_LEAST_FIT = 0.55
"""How much of a name has to be said: of two telling words, both."""
_LEAST_FIT_OF_SEVERAL = 0.5
"""Likewise where several words of it are said: two of four."""
_LIGHT = 0.3
"""What a word of a name weighs that only says that it is a name, a number or a key."""
_FIT_OF_SAID = 0.6
"""How well a word fits a column that does not stand in its name, but in what is said of it."""


@dataclass(frozen=True, slots=True)
class Option:
    """A table of the set, or one of its columns, and how well the words fit, from 0 to 1."""

    table: Named
    field: Field | None
    fit: float


@dataclass(frozen=True, slots=True, eq=False)
class NameSpan:
    """Words that name a column or table; the best that they may mean comes first."""

    start: int
    stop: int
    words: frozenset[int]
    options: tuple[Option, ...]


def span_of_table(table: Named, places: Iterable[int]) -> NameSpan:
    """Return the words at some places as the name of a table, which is surely meant."""
    words = frozenset(places)
    return NameSpan(min(words), max(words) + 1, words, (Option(table, None, 1.0),))


def names_in(words: Sequence[Word], names: Names) -> list[NameSpan]:
    """Return the runs of words that name tables and columns, none within another, in order."""
    spans = [span for at in range(len(words)) for span in _from(at, words, names)]
    spans.sort(key=lambda one: (-one.options[0].fit * len(one.words), one.start))
    taken: set[int] = set()
    found = []
    starts = {span.start for span in spans}
    for span in spans:
        if all(words[n].text in say.AVERAGE | say.SUM for n in span.words) and span.stop in starts:
            continue  # `total population` where there is a column `total`, too
        if taken.isdisjoint(span.words):
            taken.update(span.words)
            found.append(span)
    return sorted(found, key=lambda one: one.start)


def _from(at: int, words: Sequence[Word], names: Names) -> Iterator[NameSpan]:
    """Yield what begins with a word: by the words of each that may be meant."""
    word = words[at]
    if not word.stems or (word.quoted and word.capital) or word.text in say.CALLED:
        return
    options: dict[frozenset[int], list[Option]] = {}
    for met, option in chain(_tables_from(at, words, names), _fields_from(at, words, names)):
        if option.fit >= (_LEAST_FIT if len(met) == 1 else _LEAST_FIT_OF_SEVERAL):
            options.setdefault(met, []).append(option)
    for met, some in options.items():
        some.sort(key=lambda one: (-one.fit, one.table.place))
        yield NameSpan(min(met), max(met) + 1, met, tuple(some[:_MOST_OPTIONS]))


def _tables_from(
    at: int, words: Sequence[Word], names: Names
) -> Iterator[tuple[frozenset[int], Option]]:
    for table in names.tables:
        if table.stems.intersection(words[at].stems):
            met = _met(at, words, table.stems)
            said = _said(met, words) & table.stems
            telling = {stem for stem in table.stems if not stem.isdigit()} or table.stems
            yield met, Option(table, None, min(1.0, len(said) / len(telling)))


def _fields_from(
    at: int, words: Sequence[Word], names: Names
) -> Iterator[tuple[frozenset[int], Option]]:
    fields = {id(one): one for stem in words[at].stems for one in names.by_stem.get(stem, ())}
    for table in names.tables:
        if table.stems.intersection(words[at].stems):
            fields.update((id(one), one) for one in table.fields[:MOST_ALIKE])
    for one in fields.values():
        alone = one.kind is Kind.TRUTH or _refers(one, names)
        own = frozenset() if alone else names.tables[one.table].stems
        met = _met(at, words, one.stems | one.spelled | one.of_table | own)
        said = _said(met, words)
        unread = _only_counts(at, words, one) or _compares(met, words) or _orders(met, words, one)
        unread = unread or _is_told_so(one, names)
        if said & (one.stems | one.spelled) and not unread:
            yield met, Option(names.tables[one.table], one, _fit(one, said, own))
    for one in (one for stem in words[at].stems for one in names.by_said.get(stem, ())):
        yield _met(at, words, one.said), Option(names.tables[one.table], one, _FIT_OF_SAID)


def _is_told_so(one: Field, names: Names) -> bool:
    """Tell whether a column of truth values says what is so: of `paid` invoices, not `paid_on`."""
    alike = (other for other in names.tables[one.table].fields if other.kind is Kind.TRUTH)
    return one.kind is not Kind.TRUTH and any(other.stems == one.stems for other in alike)


def _refers(one: Field, names: Names) -> bool:
    """Tell `orders of customers`, two tables, from the column `customer_id` of the first."""
    others = (table.stems for table in names.tables if table.place != one.table)
    return one.is_key and any(one.stems == stems for stems in others)


def _fit(one: Field, said: set[str], own: frozenset[str]) -> float:
    """Return how much of a column's name is said; what only repeats its table counts little."""
    light = one.of_table - own
    least = _LIGHT * len(light & said)
    share = max(
        (len(stems & said) + least) / (len(stems) + _LIGHT * len(light))
        for stems in (one.stems, one.spelled)
    )
    return min(1.0, share + 0.1 * one.matched)


def _said(met: Iterable[int], words: Sequence[Word]) -> set[str]:
    return {stem for place in met for stem in words[place].stems}


def _met(at: int, words: Sequence[Word], stems: frozenset[str]) -> frozenset[int]:
    """Return the words from one on that have some of these stems, little words between them."""
    met: set[int] = set()
    said: set[str] = set()
    gap = 0
    for place in range(at, len(words)):
        word = words[place]
        new = stems.intersection(word.stems)
        if new - said or (new and place - 1 in met):
            met.add(place)
            said |= new
            gap = 0
        elif gap >= _REACH or word.text not in _BETWEEN:
            break
        else:
            gap += 1
        if word.ends:
            break
    return frozenset(met)


_BETWEEN = frozenset({"of", "the", "a", "an", "all", "their", "its"})


def _only_counts(at: int, words: Sequence[Word], one: Field) -> bool:
    """Tell `number of courses` from a column `number` that numbers nothing."""
    following = words[at + 1].text if at + 1 < len(words) else ""
    counting = words[at].text in COUNTING and following == "of"
    return counting and one.kind is not Kind.NUMBER and len(one.parts) == 1


def _orders(met: frozenset[int], words: Sequence[Word], one: Field) -> bool:
    """Tell the `last order` from a `last_name`."""
    texts = {words[place].text for place in met}
    telling = {words[n].text for n in met if one.stems.intersection(words[n].stems)}
    return len(one.parts) > 1 and telling <= {"first", "last"} and not texts & {"name", "names"}


def _compares(met: Iterable[int], words: Sequence[Word]) -> bool:
    """Tell `since 2018` from a column `since`."""
    following = ((words[n], words[n + 1]) for n in met if n + 1 < len(words))
    return any((a.text,) in say.COMPARING and (b.number or b.date) for a, b in following)
