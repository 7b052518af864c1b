"""What an index proposes for questions, from as many blocks as it takes to meet enough tables.

One table's documents can fill all places of both sides. A question that met too few tables is then
asked for more blocks, and is answered as if it had been asked with that larger `n`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pneuma_assets.core.index.base import IndexFilter, IndexQuery, SearchIndex, SideHits
from pneuma_assets.core.search.copies import count_texts, search_texts
from pneuma_assets.core.search.options import MOST_CANDIDATES
from pneuma_assets.core.tables import source_of

_GROWTH = 4
"""How many times more blocks are asked for each time: at most five times from 10 to 10,000."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """Both sides' blocks for one question; `limit` is how many texts were asked of each side."""

    side: SideHits
    limit: int

    def tables(self) -> int:
        """Return how many tables are proposed."""
        blocks = (*self.side.lexical, *self.side.semantic)
        of_fields = (hit.table_id for hits in self.side.fields.values() for hit in hits)
        return len({*(hit.block.table_id for hit in blocks), *of_fields})

    def may_grow(self) -> bool:
        """Return whether the index may hold further blocks for the question."""
        return max(map(count_texts, (self.side.lexical, self.side.semantic))) >= self.limit


def propose(
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
    wanted, most = min(k, _tables(index, where)), MOST_CANDIDATES // k * k
    while limit < most and not _enough(proposals, wanted):
        limit = min(limit * _GROWTH, most)
        short = [place for place, one in enumerate(proposals) if _is_short(one, wanted)]
        sides = search_texts(index, [queries[place] for place in short], limit, where)
        for place, side in zip(short, sides, strict=True):
            proposals[place] = Proposal(side, limit)
    return proposals


def _is_short(proposal: Proposal, wanted: int) -> bool:
    return proposal.may_grow() and proposal.tables() < wanted


def _enough(proposals: Sequence[Proposal], wanted: int) -> bool:
    return not any(_is_short(one, wanted) for one in proposals)


def _tables(index: SearchIndex, where: IndexFilter) -> int:
    """Return how many tables a filter lets through, whatever kinds of documents it wants."""
    return sum(
        blocks > 0
        and (not where.sources or source_of(table_id) in where.sources)
        and (not where.tables or table_id in where.tables)
        for table_id, blocks in index.list_tables(where.readers).items()
    )
