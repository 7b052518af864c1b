"""Tables in their places: scored by all signals, and by how far they are trusted.

Evidence that does not depend on the question is added to a score in a form that saturates
(Craswell, Robertson, Zaragoza and Taylor, "Relevance weighting for query independent evidence",
SIGIR 2005). There its weight is fitted to clicks; nobody has clicked here, so all facts count alike
and together so little that they decide only between tables that answer almost equally well.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from statistics import fmean

from pneuma_assets.core.config.query import QueryOptions
from pneuma_assets.core.index.base import (
    IndexFilter,
    IndexQuery,
    SearchIndex,
    TableScores,
)
from pneuma_assets.core.search.completion import complete
from pneuma_assets.core.search.crowding import spread
from pneuma_assets.core.search.fold import Asked, Families, behind_originals, collapse_copies
from pneuma_assets.core.search.results import MOST_CANDIDATES
from pneuma_assets.core.search.retrieve import (
    GROWTH,
    Proposal,
    count_tables,
    retrieve_candidates,
)
from pneuma_assets.core.search.signals import (
    MOST_TABLES,
    RankedTable,
    proposed_tables,
    rank_tables,
)
from pneuma_assets.core.tables import TableFacts


@dataclass(frozen=True, slots=True)
class Reranker:
    """Ranks the tables of an index as the options of a question have it.

    `of_family` is how many members of a family are left in a ranking; where that is several, sets
    are made of it, which grow along joins themselves, so it is not completed by them. `named` are
    tables that the asker names, asked for by themselves, and not as members of a family or copies.
    """

    index: SearchIndex
    options: QueryOptions
    where: IndexFilter
    of_family: int = 1
    named: Sequence[str] = ()

    @property
    def most(self) -> int:
        """Tables that are scored for a question."""
        return max(MOST_TABLES, self.options.n * self.options.k)

    def find(
        self, queries: Sequence[IndexQuery], met: int
    ) -> list[tuple[Proposal, list[RankedTable]]]:
        """Return what the index proposes for each query, of `met` tables and more, and their order.

        Where copies and families leave fewer than `k` results, it is asked again for more tables.
        """
        k, n = self.options.k, self.options.n
        proposed = retrieve_candidates(self.index, queries, met, n, self.where)
        proposals = spread(self.index, queries, proposed, k, self.where)
        found = list(zip(proposals, self.rank(queries, proposals), strict=True))
        few = [at for at, (one, tables) in enumerate(found) if len(tables) < k and one.may_grow()]
        if few and met * GROWTH * n <= MOST_CANDIDATES:
            most = min(count_tables(self.index, self.where), self.most)
            few = [at for at in few if found[at][0].tables() < most]
            more = self.find([queries[at] for at in few], met * GROWTH) if few else []
            for at, one in zip(few, more, strict=True):
                found[at] = one
        return found

    def rank(
        self, queries: Sequence[IndexQuery], proposals: Sequence[Proposal]
    ) -> list[list[RankedTable]]:
        """Return the tables that answer each query, the best first."""
        tables = [proposed_tables(one.side, self.most) for one in proposals]
        scores = self.index.table_scores(queries, tables, self.where)
        facts = self._facts_of(i for found in scores for i in found)
        families = self._families(queries, scores, facts)
        missing = [
            [*_originals_of(found, facts), *some.unscored(found)]
            for found, some in zip(scores, families, strict=True)
        ]
        if any(missing):  # the index leaves out those that the asker, or the filter, shuts out
            more = self.index.table_scores(queries, missing, self.where)
            scores = [{**one, **other} for one, other in zip(scores, more, strict=True)]
            facts |= self._facts_of(i for one in more for i in one)
        return [
            self._placed(query.text or "", found, proposal, facts, some)
            for query, found, proposal, some in zip(
                queries, scores, proposals, families, strict=True
            )
        ]

    def _families(
        self,
        queries: Sequence[IndexQuery],
        scores: Sequence[Mapping[str, TableScores]],
        facts: Mapping[str, TableFacts],
    ) -> list[Families]:
        names = [
            {name for i in found if i in facts and (name := facts[i].family) is not None}
            for found in scores
        ]
        every = sorted(set().union(*names))
        members = self.index.members(every, self.where) if every else {}
        return [
            Families.of(query.text or "", {name: members[name] for name in some}, self.named)
            for query, some in zip(queries, names, strict=True)
        ]

    def _placed(
        self,
        question: str,
        found: Mapping[str, TableScores],
        proposal: Proposal,
        facts: Mapping[str, TableFacts],
        families: Families,
    ) -> list[RankedTable]:
        words = dict.fromkeys(self.index.analyzer.question_terms(question))
        weights, analyzer = self.options.weights, self.index.analyzer
        ranked = rank_tables(found, weights, proposal.side, words, analyzer, facts)
        asked = Asked(question, self.named)
        trusted = with_trust(ranked, facts, self.options.trust)
        alone = collapse_copies(trusted, facts, asked)
        folded = families.fold(alone, facts, self.of_family)
        completed = folded if self.of_family > 1 else complete(folded, facts)
        return behind_originals(completed, asked, self.index.evidence)

    def _facts_of(self, table_ids: Iterable[str]) -> dict[str, TableFacts]:
        """Return what is known of tables, for who may not see all without what is hidden.

        How many are built from a table would tell of those that the asker may not see. A copy of
        one of these stands for itself, or for its other copies.
        """
        facts = self.index.facts(list(dict.fromkeys(table_ids)))
        if self.where.readers is None:
            return facts
        return {i: replace(one, feeds=0) for i, one in facts.items()}


def _originals_of(found: Iterable[str], facts: Mapping[str, TableFacts]) -> list[str]:
    """Return the tables of which there are copies alone."""
    found = set(found)
    originals = {facts[i].copy_of for i in found if i in facts}
    return sorted(i for i in originals if i is not None and i not in found)


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

    It is the mean of four: how fresh its data is beside the newest, whether somebody owns it, how
    much of it is described, how many tables are built from it. One whose source does not tell when
    it was written is taken for an average one of those that are told.
    """
    written = [one.updated_at for one in facts.values() if one.updated_at is not None]
    newest = min(max(written, default=0.0), time.time())  # a wrong clock makes no others stale
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
    )


def _told(facts: Iterable[TableFacts], read: Read) -> list[float]:
    values = [read(one) for one in facts]
    known = [value for value in values if value is not None]
    average = fmean(known) if known else 0.0
    return [average if value is None else min(1.0, max(0.0, value)) for value in values]


def _less(one: RankedTable, share: float) -> RankedTable:
    lost = one.score * share
    return replace(one, score=one.score - lost, trust=-lost) if lost > 0 else one
