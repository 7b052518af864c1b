"""From a question to sets of tables that answer it together (Octopus, section 4.3)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pneuma_assets.core.entities.looking_up import Lookup
from pneuma_assets.core.index.base import IndexFilter, SearchIndex, is_seen, let_through
from pneuma_assets.core.joins.edges import JoinEdge
from pneuma_assets.core.joins.graph import JoinGraph
from pneuma_assets.core.joins.groups import CANDIDATES, TableGroup, rank_groups
from pneuma_assets.core.search.results import TableResult
from pneuma_assets.core.text.analysis import Analyzer

JoinsOf = Callable[[Collection[str]], Sequence[JoinEdge]]
"""Returns the joins of some tables with any."""


@dataclass(frozen=True, slots=True)
class GroupResult:
    """Tables that may answer a question together, or one that may by itself.

    Attributes:
        tables: Those found best for themselves first; one that only links others is among them.
        joins: By which they are joined, one fewer than tables.
        score: By which the groups of one question are ranked; no probability.
        parts: What the score consists of (`joins.groups.WEIGHTS`).
        answerable: The probability that any table answers, the same for all groups; None where
            the words and the meaning alone were asked.
    """

    tables: tuple[str, ...]
    joins: tuple[JoinEdge, ...]
    score: float
    parts: Mapping[str, float]
    answerable: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the group for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class GroupSearch:
    """Groups the tables that a question found.

    Attributes:
        index: In which they were found.
        analyzer: The index's.
        joins_of: Tells which tables can be joined.
    """

    index: SearchIndex
    analyzer: Analyzer
    joins_of: JoinsOf

    def group(
        self, question: str, results: Sequence[TableResult], most: int, where: IndexFilter
    ) -> list[GroupResult]:
        """Return up to `most` groups, best first, of tables that the filter lets through.

        Args:
            question: In plain language.
            results: The tables found for it, of which `CANDIDATES` are looked at.
            most: Groups.
            where: As it was asked.
        """
        candidates = {one.table_id: one.score for one in results[:CANDIDATES]}
        best = max(candidates.values(), default=0.0)
        if best <= 0:
            return []
        found = {table_id: max(0.0, score) / best for table_id, score in candidates.items()}
        graph = self._graph(found, where)
        mentions = Lookup(self.index, self.analyzer).mentions(question, list(found), where)
        answerable = results[0].answerable
        return [_result(one, answerable) for one in rank_groups(graph, found, mentions, most)]

    def _graph(self, candidates: Collection[str], where: IndexFilter) -> JoinGraph:
        """Return the joins among candidates, and with what the asker may see and links two.

        Of ten thousand tables that refer to one candidate, nothing is looked up.
        """
        edges = self.joins_of(candidates)
        others = JoinGraph(edges).linking(candidates)
        allowed = let_through(where, sorted(others))
        facts = self.index.facts(allowed)
        seen = {table for table, known in facts.items() if is_seen(known, where.readers)}
        return JoinGraph(edge for edge in edges if seen.union(candidates).issuperset(edge.tables))


def _result(group: TableGroup, answerable: float | None) -> GroupResult:
    return GroupResult(group.tables, group.joins, group.score, group.parts, answerable)
