"""Which sets of tables are asked about, of those that were found."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pneuma_assets.core.answers.attempting import called
from pneuma_assets.core.answers.tables import AnswerSet, AnswerTable
from pneuma_assets.core.relations.join_graph import JoinEdge, On
from pneuma_assets.core.relations.rank_groups import MOST_TABLES
from pneuma_assets.core.search.groups import GroupResult

Tables = tuple[Sequence[str], Sequence[JoinEdge]]
"""Ids of tables, and by which joins they are one set."""


def sets_to_ask(groups: Iterable[GroupResult], most: int) -> list[Tables]:
    """Return up to `most` sets of tables, best first, none of them within another.

    Sets that have a table in common are mostly about the same thing, and the right one may be the
    second or third. So one call with the tables of all of these stands in the place of several, up
    to `MOST_TABLES`: the model leaves out what it does not need.

    Args:
        groups: Best first.
        most: Sets.
    """
    found: list[tuple[dict[str, None], dict[On, JoinEdge]]] = []
    for group in groups:
        joins = {edge.on: edge for edge in group.joins}
        for tables, known in found:
            if tables.keys() >= set(group.tables):
                break
            common = not tables.keys().isdisjoint(group.tables)
            if common and len(tables.keys() | set(group.tables)) <= MOST_TABLES:
                tables.update(dict.fromkeys(group.tables))
                known.update(joins)
                break
        else:
            if len(found) < most:
                found.append((dict.fromkeys(group.tables), dict(joins)))
    return [(tuple(tables), tuple(joins.values())) for tables, joins in found]


def answer_sets(sets: Iterable[Tables], tables: Mapping[str, AnswerTable]) -> list[AnswerSet]:
    """Return sets with what is known of their tables; those with one that is not known are left."""
    return [
        AnswerSet(with_names([tables[one] for one in ids]), tuple(joins))
        for ids, joins in sets
        if all(one in tables for one in ids)
    ]


def with_matches(table: AnswerTable, matched: Mapping[str, float]) -> AnswerTable:
    """Return a table with the columns that a question names."""
    names = {column.name for column in table.columns}
    return replace(table, matched={n: score for n, score in matched.items() if n in names})


def with_names(tables: Sequence[AnswerTable]) -> tuple[AnswerTable, ...]:
    """Return tables with names of which no two are the same in any capitals."""
    taken: dict[str, tuple[str, str]] = {}
    found = []
    for table in tables:
        read, number = table.read, 1
        name = read.name
        while name.casefold() in taken:
            number += 1
            name = f"{read.name}_{number}"
        if read.place in taken.values():  # of two databases: they are read, and called anew
            found.append(replace(table, read=replace(read, name=name, schema="")))
        else:
            found.append(table if number == 1 else called(table, name, read.schema))
        taken[name.casefold()] = found[-1].read.place
    return tuple(found)
