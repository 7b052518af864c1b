"""Tables in an order in which those that complete the best ones stand among the first.

A question that needs several tables is answered by those that say different parts of it and can be
joined; one after the other is chosen by its score, by whether it joins one that was chosen, and by
whether one was chosen that says the same (Carbonell and Goldstein, "The use of MMR", SIGIR 1998;
greedy choice by relevance, coverage and joins: arXiv 2511.13418). The first table stays the first.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from math import fsum, log

from pneuma_assets.core.search.signals import RankedTable, place_of
from pneuma_assets.core.tables import TableFacts
from pneuma_assets.core.terms.fields import name_parts

JOINED, ALIKE = 0.10, 0.10
"""What a join with a chosen table adds of that one's score, and what a chosen table that says the
same takes of a table's own; chosen with whole sets of questions left out (docs/measurements.md)."""

KEPT = 3
"""The first tables keep their places: a question that needs one table has it there."""
AMONG = 50
"""Tables of which the order is looked at, the best ones."""
PLACED = 20
"""Tables that are chosen; those behind them keep their order."""
_NAMES_ALIKE = 0.5
"""Share of the words of the shorter name that two tables that may say the same have in common."""


def complete(ranked: Sequence[RankedTable], facts: Mapping[str, TableFacts]) -> list[RankedTable]:
    """Return the tables with those among the first that complete the best ones.

    Where no two of the best can be joined, nothing moves.

    Args:
        ranked: The best first.
        facts: What is known of them: which can be joined.
    """
    left = {one.table_id: one for one in ranked[:AMONG]}
    near = _joined(left, facts)
    if not near:
        return list(ranked)
    worth = _worth(ranked[:AMONG])
    gained, lost = dict.fromkeys(left, 0.0), dict.fromkeys(left, 0.0)
    chosen: list[RankedTable] = []
    while left and len(chosen) < PLACED:
        first = next(iter(left))
        best = max(left, key=lambda i: left[i].score + gained[i] - lost[i])
        one = left.pop(first if len(chosen) < KEPT else best)
        chosen.append(one)
        for table_id, other in left.items():
            if table_id in near.get(one.table_id, ()):
                gained[table_id] = max(gained[table_id], JOINED * one.score)
            alike = ALIKE * _alike(one, other, worth)
            lost[table_id] = max(lost[table_id], alike * other.score)
    return [*chosen, *left.values(), *ranked[AMONG:]]


def _joined(
    table_ids: Collection[str], facts: Mapping[str, TableFacts]
) -> Mapping[str, Collection[str]]:
    """Return which of some tables can be joined with which of them; either may say so."""
    near: dict[str, set[str]] = defaultdict(set)
    for table_id in table_ids:
        for other in facts[table_id].joins if table_id in facts else ():
            if other in table_ids:
                near[table_id].add(other)
                near[other].add(table_id)
    return near


def _worth(tables: Sequence[RankedTable]) -> dict[str, float]:
    """Return how telling each word of the question is: the fewer tables have it in a name."""
    having = Counter(word for one in tables for word in one.scores.headers)
    return {word: log(1 + len(tables) / count) for word, count in having.items()}


def _alike(one: RankedTable, other: RankedTable, worth: Mapping[str, float]) -> float:
    """Return how far two tables of one schema and of like names say the same of a question."""
    if place_of(one.table_id) != place_of(other.table_id):
        return 0.0
    mine, theirs = (_words(table.table_id) for table in (one, other))
    if len(mine & theirs) < _NAMES_ALIKE * min(len(mine), len(theirs)):
        return 0.0
    a, b = one.scores.headers, other.scores.headers
    words = a.keys() | b.keys()
    both = fsum(worth[word] * min(a.get(word, 0.0), b.get(word, 0.0)) for word in words)
    any_of = fsum(worth[word] * max(a.get(word, 0.0), b.get(word, 0.0)) for word in words)
    return both / any_of if any_of > 0 else 0.0


def _words(table_id: str) -> set[str]:
    return {*name_parts(table_id.rpartition("/")[2])}
