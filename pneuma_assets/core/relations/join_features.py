"""What speaks for a column and a key being joined, and how much it weighs (`experiments.joins`)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pneuma_assets.core.relations.join_column_facts import JoinColumn
from pneuma_assets.core.relations.join_names import (
    PEOPLE,
    ROLES,
    ROLES_OF_PEOPLE,
    NamedColumn,
    Words,
    ends,
)

Features = Mapping[str, float]

RELATIONS = (
    "same name", "table", "same words", "key", "ends with table", "ends with key", "end of table",
    "speaks of table", "begin of table", "role",
)  # fmt: skip
"""How the name of a column is related to a key and its table, the plainest first."""

NOT_RELATED = ""

WEIGHTS: Mapping[str, float] = {
    "always": -0.72,
    "as good": -1.6,
    "begin of table": -2.55,
    "begin of table, no key word": -0.22,
    "cells unknown": 0.67,
    "column first": -0.5,
    "column own 2": -0.64,
    "column own 3": -3.7,
    "columns of its name": -0.7,
    "covered": -0.1,
    "end of table": 0.38,
    "end of table, no key word": -0.67,
    "ends with key": 1.39,
    "ends with key, no key word": -1.05,
    "ends with table": 1.58,
    "ends with table, no key word": -1.92,
    "has a home": -2.17,
    "home": 3.37,
    "homes tie": -1.09,
    "identifier": 0.45,
    "key": 0.54,
    "key without key word": -2.14,
    "key, no key word": -0.69,
    "less own": 0.37,
    "name of something": -1.66,
    "nearly all": 1.03,
    "nearly all, no numbers": 1.31,
    "not own, not first": -3.02,
    "not own, same name": 1.72,
    "not the first key": -1.54,
    "numbers": -1.73,
    "other key word": -2.9,
    "own 2": -0.61,
    "own 3": 1.0,
    "part of table": 1.6,
    "role": 0.56,
    "role, no key word": 0.56,
    "said": 1.0,
    "same entity": 0.93,
    "same name": -0.2,
    "same name, name": -0.1,
    "same name, no key word": -1.8,
    "same table": -2.98,
    "share": 1.81,
    "speaks of table": -3.69,
    "speaks of table, no key word": -1.16,
    "table": 1.27,
    "table, no key word": 0.99,
    "unique": -0.41,
    "words left": -0.25,
}
"""Of a logistic regression, fitted by `python -m pneuma_bench.experiments.joins --weights`."""

OWN = 2
"""From this on a key is its table's own by name."""
_MOST_LEFT = 3


def has_role(column: NamedColumn) -> bool:
    """Tell whether a name says what a row is to another one of its own table."""
    of_people = not PEOPLE.isdisjoint(column.entity) and not ROLES_OF_PEOPLE.isdisjoint(
        column.words
    )
    return of_people or not ROLES.isdisjoint(column.words)


def related(column: NamedColumn, key: NamedColumn) -> tuple[str, int]:
    """Return how a column's name is related to a key, and how many words it has beyond that."""
    if column.name == key.name:
        return "same name", 0
    stems, entity = column.stems, key.entity
    same_words = (column.stems[-1],) if column.words == key.words else ()
    for relation, wanted in (("table", (entity,)), ("same words", same_words), ("key", key.stems)):
        if any(stem and stem in wanted for stem in stems):
            return relation, 0
    for relation, wanted in (("ends with table", (entity,)), ("ends with key", key.stems)):
        left = [len(stem) - len(one) for stem in stems for one in wanted if ends(stem, one)]
        if left:
            return relation, min(left)
    for relation, holds in (
        ("end of table", ends(entity, stems[0]) or ends(entity, stems[-1])),
        ("speaks of table", any(_is_inside(stem, entity) for stem in stems)),
        ("begin of table", any(stem and entity[: len(stem)] == stem for stem in stems)),
        ("role", key.column.table_id == column.column.table_id and has_role(column)),
    ):
        if holds:
            return relation, 0
    return NOT_RELATED, 0


def _is_inside(words: Words, some: Words) -> bool:
    starts = range(len(words) - len(some) + 1)
    return bool(some) and any(words[at : at + len(some)] == some for at in starts)


