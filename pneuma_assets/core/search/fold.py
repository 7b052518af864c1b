"""What belongs together as one result: copies of a table, and members of a family."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from pneuma_assets.core.relations.families import are_alike, family_of
from pneuma_assets.core.relations.part_names import meant, order_of
from pneuma_assets.core.relations.version_names import (
    OFTEN,
    PlainName,
    kinds_of_copy,
    letters_of,
    plain_name,
    spellings_of,
)
from pneuma_assets.core.search.signals import RARE, RankedTable
from pneuma_assets.core.tables import TableFacts, TableTerms
from pneuma_assets.core.terms.fields import name_parts

_DIGITS_OF_A_DAY = 8

_FIRST = 20
"""Tables of which one stands behind another: those further down are hardly ever looked at."""

_MOST_COMPARED = 20
"""Tables whose columns are looked at for one question."""


_LONGEST_RUN = 6
"""Words of a question that may be a name with what marks a version of it."""


@lru_cache(maxsize=8)
def _runs(question: str) -> frozenset[str]:
    """Return the letters of each run of a question's words."""
    parts = name_parts(question)
    lengths, places = range(2, _LONGEST_RUN + 1), range(len(parts))
    return frozenset("".join(parts[at : at + n]) for n in lengths for at in places)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and which tables it is meant for by name.

    Attributes:
        question: In plain language.
        tables: Those that a filter names.
    """

    question: str
    tables: Collection[str] = ()

    def means(self, table_id: str, name: PlainName) -> bool:
        """Tell whether this very table is asked for and not what it is a copy of.

        That is so where a filter names it, or the question does.
        """
        return table_id in self.tables or self.says(table_id, name)

    def says(self, table_id: str, name: PlainName) -> bool:
        """Tell whether the question is a table's name, or says what the name says of the table.

        That is: backup, snapshot, a day; `bak` is a backup, too. Words that are said of much else
        (`version_names.OFTEN`) count side by side with the rest of the name, as in "the old
        orders"; the little ones beside a mark ("Copy of") do not.
        """
        parts = name_parts(self.question)
        letters = "".join(parts)
        day = "".join(filter(str.isdecimal, name.marks))
        return (
            not kinds_of_copy(name.marks).isdisjoint(kinds_of_copy(parts))
            or (len(day) >= _DIGITS_OF_A_DAY and day in letters)
            or any(
                {mark + name.stem, name.stem + mark} & _runs(self.question)
                for mark in OFTEN.intersection(name.marks)
            )
            or (letters != name.stem and letters in spellings_of(table_id))
        )


def collapse_copies(
    ranked: Sequence[RankedTable], facts: Mapping[str, TableFacts], asked: Asked
) -> list[RankedTable]:
    """Return tables with their copies: the original, where the best of them stands.

    Args:
        ranked: The best first. An original that is not among them is not shown: who asks may not
            see it, or looks elsewhere.
        facts: What is known of them.
        asked: Tables that are asked for by name stay by themselves; before their original, if the
            question does so.
    """
    known = {letters_of(one.table_id) for one in ranked}
    groups: dict[str, list[RankedTable]] = defaultdict(list)
    wanted: dict[str, str] = {}
    for one in ranked:
        original = facts[one.table_id].copy_of if one.table_id in facts else None
        name = plain_name(one.table_id, known)
        if original is not None:  # payments, a copy of orders, is asked for by its own name
            name = replace(name, stem=plain_name(original, known).stem)
        alone = original is None or asked.means(one.table_id, name)
        groups[one.table_id if alone or original is None else original].append(one)
        if original is not None and asked.says(one.table_id, name):
            wanted[one.table_id] = original
    order = list(groups)
    for copy, original in wanted.items():
        if original in groups and order.index(original) < order.index(copy):
            order.remove(copy)
            order.insert(order.index(original), copy)
    return [_as_one(one, groups[one], known) for one in order]


def _as_one(original: str, group: Sequence[RankedTable], known: Collection[str]) -> RankedTable:
    def standing(one: RankedTable) -> tuple[bool, bool]:
        return one.table_id != original, bool(plain_name(one.table_id, known).marks)

    first, *others = sorted(group, key=standing)
    return replace(first, copies=tuple(one.table_id for one in others)) if others else first


_NEARLY = 0.05
"""Share of the best member's score: of those that score no more below it the newest is shown, as
nothing that the question says tells them apart."""

_LOOKED_UP = 5
"""Members of a family that are scored whether the index proposes them or not, those named first."""


@dataclass(frozen=True, slots=True)
class Families:
    """The families of a question's candidates.

    Attributes:
        members: Of each family, by its first member, those that the asker may see, newest first.
        meant: Of these the ones that the question names, or all where it names none.
        single: Tables that a filter names: they are asked for by themselves.
        question: In plain language.
    """

    members: Mapping[str, Sequence[str]]
    meant: Mapping[str, Sequence[str]]
    single: Collection[str] = ()
    question: str = ""

    @classmethod
    def of(
        cls, question: str, members: Mapping[str, Sequence[str]], single: Collection[str]
    ) -> "Families":
        """Return families of two and more, with those members that the question means."""
        several = {
            name: sorted(some, key=order_of, reverse=True)
            for name, some in members.items()
            if len(some) > 1
        }
        named = {name: meant(question, some) for name, some in several.items()}
        return cls(several, named, single, question)

    def unscored(self, found: Collection[str]) -> list[str]:
        """Return members that are to be scored beside those that were found."""
        first = (one for some in self.meant.values() for one in some[:_LOOKED_UP])
        return [one for one in first if one not in found]

    def fold(
        self, ranked: Sequence[RankedTable], facts: Mapping[str, TableFacts], most: int
    ) -> list[RankedTable]:
        """Return up to `most` tables of each family, where the best of its members stand.

        These are of the members that the question means; first comes the newest of those that
        score nearly as well as the best of them, and hold as many rare words.

        Args:
            ranked: The best first.
            facts: What is known of them.
            most: How many are left, each a result with its family.
        """
        names = [self._name(one, facts) for one in ranked]
        groups: dict[str, list[RankedTable]] = defaultdict(list)
        for name, one in zip(names, ranked, strict=True):
            groups[name].append(one)
        left = {name: iter(self._kept(name, some, most)) for name, some in groups.items()}
        found = (next(left[name], None) for name in names)
        return [one for one in found if one is not None]

    def _name(self, one: RankedTable, facts: Mapping[str, TableFacts]) -> str:
        known = facts.get(one.table_id)
        family = None if known is None or one.table_id in self.single else known.family
        return family if family is not None and family in self.members else f"{one.table_id}/"

    def _kept(self, name: str, group: Sequence[RankedTable], most: int) -> Sequence[RankedTable]:
        members = self.members.get(name)
        if members is None:
            return group
        named = frozenset(self.meant[name])
        able = [one for one in group if one.table_id in named] or group
        rare = able[0].signals.get(RARE, 0.0)  # a word that it alone has tells it from the newest
        near = [
            one
            for one in able
            if one.score >= able[0].score * (1 - _NEARLY) and one.signals.get(RARE, 0.0) >= rare
        ]
        first = max(near, key=lambda one: order_of(one.table_id)[:-1])
        kept = [first, *(one for one in able if one is not first)][:most]
        of = partial(family_of, members=members, named=self.meant[name], question=self.question)
        return [replace(one, family=of(one.table_id)) for one in kept]


def behind_originals(
    ranked: Sequence[RankedTable],
    asked: Asked,
    evidence_of: Callable[[Sequence[str]], Mapping[str, TableTerms]],
) -> list[RankedTable]:
    """Move tables that their names call backups, tests or old versions behind what they are of.

    So are tables without rows moved behind one of the same name that has some. What is moved has
    the columns of the other; where it stood better, the other takes its place.

    Args:
        ranked: The best first.
        asked: What is asked for by name stays where it is.
        evidence_of: Returns the evidence of tables.
    """
    known = {letters_of(one.table_id) for one in ranked}
    names = {one.table_id: plain_name(one.table_id, known) for one in ranked}
    families: dict[str, list[str]] = defaultdict(list)
    for table_id, name in names.items():
        if name.stem:
            families[name.stem].append(table_id)
    seen = {one.table_id for one in ranked[:_FIRST]}
    shared = [one for one in families.values() if len(one) > 1 and not seen.isdisjoint(one)]
    compared = [table_id for one in shared for table_id in one][:_MOST_COMPARED]
    evidence = evidence_of(compared) if compared else {}
    order = [one.table_id for one in ranked]
    for family in shared:
        members = [i for i in family if i in evidence and not asked.means(i, names[i])]
        _arrange(order, members, names, evidence)
    by_id = {one.table_id: one for one in ranked}
    return [by_id[table_id] for table_id in order]


def _arrange(
    order: list[str],
    members: Sequence[str],
    names: Mapping[str, PlainName],
    evidence: Mapping[str, TableTerms],
) -> None:
    """Let the best one that is like a lesser table stand before it; others stay where they are."""
    lesser = {i: _lesser(names[i], evidence[i]) for i in members}
    columns = {i: _columns(evidence[i]) for i in members}
    for one in sorted(members, key=order.index):
        better = [
            i for i in members if lesser[i] < lesser[one] and are_alike(columns[i], columns[one])
        ]
        best = min(better, key=lambda i: (lesser[i], order.index(i)), default=one)
        if order.index(best) > order.index(one):
            order.remove(best)
            order.insert(order.index(one), best)


def _lesser(name: PlainName, evidence: TableTerms) -> tuple[bool, bool]:
    return not evidence.rows, bool(name.marks)


def _columns(evidence: TableTerms) -> frozenset[str]:
    return frozenset(map(_letters, evidence.columns))


def _letters(name: str) -> str:
    return "".join(name_parts(name)) or name
