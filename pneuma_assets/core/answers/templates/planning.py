"""From what was read to a plan: what is computed, grouped, ordered and shown."""

from collections.abc import Iterable, Sequence

from pneuma_assets.core.answers.tables import AnswerSet
from pneuma_assets.core.answers.templates import vocabulary as say
from pneuma_assets.core.answers.templates.conditions import Conditions
from pneuma_assets.core.answers.templates.covering import Cover
from pneuma_assets.core.answers.templates.directions import largest_first, may_imply
from pneuma_assets.core.answers.templates.fields import Field, Kind, is_when
from pneuma_assets.core.answers.templates.mentions import NameSpan, Option
from pneuma_assets.core.answers.templates.names import Named, Names
from pneuma_assets.core.answers.templates.none_counted import keep_those_with_none
from pneuma_assets.core.answers.templates.plan import NoPlanError, Plan
from pneuma_assets.core.answers.templates.repeating import adds_repeated, is_repeated
from pneuma_assets.core.answers.templates.sentence import Reading, is_plural, names_table
from pneuma_assets.core.answers.templates.ways import Ways
from pneuma_assets.core.answers.templates.words import Word
from pneuma_assets.core.evidence.fields import name_parts

_HAVING = frozenset({"most", "least", "fewest"})
_MEASURED = frozenset({Kind.NUMBER, Kind.DATE})
_OF_ANOTHER_TABLE = 0.8
"""What is left of a draft that orders rows by a table which may have several of each."""
_COUNTED = frozenset({"count", "cnt"})
"""The name of a column that says how often there was what its table is called by."""
_UNUSED = 0.8
"""What is left for each column that a question names and nothing is done with."""
_NO_ORDER = "it is not plain by which column rows are ordered"
_NOTHING_ASKED = "no column or table is named that it asks for"
_COUNTED_OR_ADDED = "it is not plain whether rows are counted, added up, or taken one by one"


def plan_of(reading: Reading, words: Sequence[Word], names: Names, tables: AnswerSet) -> Plan:
    """Return the plan of what was read.

    Raises:
        NoPlanError: No form fits.
    """
    return _Planner(reading, words, names, tables).made()


