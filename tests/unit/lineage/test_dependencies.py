"""Rows of dependency views become edges."""

import pytest

from pneuma_assets.core.lineage.engines import read_dependencies
from pneuma_assets.core.sources.kinds.sql import SqlSourceConfig


def test_rows_become_edges_and_odd_ones_nothing():
    rows = [
        ("D", "S", "ORDERS", "D", "S", "REVENUE"),
        ("D", "S", "CUSTOMERS", "D", "S", "REVENUE"),
        ("D", "S", "REVENUE", "D", "S", "REVENUE"),
        ("D", None, "X", "D", "S", "REVENUE"),
        ("D", "S", "X" * 1001, "D", "S", "REVENUE"),
        ("D", "S"),
    ]
    (table,) = read_dependencies(rows, "snowflake").tables
    assert str(table.name) == "D.S.REVENUE"
    assert [str(one.name) for one in table.upstream] == ["D.S.ORDERS", "D.S.CUSTOMERS"]


@pytest.mark.parametrize(
    ("url", "dialect"),
    [("postgresql://u@h/d", "postgres"), ("mysql://u@h/d", None), ("snowflake://u@a/d", None)],
)
def test_only_engines_that_have_such_a_view_are_asked(url, dialect):
    assert SqlSourceConfig(name="w", url=url).dependency_dialect == dialect
