"""Proposals in which the members of one family leave room for other tables.

Ten thousand shards match a question alike, and the right table may be behind them.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from pneuma_assets.core.index.base import (
    Hit,
    IndexFilter,
    IndexQuery,
    SearchIndex,
    SideHits,
    TableHit,
)
from pneuma_assets.core.relations.families import is_part, without_last_word
from pneuma_assets.core.search.retrieve import Proposal

OF_FAMILY = 3
"""Members of a family that a signal proposes, where the family would leave no room for others."""

_ROUNDS = 4
"""Times that the index is asked again for a question: other families may be behind the first."""

H = TypeVar("H", Hit, TableHit)


def spread(
    index: SearchIndex,
    queries: Sequence[IndexQuery],
    proposals: Sequence[Proposal],
    k: int,
    where: IndexFilter,
) -> list[Proposal]:
    """Return proposals of which each signal has `k` families or single tables, if there are any.

    Where a family crowds a signal, its best members stay, and the index is asked again without it.
    A question whose signals are not crowded costs no call.

    Args:
        index: From which the proposals are.
        queries: One a question.
        proposals: Of each question.
        k: Tables to meet.
        where: Which tables to look among.
    """
    return [
        _spread(index, query, one, k, where) for query, one in zip(queries, proposals, strict=True)
    ]


def _spread(
    index: SearchIndex, query: IndexQuery, proposal: Proposal, k: int, where: IndexFilter
) -> Proposal:
    parts: list[SideHits] = []
    left_out: set[str] = set()
    found = proposal
    while len(parts) < _ROUNDS and (crowd := _crowd(index, found, k)):
        parts.append(_best_members(found.side, crowd))
        left_out.update(crowd.values())
        but = replace(where, but_families=tuple(sorted(left_out)))
        found = Proposal(index.search([query], proposal.limit, but)[0], proposal.limit)
    if not parts:
        return proposal
    side = _together([*parts, found.side])
    first = proposal.side
    return Proposal(replace(side, holders=first.holders, reach=first.reach), proposal.limit)


def _crowd(index: SearchIndex, found: Proposal, k: int) -> dict[str, str]:
    """Return the members, each with its family, of those families that crowd a signal.

    That is one that may have more to propose, and proposes fewer families than tables are wanted.
    """
    full = [set(ids) for ids in found.rankings() if len(ids) >= found.limit]
    may_be = [ids for ids in full if _single(ids) < k <= len(ids)]
    if not may_be:
        return {}
    facts = index.facts(sorted(set().union(*may_be)))
    family_of = {i: one.family for i, one in facts.items() if one.family is not None}
    crowding = set()
    for ids in may_be:
        members: dict[str, int] = defaultdict(int)
        for one in ids:
            members[family_of.get(one, f"{one}/")] += 1
        if len(members) < k:
            crowding |= {family for family, count in members.items() if count > OF_FAMILY}
    return {i: family for i, family in family_of.items() if family in crowding}


def _single(table_ids: Collection[str]) -> int:
    """Return how many tables are, by their names, in no family that crowds a signal."""
    named = Counter(map(without_last_word, table_ids))
    return sum(not is_part(one) and named[without_last_word(one)] <= OF_FAMILY for one in table_ids)


def _best_members(side: SideHits, crowd: Mapping[str, str]) -> SideHits:
    """Return the hits of the best members of these families alone."""

    def kept(hits: Iterable[H], table_of: Callable[[H], str]) -> list[H]:
        seen: dict[str, set[str]] = defaultdict(set)
        found = []
        for hit in hits:
            if (family := crowd.get(table_of(hit))) is None:
                continue
            if table_of(hit) in seen[family] or len(seen[family]) < OF_FAMILY:
                seen[family].add(table_of(hit))
                found.append(hit)
        return found

    def owner(hit: Hit) -> str:
        return hit.block.table_id

    fields = {f: kept(hits, lambda hit: hit.table_id) for f, hits in side.fields.items()}
    return SideHits(kept(side.lexical, owner), kept(side.semantic, owner), fields)


def _together(parts: Sequence[SideHits]) -> SideHits:
    """Return the hits of several searches of one question, best first."""

    def merged(hits: Iterable[Sequence[H]]) -> list[H]:
        return sorted((hit for some in hits for hit in some), key=lambda hit: -hit.score)

    fields = dict.fromkeys(field for part in parts for field in part.fields)
    return SideHits(
        merged(part.lexical for part in parts),
        merged(part.semantic for part in parts),
        {field: merged(part.fields.get(field, ()) for part in parts) for field in fields},
    )