def standing(key: NamedColumn) -> tuple[float, ...]:
    """Order columns of one name by how plainly each is the key that the others refer to."""
    return key.own, key.column.place == 0, key.column.different


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What else there is beside a column and a key.

    Attributes:
        relation: Of their names.
        left: Words that the column has beyond it.
        as_good: Other keys that are related, and their tables' own, no less plainly.
        homes: Of all keys of the column's name, the two that are most plainly referred to.
        alike: Other columns of its name.
        is_first: Whether the key is its table's most likely one.
    """

    relation: str
    left: int
    as_good: int
    homes: Sequence[NamedColumn]
    alike: int
    is_first: bool


def features(
    column: NamedColumn, key: NamedColumn, share: float | None, beside: Surroundings
) -> Features:
    """Return what speaks for a key and against it, by name; what is 0 may be left out.

    Args:
        column: That may refer to it.
        key: The key.
        share: Of the column's cells, the share that it has; None where that is not known.
        beside: What else there is.
    """
    found = {
        "always": 1.0,
        beside.relation: 1.0,
        "words left": min(beside.left, _MOST_LEFT),
        "as good": math.log1p(beside.as_good),
        "columns of its name": math.log1p(beside.alike),
        **_of_kinds(column, key, beside.relation),
        **_of_homes(column, key, beside),
        **_of_tables(column, key, beside),
        **_of_cells(column.column, key.column, share),
    }
    return {name: float(value) for name, value in found.items() if value}


def _of_kinds(column: NamedColumn, key: NamedColumn, relation: str) -> Features:
    """Whether both names say that they are keys, and of one kind: identifiers, codes, names."""
    same = relation == "same name"
    return {
        f"{relation}, no key word": column.kind is None,
        f"{relation}, name": same and column.kind == "name",
        "key without key word": not same and key.kind is None and column.kind is not None,
        "other key word": not same
        and None not in {column.kind, key.kind}
        and column.kind != key.kind,
        "name of something": column.kind == "name" != key.kind,
        "identifier": column.kind == "id",
    }


def _of_homes(column: NamedColumn, key: NamedColumn, beside: Surroundings) -> Features:
    """Which of all keys of one name is the one that others refer to."""
    if not beside.homes:
        return {}
    first, second = beside.homes[0], beside.homes[-1]
    if beside.relation != "same name":
        return {"has a home": first.own >= max(OWN, key.own) and first is not column}
    ties = second is not first and standing(second) == standing(first)
    return {
        "home": first is key or (ties and second is key),
        "homes tie": second is not first and standing(second)[:2] == standing(first)[:2],
    }


def _of_tables(column: NamedColumn, key: NamedColumn, beside: Surroundings) -> Features:
    """How plainly each is its own table's key, and how the tables are related."""
    is_self = column.column.table_id == key.column.table_id
    entity, other = column.entity, key.entity
    return {
        f"own {key.own}": key.own >= OWN,
        "not own, not first": key.own < OWN and key.column.place > 0,
        "not own, same name": key.own < OWN and beside.relation == "same name" and not column.kind,
        "not the first key": not beside.is_first,
        f"column own {column.own}": column.own >= OWN,
        "column first": column.own < OWN and column.column.place == 0 and column.kind == "id",
        "less own": key.own < column.own,
        "same table": is_self and beside.relation != "role",
        "same entity": not is_self and entity == other,
        "part of table": not is_self and entity != other and _is_inside(entity, other),
    }


def _of_cells(column: JoinColumn, key: JoinColumn, share: float | None) -> Features:
    """How many of the cells are in the key, and how much that says."""
    numbers = column.is_whole_number and key.is_whole_number
    known = column.is_unique is not None and key.is_unique is not None
    return {
        "share": share or 0.0,
        "nearly all": share is not None and share >= _NEARLY_ALL,
        "nearly all, no numbers": share is not None and share >= _NEARLY_ALL and not numbers,
        "cells unknown": known and share is None,
        "numbers": numbers,
        "unique": bool(column.is_unique),
        "covered": min(1.0, column.different / max(1.0, key.different)) if known else 0.0,
    }


_NEARLY_ALL = 0.9