class _Planner:
    def __init__(
        self, reading: Reading, words: Sequence[Word], names: Names, tables: AnswerSet
    ) -> None:
        self._reading = reading
        self._words = words
        self._names = names
        self._tables = tables.tables
        self._cover = Cover(reading, tables)
        self._plan = Plan()
        self._each: list[Field] = []
        self._ways = Ways(reading, words, names, tables)
        Conditions(reading, words, names, self._cover, self._plan).add()

    def made(self) -> Plan:
        self._computed()
        self._listed()
        measured = self._plan.measured
        if (
            measured is not None
            and self._plan.how == "average"
            and any(one.unique and one.table == measured.table for one in self._plan.groups)
        ):
            raise NoPlanError(f"each row has one {measured.name!r}, which is its own average")
        self._joined()
        if self._reading.how != "common":
            keep_those_with_none(self._plan, self._cover.places)
        return self._plan

    def _grouped(self, spans: Iterable[NameSpan]) -> None:
        for span in spans:
            shown = self._cover.shown(span)
            option = self._cover.option(span)
            key = option.table.key if option.field is None else None
            if key is not None and key.unique and not any(one.unique for one in shown):
                shown = (key, *shown)  # Two of one name are not one.
            self._plan.groups += [one for one in shown if one not in self._plan.groups]

    def _computed(self) -> None:
        reading, plan = self._reading, self._plan
        plan.falling, plan.limit = reading.falling, max(0, reading.limit)
        self._grouped(reading.groups)
        how = reading.how
        if how == "count" and reading.of_shown and self._is_measure(reading.measured):
            how = ""  # `The largest number of survivors`: there is a column of numbers.
        if plan.having is not None and (how or reading.falling is not None):
            raise NoPlanError("nothing is computed of what a count chooses")
        if how == "common" or plan.having is not None:
            how = "count"
            self._from_shown()
        elif how and reading.of_shown and not plan.groups:
            self._from_shown()
        self._measured(how)
        if reading.ordered is not None:
            self._ordered_by(self._cover.shown(reading.ordered)[0])
        if plan.groups and not plan.how:
            self._told_of_each()
        elif plan.groups and plan.order is not None and plan.order not in plan.groups:
            plan.order = None  # A group has many of them; what is computed orders instead.
            plan.doubt *= _UNUSED
        self._directed()
        if reading.falling is not None and reading.limit == 0:
            plan.limit = 1 if plan.groups or plan.order is not None else 0

    def _ordered_by(self, one: Field) -> None:
        if self._reading.superlative and one is not self._plan.order:
            raise NoPlanError("which rows are there is one order, and how they come another")
        if one.amounts:  # As texts, `10,5` comes before `4,5`.
            raise NoPlanError(f"the numbers of {one.name!r} are kept as texts")
        self._plan.order = one

    def _directed(self) -> None:
        """Let rows begin at the end that a superlative means: the fastest have the least time."""
        plan, reading = self._plan, self._reading
        if plan.falling is None:
            return
        clause = {self._words[place].text for place in reading.clause}
        if plan.order is None and clause & say.BY_LETTERS:
            plan.order = self._by_letters()
        if plan.order is None and not plan.groups:
            raise NoPlanError(_NO_ORDER)
        both = bool(reading.superlative) and reading.ordered is not None
        words = [word for word in (reading.superlative, reading.direction) if word]
        computed = plan.measured if plan.how != "count" else None
        ends = [largest_first(word, plan.order or computed) for word in words]
        if len(set(ends)) > 1 or (both and not reading.direction):
            raise NoPlanError(_NO_ORDER)
        plan.falling = ends[0] if ends else plan.falling

    def _by_letters(self) -> Field:
        for span in (*self._reading.groups, *self._reading.shown):
            one = self._cover.shown(span)[0]
            if one.kind is Kind.TEXT and not one.amounts:
                return one
            break
        raise NoPlanError(_NO_ORDER)

    def _told_of_each(self) -> None:
        """Show what `the capital of each state` asks for: nothing is computed of a state."""
        if self._reading.measured is not None or self._reading.implied:
            raise NoPlanError("the largest of each group is not looked for")
        amounts = any(one.kind is Kind.NUMBER and not one.is_key for one in self._asked())
        several = amounts and not any(one.unique for one in self._plan.groups)
        if several or any(map(names_table, self._reading.shown)):  # `Sales per region`.
            raise NoPlanError(_COUNTED_OR_ADDED)
        self._each = list(self._plan.groups)
        self._plan.shown, self._plan.groups = [*self._plan.groups, *self._plan.shown], []

    def _asked(self) -> list[Field]:
        """Return the columns of all that is asked for."""
        return [one for span in self._reading.shown for one in self._cover.shown(span)]

    def _measured(self, how: str) -> None:
        reading, plan = self._reading, self._plan
        if how == "count" and reading.measured is not None:
            self._count(self._cover.option(reading.measured), reading.measured)
        elif how == "count":
            plan.how = "count"
        elif how and reading.measured is not None:
            plan.how, plan.measured = how, self._cover.measure(reading.measured)
            if plan.measured.kind is not Kind.NUMBER and how in {"average", "sum"}:
                raise NoPlanError(f"{plan.measured.name!r} has no numbers")
        elif reading.measured is not None:
            self._largest(self._cover.measure(reading.measured))
        elif reading.implied:
            self._largest(self._implied())
        elif reading.limit >= 0 and reading.falling is not None and reading.ordered is None:
            raise NoPlanError(_NO_ORDER)

    def _is_measure(self, span: NameSpan | None) -> bool:
        one = self._cover.option(span).field if span is not None else None
        number = one is not None and one.kind is Kind.NUMBER and not one.is_key
        return number and span is not None and not is_plural(span, self._words)

    def _from_shown(self) -> None:
        if not self._reading.shown:
            raise NoPlanError(_NOTHING_ASKED)
        span = self._reading.shown.pop(0)
        self._reading.used.update(span.words)
        self._grouped([span])

    def _count(self, option: Option, span: NameSpan) -> None:
        plan = self._plan
        plan.how = "count"
        plan.distinct = self._reading.distinct
        one = option.field
        if one is None:
            plan.counted = option.table.place
            amount = [f for f in option.table.fields if f.parts and set(f.parts) <= _COUNTED]
            amount = [f for f in amount if f.kind is Kind.NUMBER]
            if amount:
                plan.how, plan.measured = "sum", amount[0]
            elif (same := _same_name(option.table)) is not None:
                plan.measured, plan.distinct = same, True
            elif len(self._cover.within) > 1 and option.table.key is not None:
                plan.measured, plan.distinct = option.table.key, True
        elif is_when(one) or one.kind is Kind.TRUTH or self._is_one_value(one):
            raise NoPlanError(_no_count(one))  # Something was on days, and that is counted.
        elif self._is_measure(span) and not plan.distinct:
            plan.how, plan.measured = "sum", one
        elif not (one.is_key or plan.distinct) and (
            (one.kind is Kind.NUMBER and len(one.parts) > 1) or self._says_table(span, option)
        ):
            # `Lines`: `line_no` begins anew with each order. `Lab tests`: rows, or kinds of test?
            raise NoPlanError(_no_count(one))
        else:
            plan.measured, plan.distinct = one, True

    def _says_table(self, span: NameSpan, option: Option) -> bool:
        """Tell whether the words that name a column name its table, too: `lab tests`."""
        own = option.table.stems - (option.field.stems if option.field else frozenset())
        return any(own.intersection(self._words[place].stems) for place in span.words)

    def _is_one_value(self, one: Field) -> bool:
        """Tell whether a condition leaves one value of a column: `how many orders are urgent`."""
        return any(c.how == "equals" and one in c.fields for c in self._plan.where)

    def _largest(self, one: Field) -> None:
        """Order by a column; without anything to show, tell its largest or smallest value."""
        plan, reading = self._plan, self._reading
        if self._words[0].text == "who" and not reading.shown and not plan.groups:
            plan.shown += self._names.tables[one.table].shown
        elif not reading.shown and not plan.groups:
            if reading.limit > 0:
                raise NoPlanError(_NOTHING_ASKED)
            falling = bool(reading.falling)
            falling = largest_first(reading.superlative, one) if reading.superlative else falling
            plan.how, plan.measured = ("max" if falling else "min"), one
            plan.falling = None
            return
        if reading.superlative in _HAVING and not self._tells_apart(one):
            raise NoPlanError(_COUNTED_OR_ADDED)  # `Has the most units`: of all of its rows.
        plan.order = one
        plan.shown.append(one)
        if any(self._cover.option(span).table.place != one.table for span in reading.shown):
            plan.doubt *= _OF_ANOTHER_TABLE

    def _tells_apart(self, one: Field) -> bool:
        """Tell whether each row of a column of numbers is one of what is shown."""
        shown = self._asked()
        alone = any(field.unique and field.table == one.table for field in shown)
        return one.kind is Kind.NUMBER and (alone or not shown)

    def _implied(self) -> Field:
        """Return the column that a superlative compares where it names none."""
        of = self._reading.implied_of
        spans = [*self._reading.shown] if of is None else [of]
        tables = [self._cover.option(span).table for span in spans]
        names = [name_parts(table.read.name) for table in self._tables]
        for word in self._reading.implied:
            for one in (one for table in tables for one in table.fields):
                fits = word in one.parts and one.kind in _MEASURED and not one.is_key
                if fits and may_imply(self._reading.superlative, one, names[one.table]):
                    return one
        raise NoPlanError(f"no column says for sure what is {self._reading.superlative}")

    def _listed(self) -> None:
        plan, reading = self._plan, self._reading
        for span in reading.shown:
            fields = self._cover.shown(span)
            if plan.how and not plan.groups:
                self._told_beside(self._cover.option(span), span)
                continue
            if plan.groups and not all(f in plan.groups for f in fields):
                if not {f.table for f in fields} <= {f.table for f in self._computed_of()}:
                    raise NoPlanError(_NOTHING_ASKED)  # A table would be joined for nothing.
                continue
            reading.used.update(span.words)
            plan.shown += [one for one in fields if one not in plan.shown]
        if plan.order is not None and plan.shown and not plan.how:
            plan.shown += [] if plan.order in plan.shown else [plan.order]
            plan.shown.sort(key=lambda one: one is plan.order)
        if not (plan.how or plan.shown):
            raise NoPlanError(_NOTHING_ASKED)
        if self._each and all(one in self._each for one in plan.shown):
            raise NoPlanError(_COUNTED_OR_ADDED)  # `Sales per region`: more than the regions.
        plain = not plan.how and plan.falling is None and not plan.where and not reading.limit
        if plain and not reading.shown:
            raise NoPlanError(_NOTHING_ASKED)
        equal = [c.fields for c in plan.where if c.how == "equals" and len(c.fields) == 1]
        known = {id(fields[0]) for fields in equal}
        if not plan.how and all(id(one) in known for one in plan.shown):
            raise NoPlanError(_NOTHING_ASKED)  # The question says it itself.

    def _computed_of(self) -> list[Field]:
        """Return the columns of groups, of what is computed of them, and of conditions."""
        measured = self._plan.measured
        of_conditions = [one for condition in self._plan.where for one in condition.fields]
        return [*self._plan.groups, *([] if measured is None else [measured]), *of_conditions]

    def _joined(self) -> None:
        plan = self._plan
        fields: list[Field | None] = [*plan.shown, *plan.groups, plan.measured, plan.order]
        fields += [one for condition in plan.where for one in condition.fields]
        read = {one.table for one in fields if one is not None}
        read |= self._cover.within
        plan.joins = self._cover.tree(frozenset(read)) or ()
        reached = {self._cover.places[t] for e in plan.joins for t in e.tables} | read
        plan.tables = sorted(reached)
        plan.joins = tuple(
            self._ways.meant(self._cover.ways[edge.tables], plan) for edge in plan.joins
        )
        for span in self._reading.context:
            self._told_beside(self._cover.option(span), span)
        repeated = is_repeated(plan, self._cover.places)
        if adds_repeated(plan, self._cover.places, self._names):
            raise NoPlanError("a join would count rows more than once")
        if plan.how:
            plan.doubt *= _OF_ANOTHER_TABLE if repeated and not plan.groups else 1.0
            return
        texts = all(one.kind is not Kind.NUMBER or one.is_key for one in plan.shown)
        alike = bool(plan.where) and texts and not any(one.unique for one in plan.shown)
        alike = alike and not any(map(names_table, self._reading.shown))  # Two of one name are two.
        plan.distinct = repeated or alike or self._reading.distinct
        if repeated and not self._reading.distinct:
            self._keep_apart()

    def _keep_apart(self) -> None:
        """Show the key of each table of which rows are asked for: two of one name are two."""
        for span in filter(names_table, self._reading.shown):
            table = self._cover.option(span).table
            known = any(one.unique for one in self._plan.shown if one.table == table.place)
            if table.key is not None and table.key.unique and not known:
                self._plan.shown.insert(0, table.key)

    def _told_beside(self, option: Option, span: NameSpan) -> None:
        """Note that a table is joined of which nothing is shown; doubt a column that is not."""
        if option.field is not None:
            self._plan.doubt *= _UNUSED
        elif option.table.place in self._cover.within:
            self._reading.used.update(span.words)


def _no_count(one: Field) -> str:
    return f"it is not plain what is counted: hardly {one.name!r}"


def _same_name(table: Named) -> Field | None:
    """Return the column called as its table, where rows have the same of it again."""
    same = (one for one in table.fields if one.stems == table.stems and not one.unique)
    named = (one for one in same if one.is_key or len(one.parts) == 1 or one.kind is Kind.TEXT)
    return next((one for one in named if not is_when(one)), None)
