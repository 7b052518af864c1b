"""The promises of `core.index.base.SearchIndex`, to be kept by every engine.

An engine's test module subclasses `SearchIndexConformance`, defines the fixture `index_factory`
and, where its storage rounds, the tolerances; see `test_embedded.py`.
"""

from tests.conformance.index.access import AccessConformance
from tests.conformance.index.evidence import EvidenceConformance
from tests.conformance.index.evidence_scores import EvidenceScoresConformance
from tests.conformance.index.facts import FactsConformance
from tests.conformance.index.holders import HoldersConformance
from tests.conformance.index.holding import HoldingConformance
from tests.conformance.index.hostile import HostileConformance
from tests.conformance.index.readers import ReadersConformance
from tests.conformance.index.scores import ScoresConformance
from tests.conformance.index.search import FilterConformance, SearchConformance
from tests.conformance.index.writing import WritingConformance


class SearchIndexConformance(
    WritingConformance,
    SearchConformance,
    FilterConformance,
    ScoresConformance,
    HostileConformance,
    ReadersConformance,
    EvidenceConformance,
    EvidenceScoresConformance,
    FactsConformance,
    HoldingConformance,
    HoldersConformance,
    AccessConformance,
):
    """All parts of the suite."""
