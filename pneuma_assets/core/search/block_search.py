"""Answers by the paper's two sides: blocks compete, and a table is what its best one is (5.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from pneuma_assets.core.index.base import IndexFilter, IndexQuery, SearchIndex, SideHits
from pneuma_assets.core.search.passages import best_passage
from pneuma_assets.core.search.results import TableResult
from pneuma_assets.core.search.retrieve import (
    Candidates,
    Ranked,
    by_table,
    rank,
    retrieve_candidates,
)
from pneuma_assets.core.text.analysis import Analyzer


@dataclass(frozen=True, slots=True)
class BlockSearch:
    """Answers questions over one index; `analyzer` finds the passages to show."""

    index: SearchIndex
    analyzer: Analyzer

    def answer(
        self,
        queries: Sequence[IndexQuery],
        k: int,
        n: int,
        alpha: float,
        most: int,
        where: IndexFilter,
    ) -> list[list[TableResult]]:
        """Return up to `most` tables for each query, which has text and vector."""
        proposals = retrieve_candidates(self.index, queries, k, n, where)
        candidates = self._candidates(queries, [one.side for one in proposals], where)
        return [
            _to_tables(query.text or "", rank(found, alpha), most, self.analyzer)
            for query, found in zip(queries, candidates, strict=True)
        ]

    def _candidates(
        self, queries: Sequence[IndexQuery], sides: Sequence[SideHits], where: IndexFilter
    ) -> list[Candidates]:
        """Collect the blocks of both sides, and from the other side what one of them lacks."""
        found = [Candidates.of(side) for side in sides]
        one_sided = [candidates.one_sided() for candidates in found]
        if any(one_sided):
            scores = self.index.scores(queries, one_sided, where)
            for candidates, missing in zip(found, scores, strict=True):
                candidates.complete(missing)
        return found


def _to_tables(
    question: str, ranked: Sequence[Ranked], most: int, analyzer: Analyzer
) -> list[TableResult]:
    return [
        TableResult(
            block.table_id,
            one.score,
            one.parts,
            block.kind,
            best_passage(block.text, question, analyzer),
            block.text,
            block.block_id,
        )
        for block, one in islice(by_table(ranked), most)
    ]
