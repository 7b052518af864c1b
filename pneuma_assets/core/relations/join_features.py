"""What speaks for a column and a key being joined, and how much it weighs (`experiments.joins`)."""

from collections.abc import Mapping

from pneuma_assets.core.relations.join_names import (
    PEOPLE,
    ROLES,
    ROLES_OF_PEOPLE,
    NamedColumn,
    Words,
    ends,
)

Features = Mapping[str, float]

WEIGHTS: Mapping[str, float] = {
    "always": -3.82,
    "ends with key": 2.48,
    "ends with table": 3.23,
    "ends with table, no key word": -2.15,
    "home": 4.28,
    "key": 1.6,
    "key without key word": -4.57,
    "not own, not first": -2.83,
    "numbers": -2.49,
    "other key word": -4.72,
    "own": 2.13,
    "part of table": 1.37,
    "role": 2.41,
    "same table": -4.43,
    "share": 3.1,
    "table": 2.21,
}
"""Of a logistic regression, fitted by `python -m pneuma_bench.experiments.joins --weights`. Others
were left out that found no more joins in databases that the weights were not fitted to."""

OWN = 2
"""From this on a key is its table's own by name."""


def has_role(column: NamedColumn) -> bool:
    """Tell whether a name says what a row is to another one of its own table."""
    of_people = not PEOPLE.isdisjoint(column.entity) and not ROLES_OF_PEOPLE.isdisjoint(
        column.words
    )
    return of_people or not ROLES.isdisjoint(column.words)


def related(column: NamedColumn, key: NamedColumn) -> str:
    """Return how a column's name is related to a key, the plainest way; empty where it is not."""
    stems, entity = [stem for stem in column.stems if stem], key.entity
    ways = {
        "same name": column.name == key.name,
        "table": entity in stems,
        "same words": column.words == key.words and bool(column.stems[-1]),
        "key": not {*key.stems}.isdisjoint(stems),
        "ends with table": any(ends(stem, entity) for stem in stems),
        "ends with key": any(ends(stem, one) for stem in stems for one in key.stems),
        "role": key.column.table_id == column.column.table_id and has_role(column),
    }
    return next((way for way, holds in ways.items() if holds), "")


def _is_inside(words: Words, some: Words) -> bool:
    starts = range(len(words) - len(some) + 1)
    return bool(some) and any(words[at : at + len(some)] == some for at in starts)


def standing(key: NamedColumn) -> tuple[float, ...]:
    """Order columns of one name by how plainly each is the key that the others refer to."""
    return key.own, key.column.place == 0, key.column.different


def features(
    column: NamedColumn, key: NamedColumn, share: float | None, relation: str, *, is_home: bool
) -> Features:
    """Return what speaks for a key and against it, by name; what is 0 is left out.

    Args:
        column: That may refer to it.
        key: The key.
        share: Of the column's cells, the share that it has; None where that is not known.
        relation: Of their names, as of `related`.
        is_home: Whether no key of the column's name is more plainly referred to.
    """
    same = relation == "same name"
    is_self = column.column.table_id == key.column.table_id
    found = {
        "always": 1.0,
        relation: 1.0,
        "home": same and is_home,
        "ends with table, no key word": relation == "ends with table" and column.kind is None,
        "key without key word": not same and key.kind is None and column.kind is not None,
        "other key word": not same
        and None not in {column.kind, key.kind}
        and column.kind != key.kind,
        "not own, not first": key.own < OWN and key.column.place > 0,
        "own": key.own > OWN,
        "same table": is_self and relation != "role",
        "part of table": not is_self
        and column.entity != key.entity
        and _is_inside(column.entity, key.entity),
        "numbers": column.column.is_whole_number and key.column.is_whole_number,
        "share": share or 0.0,
    }
    return {name: float(value) for name, value in found.items() if value}
