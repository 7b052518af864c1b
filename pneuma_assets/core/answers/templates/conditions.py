"""Conditions of a plan: which column a cell or a number is compared with."""

from collections.abc import Sequence

from pneuma_assets.core.answers.templates import vocabulary as say
from pneuma_assets.core.answers.templates.covering import Cover
from pneuma_assets.core.answers.templates.either import either
from pneuma_assets.core.answers.templates.fields import Field, Kind
from pneuma_assets.core.answers.templates.names import Names
from pneuma_assets.core.answers.templates.plan import Condition, NoPlanError, Plan
from pneuma_assets.core.answers.templates.sentence import Compared, Reading
from pneuma_assets.core.answers.templates.values import Place, ValueSpan
from pneuma_assets.core.answers.templates.words import Word

_SEVERAL_HAVE_IT = 0.9
"""What is left of a draft where several columns have a cell, and nothing says which is meant."""
_ANY_TEXT = 0.95
"""Likewise where a cell is known, but not its column."""
_SEVERAL_DATES = 0.8
_MOST_TEXTS = 8
"""Columns of texts, any of which may have a cell of which only the table is known."""
_OF_WHAT = "it is not plain of what a number is said"


class Conditions:
    """Adds the conditions of one reading to a plan."""

    def __init__(
        self, reading: Reading, words: Sequence[Word], names: Names, cover: Cover, plan: Plan
    ) -> None:
        self._reading = reading
        self._words = words
        self._names = names
        self._cover = cover
        self._plan = plan
        self._spans: dict[int, list[ValueSpan]] = {}  # By the place of their condition.

    def add(self) -> None:
        """Add all of them; raises `NoPlanError` where one cannot be said."""
        for value in self._reading.values:
            self._value(value)
        either(self._reading, self._words, self._spans.values())
        for compared in self._reading.compared:
            self._compared(compared)
        for truth in self._reading.truths:
            one = self._cover.option(truth).field
            if one is not None:
                self._plan.where.append(Condition((one,), "holds"))

    def _value(self, value: ValueSpan) -> None:
        places = [place for place in value.places if place.table in self._cover.within]
        labels = [name for name, labelled in self._reading.labels if labelled is value]
        hints = {id(o.field) if o.field else o.table.place for n in labels for o in n.options}
        hinted = [one for one in places if one.field is not None and id(one.field) in hints]
        hinted = hinted or [one for one in places if one.table in hints] or places
        known = [(one.field, one) for one in hinted if one.field is not None]
        self._spans[len(self._plan.where)] = [value]
        if not known:
            self._in_any_text(hinted[0])
            return
        taken = {id(field) for condition in self._plan.where for field in condition.fields}
        free = [one for one in known if id(one[0]) not in taken]
        if not free:
            del self._spans[len(self._plan.where)]
            self._or_equal(value, *known[0])
            return
        if len(free) > 1 and not labels:
            self._plan.doubt *= _SEVERAL_HAVE_IT
        field, chosen = min(free, key=lambda one: self._preference(value, *one))
        self._plan.where.append(Condition((field,), "equals", (chosen.stored,)))

    def _preference(self, value: ValueSpan, field: Field, place: Place) -> tuple[bool, bool, int]:
        """Order columns that have a cell: `from X` is of `from_airport`; keys come last."""
        before = self._words[value.start - 1].text if value.start else ""
        said = before in field.parts
        return not said, field.is_key and not said, place.table

    def _or_equal(self, value: ValueSpan, field: Field, place: Place) -> None:
        """Let a column that has to equal one value equal another one instead."""
        for at, condition in enumerate(self._plan.where):
            if field in condition.fields:
                self._spans[at].append(value)
                values = (*condition.values, place.stored)
                self._plan.where[at] = Condition(condition.fields, "equals", values)

    def _in_any_text(self, place: Place) -> None:
        """Let any text of a row be a cell of which nobody knows the column."""
        texts = [f for f in self._names.tables[place.table].fields if f.kind is Kind.TEXT]
        if not 0 < len(texts) <= _MOST_TEXTS:
            raise NoPlanError(f"it is not plain in which column {place.stored!r} is")
        self._plan.doubt *= _ANY_TEXT if len(texts) > 1 else 1.0
        self._plan.where.append(Condition(tuple(texts), "equals", (place.stored,)))

    def _compared(self, compared: Compared) -> None:
        if compared.name is None:
            self._compare(self._year(compared), compared)
            return
        option = self._cover.option(compared.name)
        if option.field is not None:
            ordered = compared.how != "equals" and not compared.is_key
            if ordered and option.field.is_key:
                raise NoPlanError(_OF_WHAT)  # `More than 4 orders`: counted, not their numbers.
            self._compare(option.field, compared)
        elif compared.is_key and option.table.key is not None:
            self._compare(option.table.key, compared)
        elif compared.is_date or compared.is_key:
            raise NoPlanError(_OF_WHAT)
        else:
            self._plan.having = Condition((), compared.how, compared.numbers)
            if len(self._cover.within) > 1:
                self._plan.measured, self._plan.distinct = option.table.key, True

    def _compare(self, one: Field, compared: Compared) -> None:
        if not _can_compare(one, compared):
            raise NoPlanError(f"{one.name!r} is not compared with {compared.numbers[0]}")
        year = one.kind is Kind.DATE and not any("-" in n for n in compared.numbers)
        self._plan.where.append(Condition((one,), compared.how, compared.numbers, year))

    def _year(self, compared: Compared) -> Field:
        """Return the column by which rows are of a year or a date."""
        if not compared.is_date:
            raise NoPlanError(_OF_WHAT)
        whole = any("-" in one for one in compared.numbers)
        said = {word.text for word in self._words}
        some = [
            field
            for place in self._cover.reached()
            for field in self._names.tables[place].fields
            if said & say.BIRTH or not say.BIRTH.intersection(field.parts)
        ]
        years = [one for one in some if "year" in one.parts and not whole]
        found = years or [one for one in some if one.kind is Kind.DATE]
        if not found:
            raise NoPlanError("no column has dates or years")
        measured = self._reading.measured
        counted = self._cover.option(measured).table.place if measured is not None else None
        found = [one for one in found if one.table == counted] or found
        # Who saw whom in 2022: a visit was then, and neither of them.
        events = self._cover.referring()
        found = [one for one in found if one.table in events] or found
        self._plan.doubt *= 1.0 if len(found) == 1 else _SEVERAL_DATES
        return found[0]


def _can_compare(one: Field, compared: Compared) -> bool:
    if one.kind is Kind.NUMBER:
        return not any("-" in number[1:] for number in compared.numbers)
    if one.kind is Kind.DATE:
        return compared.is_date
    return one.kind is Kind.TEXT and one.is_key and compared.how == "equals"
