"""Candidates for questions: as many blocks as it takes to meet enough tables, fused and weighed.

One table's documents can fill all places of both sides; a question that met too few tables is asked
again for more blocks, as if it had been asked with that larger `n`. Tables share texts: a folder's
README, the names of columns of which every year has a table. Copies of a text stand for one
candidate, whose score falls with their number (Pneuma, section 5.1).
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pneuma_assets.core.index.base import (
    Hit,
    IndexFilter,
    IndexQuery,
    SearchIndex,
    SideHits,
    SideScores,
)
from pneuma_assets.core.search.results import MOST_CANDIDATES, ScoreParts
from pneuma_assets.core.tables import Block, source_of


@dataclass(frozen=True, slots=True)
class FusedScore:
    """One candidate's standing among the candidates of its question; all between 0 and 1."""

    block_id: str
    score: float
    lexical: float
    semantic: float


def min_max(scores: Mapping[str, float]) -> dict[str, float]:
    """Scale scores so that the lowest becomes 0.0 and the highest 1.0.

    Where all are equal there is no scale: each becomes 1.0, being as good as the best, or 0.0
    where the score is 0 or less, because nothing was matched.
    """
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if low == high:
        return dict.fromkeys(scores, 1.0 if high > 0 else 0.0)
    return {key: (score - low) / (high - low) for key, score in scores.items()}


def fuse(
    lexical: Mapping[str, float], semantic: Mapping[str, float], alpha: float
) -> list[FusedScore]:
    """Rank candidates by `alpha * lexical + (1 - alpha) * semantic`, each side min-max scaled.

    Args:
        lexical: True BM25 score of every candidate, by block id.
        semantic: True cosine of every candidate; the same keys.
        alpha: Weight of the lexical side, 0 to 1.

    Returns:
        Best first; equal scores by block id, so that an answer never depends on chance.

    Raises:
        ValueError: The two sides do not score the same candidates.
    """
    if lexical.keys() != semantic.keys():
        raise ValueError("both sides must score the same candidates")
    words, meaning = min_max(lexical), min_max(semantic)
    fused = [
        FusedScore(
            block_id,
            alpha * words[block_id] + (1.0 - alpha) * meaning[block_id],
            words[block_id],
            meaning[block_id],
        )
        for block_id in lexical
    ]
    return sorted(fused, key=lambda candidate: (-candidate.score, candidate.block_id))


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
    none falls behind what fits the question half as well.
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


GROWTH = 4
"""How many times as many blocks are asked for, where copies or families took the places."""


def search_texts(
    index: SearchIndex, queries: Sequence[IndexQuery], limit: int, where: IndexFilter
) -> list[SideHits]:
    """Return the blocks of each side's `limit` best texts, those of every table that says one.

    Twice as many blocks are asked for, and one more, by whose text one sees that the last one has
    no more copies: that costs an eighth of asking again, which is for texts that more tables share.
    Of 10,000 blocks a side it sees no more.
    """
    asked = min(2 * limit + 1, MOST_CANDIDATES)
    return [
        _with_copies(index, query, side, asked, limit, where)
        for query, side in zip(queries, index.search(queries, asked, where), strict=True)
    ]


def count_texts(hits: Sequence[Hit]) -> int:
    """Return how many different texts the hits are of."""
    return len({hit.block.text for hit in hits})


def _with_copies(
    index: SearchIndex,
    query: IndexQuery,
    side: SideHits,
    asked: int,
    limit: int,
    where: IndexFilter,
) -> SideHits:
    while asked < MOST_CANDIDATES and any(
        len(hits) >= asked and count_texts(hits) <= limit for hits in (side.lexical, side.semantic)
    ):
        asked = min(asked * GROWTH, MOST_CANDIDATES)
        (side,) = index.search([query], asked, where)
    return SideHits(
        _first_texts(side.lexical, limit),
        _first_texts(side.semantic, limit),
        {field: hits[:limit] for field, hits in side.fields.items()},
        side.holders,
        side.reach,
    )


def _first_texts(hits: Sequence[Hit], limit: int) -> list[Hit]:
    texts = list(dict.fromkeys(hit.block.text for hit in hits))
    kept = frozenset(texts[:limit])
    return [hit for hit in hits if hit.block.text in kept]


@dataclass(frozen=True, slots=True)
class Proposal:
    """Both sides' blocks for one question; `limit` is how many texts were asked of each side."""

    side: SideHits
    limit: int

    def tables(self) -> int:
        """Return how many tables are proposed."""
        return len(set().union(*self.rankings()))

    def rankings(self) -> list[list[str]]:
        """Return the tables of each signal's hits, best first, a table as often as it is hit."""
        sides = (self.side.lexical, self.side.semantic)
        blocks = [[hit.block.table_id for hit in hits] for hits in sides]
        return [*blocks, *([hit.table_id for hit in hits] for hits in self.side.fields.values())]

    def may_grow(self) -> bool:
        """Return whether the index may hold further blocks for the question."""
        return max(map(count_texts, (self.side.lexical, self.side.semantic))) >= self.limit


def retrieve_candidates(
    index: SearchIndex, queries: Sequence[IndexQuery], k: int, n: int, where: IndexFilter
) -> list[Proposal]:
    """Return what the index proposes for each question: of `k` tables, if it has as many.

    Args:
        index: Holds the blocks.
        queries: One a question.
        k: Tables to meet.
        n: A side is asked for `n * k` texts, and for more where they are of too few tables; for
            10,000 at most.
        where: Which blocks to look among.
    """
    limit = n * k
    proposals = [Proposal(side, limit) for side in search_texts(index, queries, limit, where)]
    if _enough(proposals, k):
        return proposals
    wanted, most = min(k, count_tables(index, where)), MOST_CANDIDATES // k * k
    while limit < most and not _enough(proposals, wanted):
        limit = min(limit * GROWTH, most)
        short = [place for place, one in enumerate(proposals) if _is_short(one, wanted)]
        sides = search_texts(index, [queries[place] for place in short], limit, where)
        for place, side in zip(short, sides, strict=True):
            proposals[place] = Proposal(side, limit)
    return proposals


def _is_short(proposal: Proposal, wanted: int) -> bool:
    return proposal.may_grow() and proposal.tables() < wanted


def _enough(proposals: Sequence[Proposal], wanted: int) -> bool:
    return not any(_is_short(one, wanted) for one in proposals)


def count_tables(index: SearchIndex, where: IndexFilter) -> int:
    """Return how many tables a filter lets through, whatever kinds of documents it wants."""
    return sum(
        blocks > 0
        and (not where.sources or source_of(table_id) in where.sources)
        and (not where.tables or table_id in where.tables)
        for table_id, blocks in index.list_tables(where.readers).items()
    )
