"""Searching for texts where an index searches for blocks: copies take no other text's place."""

from collections.abc import Sequence

from pneuma_assets.core.index.base import Hit, IndexFilter, IndexQuery, SearchIndex, SideHits
from pneuma_assets.core.search.options import MOST_CANDIDATES

_GROWTH = 4
"""How many times as many blocks are asked for, where copies filled the places of other texts."""


def search_texts(
    index: SearchIndex, queries: Sequence[IndexQuery], limit: int, where: IndexFilter
) -> list[SideHits]:
    """Return the blocks of each side's `limit` best texts, those of every table that says one.

    Where no text is shared, that is one search for `limit` blocks and one more block, by whose
    text one sees that the last one has no more copies. Of 10,000 blocks a side it sees no more.
    """
    asked = min(limit + 1, MOST_CANDIDATES)
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
        asked = min(asked * _GROWTH, MOST_CANDIDATES)
        (side,) = index.search([query], asked, where)
    return SideHits(
        _first_texts(side.lexical, limit),
        _first_texts(side.semantic, limit),
        {field: hits[:limit] for field, hits in side.fields.items()},
    )


def _first_texts(hits: Sequence[Hit], limit: int) -> list[Hit]:
    texts = list(dict.fromkeys(hit.block.text for hit in hits))
    kept = frozenset(texts[:limit])
    return [hit for hit in hits if hit.block.text in kept]
