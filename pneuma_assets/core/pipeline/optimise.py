"""Compacting an index whole, apart from indexing: rarely needed, and never for correct answers."""

import time
from dataclasses import dataclass

from pneuma_assets.core.errors import IndexDamagedError
from pneuma_assets.core.index.base import IndexInfo, SearchIndex
from pneuma_assets.core.progress import working


@dataclass(frozen=True, slots=True)
class Optimised:
    """What an index was before and after it was compacted, and the seconds that took."""

    before: IndexInfo
    after: IndexInfo
    seconds: float

    def named(self) -> dict[str, float]:
        """Return the figures by the names that people see."""
        return {
            "tables": self.after.tables,
            "blocks before": self.before.blocks,
            "blocks after": self.after.blocks,
            "MB before": round(self.before.size_bytes / 1e6, 2),
            "MB after": round(self.after.size_bytes / 1e6, 2),
            "seconds": round(self.seconds, 2),
        }


def optimise_index(index: SearchIndex) -> Optimised:
    """Compact an index that is sound; it answers all the while.

    Raises:
        IndexDamagedError: It is not as it was written.
        SearchIndexError: It cannot be compacted.
    """
    before = index.info()
    if not before.usable:
        raise IndexDamagedError(before.health)
    started = time.monotonic()
    with working("compacting the index"):
        index.optimise()
    return Optimised(before, index.info(), time.monotonic() - started)
