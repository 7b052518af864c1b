"""Tables side by side of the same columns, one a year say, which a question does not tell apart.

A statement about one of them answers for that one alone, and nothing in it says so. So it is run on
the others, too, each for an answer of its own, also where it joins them with further tables.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pneuma_assets.core.answers.results import AnswerSet, AnswerTable, called
from pneuma_assets.core.relations.join_graph import JoinEdge
from pneuma_assets.core.relations.part_names import meant, words_of_name
from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.terms.split_names import singular

_Side = tuple[str, tuple[str, ...]]
_Change = tuple[frozenset[str], frozenset[str]]
"""Words of a name that another one does not have, and those that it has in their place."""


@dataclass(frozen=True, slots=True)
class SiblingTables:
    """What a statement may be run on besides the tables that it names.

    Attributes:
        question: Which may tell tables apart: where it says 2020, the table of 2019 is not meant.
        tables: Those that were found, best first.
        joins: Those that are known between them.
    """

    question: str
    tables: Sequence[AnswerTable]
    joins: Sequence[JoinEdge] = ()

    def others(self, read: Sequence[AnswerTable]) -> list[AnswerSet]:
        """Return tables that may stand in the place of those that a statement reads, best first.

        They are parts of one, as their names say, have the same columns of the same types, and
        are joined with what else is read by the same columns. Where several have others like them,
        they change together: `sales_2020` goes with `returns_2020`, as `sales_2019` did with
        `returns_2019`; else each by itself.

        Args:
            read: What the statement reads, in this order; the others are called as these are.
        """
        swaps: dict[object, dict[str, AnswerTable]] = {}
        taken = {one.table_id for one in read}
        for one in read:
            for other in chosen(self.question, self._family(one)):
                if other.table_id not in taken and _columns(other) == _columns(one):
                    swaps.setdefault(_change(one, other), {}).setdefault(one.table_id, other)
                    swaps.setdefault(other.table_id, {one.table_id: other})
        together = [new for new in swaps.values() if self._are_joined(read, new)]
        found: dict[frozenset[str], AnswerSet] = {}
        for new in sorted(together, key=len, reverse=True):
            used = {other.table_id for other in new.values()}
            if not any(used & ids for ids in found):
                found[frozenset(used)] = _instead(read, new)
        return list(found.values())

    def unread(self, read: Iterable[str], tried: Iterable[str]) -> list[str]:
        """Return the ids of parts of what was read that were not asked about, though they may be.

        That are all others, unless the question names the one that was read.

        Args:
            read: Ids of what was read.
            tried: Of these and of all others that a statement was run on.
        """
        ids, known = frozenset(read), frozenset(tried)
        found: dict[str, None] = {}
        for one in self.tables:
            if one.table_id not in ids:
                continue
            family = self._family(one)
            if len(chosen(self.question, family)) > 1:
                found.update(dict.fromkeys(part.table_id for part in family))
        return [table_id for table_id in found if table_id not in known]

    def _family(self, table: AnswerTable) -> list[AnswerTable]:
        """Return the parts of what a table is a part of, itself among them."""
        return [
            one
            for one in self.tables
            if one.table_id == table.table_id
            or (_names(one) == _names(table) and are_parts(one.table_id, table.table_id))
        ]

    def _are_joined(self, read: Sequence[AnswerTable], new: Mapping[str, AnswerTable]) -> bool:
        """Tell whether others are joined by the columns by which those are that they stand for."""
        ids = {one.table_id for one in read}
        known = {_sides(edge) for edge in self.joins}
        between = [edge for edge in self.joins if {edge.table, edge.other} <= ids]
        touched = [edge for edge in between if not new.keys().isdisjoint((edge.table, edge.other))]
        joined = {table_id for edge in touched for table_id in (edge.table, edge.other)}
        return (len(read) == 1 or new.keys() <= joined) and all(
            _sides(edge, {old: other.table_id for old, other in new.items()}) in known
            for edge in touched
        )


def _sides(edge: JoinEdge, instead: Mapping[str, str] | None = None) -> frozenset[_Side]:
    """Return what a join joins, whichever side is named first and in whatever capitals."""
    new = instead or {}
    pairs = ((edge.table, edge.columns), (edge.other, edge.other_columns))
    return frozenset((new.get(i, i), tuple(map(str.casefold, columns))) for i, columns in pairs)


def _instead(read: Sequence[AnswerTable], new: Mapping[str, AnswerTable]) -> AnswerSet:
    """Return tables with others in the place of some, called as those are."""
    return AnswerSet(
        tuple(
            called(new[one.table_id], one.read.name, one.read.schema)
            if one.table_id in new
            else one
            for one in read
        )
    )


def _change(one: AnswerTable, other: AnswerTable) -> _Change:
    before, after = words_of_name(one.table_id), words_of_name(other.table_id)
    return before - after, after - before


def _columns(table: AnswerTable) -> frozenset[tuple[str, str]]:
    return frozenset((column.name.casefold(), column.type) for column in table.columns)


def _names(table: AnswerTable) -> frozenset[str]:
    return frozenset(column.name.casefold() for column in table.columns)


def are_parts(one: str, other: str) -> bool:
    """Tell whether two tables, by their ids, are called the same but for what tells parts apart.

    `sales_2019` and `sales_2020`, `people` of two folders, `sales/2019` and `sales/2020`; not
    `phases` and `cities`, whatever their columns are.
    """
    return not _own(one).isdisjoint(_own(other))


def chosen(question: str, tables: Sequence[AnswerTable]) -> list[AnswerTable]:
    """Return those of some parts that a question names best; all, where it names none.

    `2018 and 2020` names two of them.
    """
    named = frozenset(meant(question, [one.table_id for one in tables]))
    return [one for one in tables if one.table_id in named]


def _own(table_id: str) -> frozenset[str]:
    """Return the words of a table's own name, or of its folder where that is only a number."""
    found: set[str] = set()
    for segment in reversed(table_id.split("/")[1:]):
        found = {singular(part) for part in name_parts(segment) if not part.isdigit()}
        if found:
            break
    return frozenset(found)
