"""From what an index proposes to tables in their places: scored, trusted, copies together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pneuma_assets.core.config.query import QueryConfig
from pneuma_assets.core.index.base import (
    IndexFilter,
    IndexQuery,
    SearchIndex,
    TableScores,
    is_seen,
)
from pneuma_assets.core.search.proposals import Proposal
from pneuma_assets.core.search.signals import (
    MOST_TABLES,
    RankedTable,
    proposed_tables,
    rank_tables,
)
from pneuma_assets.core.search.together import Asked, behind_originals, together
from pneuma_assets.core.search.trust import with_trust
from pneuma_assets.core.tables import TableFacts


@dataclass(frozen=True, slots=True)
class Placing:
    """Ranks the tables of an index as the options of a question have it."""

    index: SearchIndex
    options: QueryConfig
    where: IndexFilter

    def rank(
        self, queries: Sequence[IndexQuery], proposals: Sequence[Proposal]
    ) -> list[list[RankedTable]]:
        """Return the tables that answer each query, the best first."""
        most = max(MOST_TABLES, self.options.n * self.options.k)
        tables = [proposed_tables(one.side, most) for one in proposals]
        scores = self.index.table_scores(queries, tables, self.where)
        facts = self._facts_of(i for found in scores for i in found)
        originals = [_originals_of(found, facts) for found in scores]
        if any(originals):  # the index leaves out those that the asker, or the filter, shuts out
            more = self.index.table_scores(queries, originals, self.where)
            scores = [{**one, **other} for one, other in zip(scores, more, strict=True)]
            facts |= self._facts_of(i for one in more for i in one)
        return [
            self._placed(query.text or "", found, proposal, facts)
            for query, found, proposal in zip(queries, scores, proposals, strict=True)
        ]

    def _placed(
        self,
        question: str,
        found: Mapping[str, TableScores],
        proposal: Proposal,
        facts: Mapping[str, TableFacts],
    ) -> list[RankedTable]:
        ranked = rank_tables(found, self.options.weights, proposal.side)
        asked = Asked(question, self.where.tables)
        trusted = with_trust(ranked, facts, self.options.trust)
        return behind_originals(together(trusted, facts, asked), asked, self.index.evidence)

    def _facts_of(self, table_ids: Iterable[str]) -> dict[str, TableFacts]:
        """Return what is known of tables, for who may not see all without what is hidden.

        How many are built from a table, how often others are queried, and what it is a copy of
        would tell of those that the asker may not see.
        """
        facts = self.index.facts(list(dict.fromkeys(table_ids)))
        readers = self.where.readers
        if readers is None:
            return facts
        originals = {i for one in facts.values() if (i := one.seen_copy_of) is not None}
        known = self.index.facts(sorted(originals))
        seen = {i for i, one in known.items() if is_seen(one, readers)}  # grants change meanwhile
        return {
            i: replace(
                one,
                feeds=0,
                queries=None,
                copy_of=one.seen_copy_of if one.seen_copy_of in seen else None,
            )
            for i, one in facts.items()
        }


def _originals_of(found: Iterable[str], facts: Mapping[str, TableFacts]) -> list[str]:
    """Return the tables of which there are copies alone."""
    found = set(found)
    originals = {facts[i].copy_of for i in found if i in facts}
    return sorted(i for i in originals if i is not None and i not in found)
