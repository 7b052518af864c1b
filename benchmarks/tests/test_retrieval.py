"""What is indexed of a set's tables, and which code decides it."""

import pytest

from pneuma_assets.core.config.indexing import SamplingConfig
from pneuma_assets.core.tables import Column, Table
from pneuma_bench.ablations import whole_tables
from pneuma_bench.ablations.contestants import ANSWERING
from pneuma_bench.keys import ALL, INDEXING, code_key
from pneuma_bench.retrieval import table_evidence
from pneuma_bench.sets import RetrievalSet
from pneuma_bench.target import curve

TABLE = Table("s/1", (Column("a", "VARCHAR"),), 1, "x")
ROWS = [("berlin",)]


@pytest.mark.parametrize(("values", "rows"), [(True, (("berlin",),)), (False, ())])
def test_values_are_left_out_where_the_setting_says_so(values, rows):
    dataset = RetrievalSet("set", [(TABLE, ROWS)], ["q"], [{"s/1"}])
    found = table_evidence(TABLE, ROWS, dataset, SamplingConfig(values=values))
    assert (found.columns, found.rows, found.cells) == (("a",), rows, ())


def test_all_that_decides_an_index_is_in_its_key():
    assert {"pneuma_assets.core.pipeline", "pneuma_bench.lab"} <= set(INDEXING)


@pytest.mark.parametrize("named", [INDEXING, ANSWERING, curve._CODE, whole_tables._CODE, ALL])
def test_every_module_that_a_key_names_is_there(named):
    assert code_key(named)
