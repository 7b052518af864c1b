"""An answer that names the wanted table among a result's copies or family has found it."""

from dataclasses import replace

import pytest

from pneuma_assets.core.evaluation.evaluate import _shown
from pneuma_assets.core.relations.families import Family
from pneuma_assets.core.search.results import ScoreParts, TableResult
from pneuma_assets.core.tables import DocumentKind


@pytest.mark.parametrize(
    ("relevant", "counted"),
    [({"a"}, "a"), ({"b"}, "b"), ({"c"}, "a"), ({"a", "b"}, "a"), (set(), "a"), ({"a", "d"}, "ad")],
)
def test_a_result_counts_as_the_wanted_ones_of_its_tables(relevant, counted):
    parts = ScoreParts(1.0, 0.0, None, 1.0, 0.0)
    result = TableResult("a", 1.0, parts, DocumentKind("rows"), "", "", "", copies=("b",))
    result = replace(result, family=Family("*", 2, "a", "d", ("d",)))

    assert _shown(result, relevant) == [*counted]
