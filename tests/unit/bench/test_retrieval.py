"""What is indexed of a set's tables, and which code decides it."""

import pytest

from pneuma_assets.core.bench.keys import INDEXING
from pneuma_assets.core.bench.retrieval import table_evidence
from pneuma_assets.core.bench.sets import RetrievalSet
from pneuma_assets.core.config.indexing import SamplingConfig
from pneuma_assets.core.tables import Column, Table

TABLE = Table("s/1", (Column("a", "VARCHAR"),), 1, "x")
ROWS = [("berlin",)]


@pytest.mark.parametrize(("values", "rows"), [(True, (("berlin",),)), (False, ())])
def test_values_are_left_out_where_the_setting_says_so(values, rows):
    dataset = RetrievalSet("set", [(TABLE, ROWS)], ["q"], [{"s/1"}])
    found = table_evidence(TABLE, ROWS, dataset, SamplingConfig(values=values))
    assert (found.columns, found.rows, found.cells) == (("a",), rows, ())


def test_all_that_decides_an_index_is_in_its_key():
    assert {"pipeline", "bench/described.py", "evidence"} <= set(INDEXING)
