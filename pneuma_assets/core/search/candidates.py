"""The blocks that both sides propose for a question, scored by both and ranked (section 5.1)."""

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
    """A block in its place, with all that is known of its score."""

    block: Block
    score: float
    parts: ScoreParts


def rank(found: Candidates, alpha: float) -> list[Ranked]:
    """Fuse the sides' scores of all candidates; best first, equal ones by block id."""

    def place(fused: FusedScore) -> Ranked:
        key = fused.block_id
        parts = ScoreParts(
            fused.lexical, fused.semantic, None, found.lexical[key], found.semantic[key]
        )
        return Ranked(found.blocks[key], fused.score, parts)

    return [place(fused) for fused in fuse(found.lexical, found.semantic, alpha)]
