"""Compacting an index whole, apart from indexing: rarely needed, and never for correct answers."""

import time

from pneuma_assets.core.errors import IndexDamagedError
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.progress import working


def optimise_index(index: SearchIndex) -> dict[str, float]:
    """Compact an index that is sound, which answers all the while; returns figures by name.

    Raises:
        SearchIndexError: It is damaged, or cannot be compacted.
    """
    before = index.info()
    if not before.usable:
        raise IndexDamagedError(before.health)
    started = time.monotonic()
    with working("compacting the index"):
        index.optimise()
    after, seconds = index.info(), time.monotonic() - started
    return {
        "tables": after.tables,
        "blocks before": before.blocks,
        "blocks after": after.blocks,
        "MB before": round(before.size_bytes / 1e6, 2),
        "MB after": round(after.size_bytes / 1e6, 2),
        "seconds": round(seconds, 2),
    }
