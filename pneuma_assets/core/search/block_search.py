"""Answers by the paper's two sides: blocks compete, and a table is what its best one is (5.1)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from pneuma_assets.core.index.base import IndexFilter, IndexQuery, SearchIndex, SideHits
from pneuma_assets.core.models.base import LanguageModel
from pneuma_assets.core.search.judge import is_refused, judge_blocks
from pneuma_assets.core.search.passages import best_passage
from pneuma_assets.core.search.results import TableResult
from pneuma_assets.core.search.retrieve import (
    Candidates,
    Proposal,
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
        judge: LanguageModel | None,
        where: IndexFilter,
    ) -> list[list[TableResult]]:
        """Return up to `k` tables for each query, which has text and vector."""
        proposals = retrieve_candidates(self.index, queries, k, n, where)
        candidates = self._candidates(queries, [one.side for one in proposals], where)
        return [
            self._tables(judge, query.text or "", rank(found, alpha), k, n, proposal)
            for query, found, proposal in zip(queries, candidates, proposals, strict=True)
        ]

    def _tables(
        self,
        judge: LanguageModel | None,
        question: str,
        ranked: Sequence[Ranked],
        k: int,
        n: int,
        proposal: Proposal,
    ) -> list[TableResult]:
        if judge is not None and proposal.limit > k * n:
            ranked = _thinned(ranked, k, n)
        return _to_tables(question, _judged(judge, question, ranked), k, self.analyzer)

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


def _thinned(ranked: Sequence[Ranked], k: int, n: int) -> list[Ranked]:
    """Return the best `n` blocks of each table, as many as a question without more would have."""
    seen: Counter[str] = Counter()
    kept = []
    for one in ranked:
        tables = {block.table_id for block in one.blocks}
        seen.update(tables)
        if any(seen[table_id] <= n for table_id in tables):
            kept.append(one)
    return kept[: 2 * k * n]


def _judged(
    judge: LanguageModel | None, question: str, ranked: Sequence[Ranked]
) -> Sequence[Ranked]:
    """Move the blocks that the judge refuses to the end; both parts keep their order.

    A veto needs a verdict: an undecided block keeps its place among those not refused.
    """
    if judge is None or not ranked:
        return ranked
    verdicts = judge_blocks(judge, question, [one.block for one in ranked])
    judged = [
        replace(one, parts=replace(one.parts, judge=verdict))
        for one, verdict in zip(ranked, verdicts, strict=True)
    ]
    return sorted(judged, key=lambda one: is_refused(one.parts.judge))


def _to_tables(
    question: str, ranked: Sequence[Ranked], k: int, analyzer: Analyzer
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
        for block, one in islice(by_table(ranked), k)
    ]
