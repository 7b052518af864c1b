"""What lets people trust a table, whatever they ask: one small prior beside the signals.

Evidence that does not depend on the question is added to a score in a form that saturates
(Craswell, Robertson, Zaragoza and Taylor, "Relevance weighting for query independent evidence",
SIGIR 2005). There its weight is fitted to clicks; nobody has clicked here, so all facts count alike
and together so little that they decide only between tables that answer almost equally well.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import fsum
from statistics import fmean

from pneuma_assets.core.search.signals import RankedTable
from pneuma_assets.core.tables import TableFacts

HALF_AGE = 365 * 86_400.0
"""Seconds after which a table that is not the newest of the candidates counts for half as fresh."""

HALF_FEEDS = 3.0
"""Tables that are built from one which count half of what any number does."""

_NOTHING = TableFacts()


def with_trust(
    ranked: Sequence[RankedTable], facts: Mapping[str, TableFacts], weight: float
) -> list[RankedTable]:
    """Return tables with what they lose for being less trusted than the most trusted of them.

    That is at most `weight` times their score, so no table passes one whose score is that much
    better. Where all facts are equal, or the weight is 0, nothing is lost.

    Args:
        ranked: Tables, the best first.
        facts: What is known of them; of one that is absent nothing is.
        weight: From 0 to 1.
    """
    trusted = trust_of({one.table_id: facts.get(one.table_id, _NOTHING) for one in ranked})
    most = max(trusted.values(), default=0.0)
    counted = [_less(one, weight * (most - trusted[one.table_id])) for one in ranked]
    return sorted(counted, key=lambda one: -one.score)


def trust_of(facts: Mapping[str, TableFacts]) -> dict[str, float]:
    """Return how far each of these tables can be trusted beside the others, from 0 to 1.

    It is the mean of five: how fresh its data is beside the newest, whether somebody owns it, how
    much of it is described, how many tables are built from it, how often it is queried. Where a
    source does not tell one of these, the table is taken for an average one of those that are told.
    """
    newest = max(
        (one.updated_at for one in facts.values() if one.updated_at is not None), default=0
    )
    told = [_told(facts.values(), read) for read in _readers_of(newest)]
    return {
        table_id: fsum(column[place] for column in told) / len(told)
        for place, table_id in enumerate(facts)
    }


Read = Callable[[TableFacts], float | None]


def _readers_of(newest: float) -> tuple[Read, ...]:
    def fresh(one: TableFacts) -> float | None:
        if one.updated_at is None:
            return None
        return HALF_AGE / (HALF_AGE + max(0.0, newest - one.updated_at))

    return (
        fresh,
        lambda one: float(one.owned),
        lambda one: one.documented,
        lambda one: one.feeds / (one.feeds + HALF_FEEDS),
        lambda one: one.queries,
    )


def _told(facts: Iterable[TableFacts], read: Read) -> list[float]:
    values = [read(one) for one in facts]
    known = [value for value in values if value is not None]
    average = fmean(known) if known else 0.0
    return [average if value is None else min(1.0, max(0.0, value)) for value in values]


def _less(one: RankedTable, share: float) -> RankedTable:
    lost = one.score * share
    return replace(one, score=one.score - lost, trust=-lost) if lost > 0 else one
