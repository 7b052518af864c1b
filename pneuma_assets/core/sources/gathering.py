"""What all rows of a table say, of any source."""

from typing import Protocol, runtime_checkable

from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.tables import TableRef
from pneuma_assets.core.terms.collect import CollectedTerms, TermCollector


@runtime_checkable
class GathersEvidence(Protocol):
    """A source that gathers evidence in its own way, because that is cheaper than `scan`."""

    def evidence(self, ref: TableRef, seed: int) -> CollectedTerms:
        """Read all rows once, feed them to a `TermCollector`, and return what it has collected.

        The same data and seed give the same. Raises `TableReadError`.
        """
        ...


def gather(source: Source, ref: TableRef, seed: int) -> CollectedTerms:
    """Read all rows of a table once and return its evidence and sketch.

    A source that brings nothing of its own for that is scanned.

    Raises:
        TableReadError: The table cannot be read.
    """
    if isinstance(source, GathersEvidence):
        return source.evidence(ref, seed)
    gatherer = TermCollector(seed)
    for batch in source.scan(ref):
        gatherer.add(batch)
    return gatherer.collected()
