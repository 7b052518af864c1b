"""The promises of `core.index.base.SearchIndex`, to be kept by every engine.

An engine's test module subclasses `SearchIndexConformance`, defines the fixture `index_factory`
and, where its storage rounds, the tolerances; see `test_embedded.py`.
"""

from index_suite_hostile import HostileConformance
from index_suite_readers import ReadersConformance
from index_suite_scores import ScoresConformance
from index_suite_search import FilterConformance, SearchConformance
from index_suite_writing import WritingConformance


class SearchIndexConformance(
    WritingConformance,
    SearchConformance,
    FilterConformance,
    ScoresConformance,
    HostileConformance,
    ReadersConformance,
):
    """All parts of the suite."""
