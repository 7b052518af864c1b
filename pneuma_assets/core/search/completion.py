"""Tables in an order in which those that complete the best ones stand among the first.

A question that needs several tables is answered by those that say different parts of it and can be
joined; one after the other is chosen by its score, by whether it joins one that was chosen, and by
whether one was chosen that says the same (Carbonell and Goldstein, "The use of MMR", SIGIR 1998;
greedy choice by relevance, coverage and joins: arXiv 2511.13418). The first tables stay the first.
Which are needed beside them, the names of tables and columns tell better than a single row.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.search.signals import RankedTable, place_of
from pneuma_assets.core.tables import TableFacts
from pneuma_assets.core.terms.fields import Field

JOINED, ALIKE, SAID = 0.20, 0.20, 0.20
"""What a join with a chosen table adds of that one's score; what a chosen table of the same schema
or folder that says the same takes of a table's own; of the best score, what the table gets whose
names say the most of the question, others in proportion. Chosen with whole sets of questions left
out (docs/measurements.md)."""

KEPT = 3
"""The first tables keep their places: a question that needs one table has it there."""
AMONG = 50
"""Tables of which the order is looked at, the best ones."""
PLACED = 20
"""Tables that are chosen; those behind them keep their order."""

Shares = npt.NDArray[np.float64]


def complete(ranked: Sequence[RankedTable], facts: Mapping[str, TableFacts]) -> list[RankedTable]:
    """Return the tables with those among the first that complete the best ones.

    Where no two of the best can be joined, nothing moves.

    Args:
        ranked: The best first.
        facts: What is known of them: which can be joined.
    """
    among = ranked[:AMONG]
    near = _joined([one.table_id for one in among], facts)
    if not near.any():
        return list(ranked)
    said, places = _said(among), np.array([place_of(one.table_id) for one in among])
    scores = np.array([one.score for one in among])
    in_all = said.sum(axis=1)
    worth = scores + scores.max() * SAID * in_all / (in_all.max() or 1.0)
    worth -= np.array([one.signals.get(Field.ROWS, 0.0) for one in among])
    gained, lost = np.zeros(len(among)), np.zeros(len(among))
    left = np.ones(len(among), bool)
    chosen: list[int] = []
    while left.any() and len(chosen) < PLACED:
        gains = np.where(left, worth + gained - lost, -np.inf)
        at = int(left.argmax() if len(chosen) < KEPT else gains.argmax())
        left[at] = False
        chosen.append(at)
        gained = np.maximum(gained, JOINED * scores[at] * near[at])
        like = (places == places[at]) * _alike(said[at], said)
        lost = np.maximum(lost, ALIKE * scores * like)
    order = [*chosen, *np.flatnonzero(left).tolist()]
    return [*(among[at] for at in order), *ranked[AMONG:]]


def _joined(table_ids: Sequence[str], facts: Mapping[str, TableFacts]) -> npt.NDArray[np.bool_]:
    """Return which of some tables can be joined with which of them; either may say so."""
    near = np.zeros((len(table_ids), len(table_ids)), bool)
    places = {table_id: at for at, table_id in enumerate(table_ids)}
    for table_id, at in places.items():
        joins = facts[table_id].joins if table_id in facts else ()
        near[at, [places[other] for other in joins if other in places]] = True
    joined: npt.NDArray[np.bool_] = near | near.T
    return joined


def _said(tables: Sequence[RankedTable]) -> Shares:
    """Return what each table's names say of the question, shape (tables, words).

    A word counts more the fewer of the tables have it in a name.
    """
    having = Counter(word for one in tables for word in one.scores.headers)
    worth = {word: log(1 + len(tables) / having[word]) for word in sorted(having)}
    said = [[w * one.scores.headers.get(word, 0.0) for word, w in worth.items()] for one in tables]
    return np.array(said, np.float64).reshape(len(tables), len(worth))


def _alike(one: Shares, others: Shares) -> Shares:
    """Return how far others say the same of a question as one table, from 0 to 1."""
    both, either = np.minimum(one, others).sum(axis=1), np.maximum(one, others).sum(axis=1)
    share: Shares = np.divide(both, either, out=np.zeros(len(others)), where=either > 0)
    return share
