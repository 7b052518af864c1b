"""The statements are of their dialects, and their rows become edges."""

from importlib import import_module

import pytest
import sqlglot

from pneuma_assets.core.lineage.dependencies import read_dependencies
from pneuma_assets.core.lineage.dependency_views import SNOWFLAKE, UNITY
from pneuma_assets.core.sources.kinds.sql import SqlSourceConfig
from pneuma_assets.core.sources.sql.engines import ENGINES


@pytest.mark.parametrize(("sql", "dialect"), [(SNOWFLAKE, "snowflake"), (UNITY, "databricks")])
def test_the_statements_are_read_by_the_parser_of_their_dialect(sql, dialect):
    query = sqlglot.parse_one(sql, dialect=dialect)
    assert isinstance(query, sqlglot.exp.Select)
    assert len(query.selects) == 6
    assert sqlglot.parse_one(query.sql(dialect=dialect), dialect=dialect) == query


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


def test_only_engines_that_have_such_a_view_are_asked_and_none_is_woken_for_it():
    def dialect(url: str, **keys: object) -> str | None:
        return SqlSourceConfig(name="w", url=url, **keys).dependency_dialect

    assert dialect("postgresql://u@h/d") == "postgres"
    assert dialect("snowflake://u@account/d") is None
    assert dialect("snowflake://u@account/d", wake=True) == "snowflake"
    assert dialect("databricks://h?http_path=/sql/1.0/warehouses/a&catalog=c") == "databricks"
    assert dialect("mysql://u@h/d") is None
    assert dialect("redshift://u@h/d") is None


@pytest.mark.parametrize("engine", {one.place: one for one in ENGINES.values()}.values())
def test_an_engine_has_a_statement_where_it_has_a_dialect_for_its_rows(engine):
    module, _, name = engine.place.partition(":")
    room = "pneuma_assets.core.sources.sql"
    made = getattr(import_module(f"{room}.{module}"), name)
    assert bool(made.dependencies) == bool(engine.dependencies)
    assert not engine.dependencies or made.sql == engine.dependencies
