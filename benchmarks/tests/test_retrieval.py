"""What is indexed of a set's tables, and which code decides it."""

import pytest

from pneuma_assets.core.config.small_sections import SamplingConfig
from pneuma_assets.core.tables import Column, Table
from pneuma_bench.retrieval import table_evidence
from pneuma_bench.sets import RetrievalSet

TABLE = Table("s/1", (Column("a", "VARCHAR"),), 1, "x")
ROWS = [("berlin",)]


@pytest.mark.parametrize(("values", "rows"), [(True, (("berlin",),)), (False, ())])
def test_values_are_left_out_where_the_setting_says_so(values, rows):
    dataset = RetrievalSet("set", [(TABLE, ROWS)], ["q"], [{"s/1"}])
    found = table_evidence(TABLE, ROWS, dataset, SamplingConfig(values=values))
    assert (found.columns, found.rows, found.cells) == (("a",), rows, ())
