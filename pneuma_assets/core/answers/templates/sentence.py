"""What a question asks for: counted, averaged, largest, listed; of what, under which conditions."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pneuma_assets.core.answers.templates import vocabulary as say
from pneuma_assets.core.answers.templates.fields import COUNTING, Kind, is_when
from pneuma_assets.core.answers.templates.mentions import NameSpan
from pneuma_assets.core.answers.templates.values import ValueSpan
from pneuma_assets.core.answers.templates.words import Word


@dataclass(frozen=True, slots=True)
class Compared:
    """A name that is compared with numbers or dates; None: whatever tells a year.

    `is_key` where the number stands right behind the name: `order 11`.
    """

    name: NameSpan | None
    how: str
    numbers: tuple[str, ...]
    is_date: bool
    is_key: bool = False


@dataclass(eq=False)
class Reading:
    """What was read.

    Attributes:
        how: count, average, sum, min, max; empty where columns are listed.
        measured: Of what; of a superlative, by what it orders.
        groups: For each of which.
        shown: What is asked for beside that.
        falling: Whether the largest come first; None where nothing orders.
        superlative: By which word, if a superlative says it; which end that is, its column tells.
        direction: Likewise in a clause of order: `sorted from oldest to youngest`.
        limit: How many; 0: all.
        implied: Words of columns by which it orders, where it names none.
        implied_of: Of which table, where one is named.
        compared: Conditions by numbers and dates.
        values: Conditions by cells.
        truths: Conditions that hold.
        labels: Names that only say of which column a value is.
        distinct: Whether each is wanted once.
        ors: Where the question says `or`: one of several values of a column is enough.
        clause: The words that say by what rows are ordered.
        ordered: By what rows are ordered without any being left out.
        of_shown: Whether what is computed is computed of each of what is asked for.
        context: Names that are neither asked for nor compared: their tables are joined.
        used: Words that are accounted for.
    """

    how: str = ""
    measured: NameSpan | None = None
    groups: list[NameSpan] = field(default_factory=list)
    shown: list[NameSpan] = field(default_factory=list)
    falling: bool | None = None
    superlative: str = ""
    direction: str = ""
    limit: int = 0
    implied: tuple[str, ...] = ()
    implied_of: NameSpan | None = None
    compared: list[Compared] = field(default_factory=list)
    values: list[ValueSpan] = field(default_factory=list)
    truths: list[NameSpan] = field(default_factory=list)
    labels: list[tuple[NameSpan, ValueSpan]] = field(default_factory=list)
    distinct: bool = False
    ors: tuple[int, ...] = ()
    clause: range = range(0)
    ordered: NameSpan | None = None
    of_shown: bool = False
    context: list[NameSpan] = field(default_factory=list)
    used: set[int] = field(default_factory=set)


class Sentence:
    """A question while it is read; each of its words is used once.

    Attributes:
        words: All of it.
        names: Those that nothing was made of yet.
        values: Likewise.
        reading: What was made so far.
    """

    def __init__(
        self, words: Sequence[Word], names: Sequence[NameSpan], values: Sequence[ValueSpan]
    ) -> None:
        self.words = words
        self.names = list(names)
        self.values = list(values)
        self.reading = Reading()

    def at(self, place: int) -> str:
        """Return the word at a place; nothing for one in quotes, and beyond the ends."""
        inside = 0 <= place < len(self.words)
        return self.words[place].text if inside and not self.words[place].quoted else ""

    def trigger(self, place: int) -> str:
        """Return a word that stands in no name and was not used."""
        taken = any(place in one.words for one in self.names)
        return "" if taken or place in self.reading.used else self.at(place)

    def use(self, *places: int) -> None:
        """Note that these words are accounted for."""
        self.reading.used.update(places)

    def use_little(self, start: int, stop: int) -> None:
        """Note that the words up to a name are accounted for, but for those that restrict it."""
        self.use(*(place for place in range(start, stop) if self.at(place) in say.LITTLE))

    def take(self, span: NameSpan) -> NameSpan:
        """Return a name, whose words are accounted for from now on."""
        self.names.remove(span)
        self.use(*span.words)
        return span

    def next(self, place: int, reach: int, *, counted: bool = False) -> NameSpan | None:
        """Return the name that begins at most so many words from here on, its head if several.

        Args:
            place: From where.
            reach: How many words may stand before it.
            counted: Whether rows are counted: `members joined` are members, and no days.
        """
        spans = [one for one in self.names if place <= one.start <= place + reach]
        if not spans:
            return None
        first = spans[0]
        if any(word.ends == "." for word in self.words[place : first.start]):
            return None
        for other in spans[1:]:
            if other.start == first.stop and _are_one(first, other):
                if counted and may_name_table(first) and tells_when(other):
                    return first
                self.take(first)
                return other
        return first


def _are_one(first: NameSpan, second: NameSpan) -> bool:
    """Tell whether two names side by side are one: `population density`."""
    fields = [one.options[0].field for one in (first, second)]
    return all(one is not None for one in fields) and len({f.table for f in fields if f}) == 1


def is_measured(span: NameSpan) -> bool:
    """Tell whether a name may be that of numbers or dates."""
    fields = [one.field for one in span.options]
    return any(
        f is not None and f.kind in {Kind.NUMBER, Kind.DATE} and not f.is_key for f in fields
    )


def are_amounts(span: NameSpan) -> bool:
    """Tell whether a name is best understood as that of texts which are numbers in writing."""
    one = span.options[0].field
    return one is not None and one.amounts and not one.is_key


def is_key(span: NameSpan) -> bool:
    """Tell whether a name may be that of a key."""
    return any(one.field is not None and one.field.is_key for one in span.options)


def is_plural(span: NameSpan, words: Sequence[Word]) -> bool:
    """Tell whether several are said of what a column names one of: `orders` of an `order`."""
    one, said = span.options[0].field, words[max(span.words)].text
    if one is None or COUNTING.intersection(one.parts):
        return False
    plurals = {part + end for part in one.parts for end in ("s", "es")}
    plurals |= {part[:-1] + "ies" for part in one.parts if part.endswith("y")}
    return said in plurals - set(one.parts)


def may_name_table(span: NameSpan) -> bool:
    """Tell whether a name may be that of a table, though it fits a column better."""
    return any(one.field is None for one in span.options)


def tells_when(span: NameSpan) -> bool:
    """Tell whether a name is best understood as that of days, times or years."""
    one = span.options[0].field
    return one is not None and is_when(one)


def names_table(span: NameSpan) -> bool:
    """Tell whether a name is best understood as that of a table."""
    return span.options[0].field is None
