"""The promises of `core.sources.base.Source`, to be kept by every kind of source.

A kind's test module subclasses `SourceConformance` and defines the fixture `lake`, by which the
tests fill the place that its source reads; see `test_folder.py`. One kind, DuckDB's, runs the suite
again with the process that reads for it in a deployment.
"""

from tests.conformance.sources.errors import ErrorsConformance
from tests.conformance.sources.evidence import EvidenceConformance
from tests.conformance.sources.hostile import HostileConformance
from tests.conformance.sources.listing import ListingConformance
from tests.conformance.sources.profiles import (
    ContextsConformance,
    ProfileConformance,
    ScanConformance,
)
from tests.conformance.sources.sampling import SamplingConformance


class SourceConformance(
    ListingConformance,
    ProfileConformance,
    SamplingConformance,
    ScanConformance,
    EvidenceConformance,
    ContextsConformance,
    ErrorsConformance,
    HostileConformance,
):
    """All parts of the suite."""
