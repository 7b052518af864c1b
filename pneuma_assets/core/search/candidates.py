"""The texts that both sides propose for a question, scored by both and ranked (section 5.1).

Tables share texts: a folder's README, the names of columns of which every year has a table. What
many say tells little about which of them is meant, so copies of a text stand for one candidate,
its score falls with their number, and the tables behind it follow each other by what else they say.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pneuma_assets.core.index.base import SideHits, SideScores
from pneuma_assets.core.search.fusion import FusedScore, fuse
from pneuma_assets.core.search.results import ScoreParts
from pneuma_assets.core.tables import Block


@dataclass(frozen=True, slots=True)
class Candidates:
    """The blocks proposed for one question, and each side's raw scores by block id."""

    blocks: dict[str, Block]
    lexical: dict[str, float]
    semantic: dict[str, float]

    @classmethod
    def of(cls, side: SideHits) -> "Candidates":
        """Join the two sides of one search."""
        return cls(
            {hit.block.block_id: hit.block for hit in (*side.lexical, *side.semantic)},
            {hit.block.block_id: float(hit.score) for hit in side.lexical},
            {hit.block.block_id: float(hit.score) for hit in side.semantic},
        )

    def one_sided(self) -> list[str]:
        """Return the blocks that only one side has scored."""
        return sorted(self.lexical.keys() ^ self.semantic.keys())

    def complete(self, missing: dict[str, SideScores]) -> None:
        """Fill in the other side's scores.

        A block that a writer has replaced since the search has none and is dropped: what it says
        is no longer so.
        """
        for block_id in self.one_sided():
            if block_id in missing:
                self.lexical[block_id] = float(missing[block_id].lexical)
                self.semantic[block_id] = float(missing[block_id].semantic)
            else:
                self.lexical.pop(block_id, None)
                self.semantic.pop(block_id, None)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A text in its place: the first block that says it, all of them, and what its score is of."""

    block: Block
    blocks: Sequence[Block]
    score: float
    parts: ScoreParts


def rank(found: Candidates, alpha: float) -> list[Ranked]:
    """Fuse the sides' scores of all texts and weigh each; best first, equal ones by block id."""
    groups: dict[str, list[Block]] = defaultdict(list)
    for block_id in sorted(found.lexical):
        groups[found.blocks[block_id].text].append(found.blocks[block_id])
    copies = {blocks[0].block_id: blocks for blocks in groups.values()}
    among = len({block.table_id for block in found.blocks.values()})
    lexical, semantic = (
        {key: max(side[block.block_id] for block in blocks) for key, blocks in copies.items()}
        for side in (found.lexical, found.semantic)
    )

    def place(fused: FusedScore) -> Ranked:
        key = fused.block_id
        tables = len({block.table_id for block in copies[key]})
        kept = weight(tables, among)
        parts = ScoreParts(
            fused.lexical, fused.semantic, None, lexical[key], semantic[key], tables, kept
        )
        return Ranked(copies[key][0], copies[key], fused.score * kept, parts)

    ranked = [place(fused) for fused in fuse(lexical, semantic, alpha)]
    return sorted(ranked, key=lambda one: (-one.score, one.block.block_id))


def weight(tables: int, among: int) -> float:
    """Return what share of its score a text keeps that so many of the candidates' tables say.

    Telling which table is meant, or that none is, takes log(1 + among) of information; a text of m
    tables leaves log(m) of it open and loses half of that share. One table's text keeps all, and
    none falls behind what fits the question half as well (`experiments.pipeline.shared_texts` of
    the benchmarks).
    """
    return 1.0 - math.log(tables) / math.log(1 + among) / 2


def by_table(ranked: Sequence[Ranked]) -> Iterator[tuple[Block, Ranked]]:
    """Yield every table once, best first, with its best text.

    Tables of one text are ordered by their other texts, best ones first, then by block id.
    """
    places: dict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(ranked):
        for table_id in {block.table_id for block in one.blocks}:
            places[table_id].append(place)
    seen: set[str] = set()
    for one in ranked:
        fresh = {b.table_id: b for b in reversed(one.blocks) if b.table_id not in seen}
        seen |= fresh.keys()
        for block in sorted(
            fresh.values(), key=lambda b: ([*places[b.table_id], len(ranked)], b.block_id)
        ):
            yield block, one
