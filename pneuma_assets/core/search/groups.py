"""From a question to sets of tables that answer it together (Octopus, section 4.3)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest, nsmallest

from pneuma_assets.core.index.base import IndexFilter, SearchIndex, is_seen, let_through
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinGraph
from pneuma_assets.core.relations.rank_groups import (
    CANDIDATES,
    GroupResult,
    Mention,
    rank_groups,
)
from pneuma_assets.core.search.confidence import confidence_of
from pneuma_assets.core.search.mentions import link_mentions
from pneuma_assets.core.search.results import Found

MOST_LINKING = 200
"""Tables beside the candidates that sets may have: what scoring a set costs grows with them."""

JoinsOf = Callable[[Collection[str]], Sequence[JoinEdge]]
"""Returns the joins of some tables with any."""


@dataclass(frozen=True, slots=True)
class GroupSearch:
    """Groups the tables that a question found.

    Attributes:
        index: In which they were found.
        joins_of: Tells which tables can be joined.
    """

    index: SearchIndex
    joins_of: JoinsOf

    def group(
        self, question: str, found: Found, most: int, where: IndexFilter
    ) -> list[GroupResult]:
        """Return up to `most` groups, best first, of tables that the filter lets through.

        Args:
            question: In plain language.
            found: The tables found for it, of which `CANDIDATES` are looked at, and what was read
                of them.
            most: Groups.
            where: As it was asked.
        """
        scores = {one.table_id: one.score for one in found.results[:CANDIDATES]}
        if max(scores.values(), default=0.0) <= 0:
            return []
        known = self.known(question, scores, found.headers, where)
        answerable = confidence_of(found.results)
        return [replace(one, answerable=answerable) for one in rank_groups(*known, most)]

    def known(
        self,
        question: str,
        scores: Mapping[str, float],
        headers: Mapping[str, Mapping[str, float]],
        where: IndexFilter,
    ) -> tuple[JoinGraph, dict[str, float], list[Mention]]:
        """Return what sets of tables are ranked by, as `rank_groups` takes it.

        Args:
            question: In plain language.
            scores: Of the candidates; the best one's is above 0.
            headers: As of `Found`.
            where: As it was asked.
        """
        best = max(scores.values())
        candidates = {table_id: max(0.0, score) / best for table_id, score in scores.items()}
        said = {table_id: headers.get(table_id, {}) for table_id in candidates}
        mentions = link_mentions(self.index, question, said, where)
        return self._graph(candidates, where), candidates, mentions

    def _graph(self, candidates: Mapping[str, float], where: IndexFilter) -> JoinGraph:
        """Return the joins among candidates, and with what the asker may see and links two.

        Of ten thousand tables that refer to one candidate, nothing is looked up; of those that
        refer to two, `MOST_LINKING` are looked at: those that link the best, said before guessed.

        Args:
            candidates: How well each was found.
            where: As it was asked.
        """
        edges = self.joins_of(candidates)
        every = JoinGraph(edges)
        allowed = let_through(where, sorted(every.linking(candidates)))
        facts = self.index.facts(allowed)
        seen = [table for table, known in facts.items() if is_seen(known, where.readers)]

        def worth(table: str) -> tuple[float, int, str]:
            near = every.neighbours(table) & candidates.keys()
            guesses = sum(edge.is_guess for one in near if (edge := every.between(table, one)))
            return -sum(nlargest(2, (candidates[one] for one in near))), guesses, table

        kept = {*candidates, *nsmallest(MOST_LINKING, seen, key=worth)}
        return JoinGraph(edge for edge in edges if kept.issuperset(edge.tables))
