"""What columns of SQL engines, whose cells come as text, are where DuckDB runs a statement."""

import pytest

from pneuma_assets.core.answers.run_duckdb import statement_type


@pytest.mark.parametrize(
    ("engine", "spelled", "meant"),
    [
        ("mysql", "int unsigned", "BIGINT"),
        ("mysql", "tinyint(1)", "BIGINT"),
        ("mysql", "decimal(10,2)", "DECIMAL"),
        ("mysql", "double", "DOUBLE"),
        ("mysql", "datetime(6)", "TIMESTAMP"),
        ("mysql", "timestamp", "TIMESTAMP"),
        ("mysql", "year", "BIGINT"),
        ("mysql", "bit(1)", "bit(1)"),
        ("mysql", "enum('a','b')", "enum('a','b')"),
        ("snowflake", "NUMBER(38,0)", "DECIMAL"),
        ("snowflake", "TIMESTAMP_NTZ(9)", "TIMESTAMP"),
        ("snowflake", "VARIANT", "VARIANT"),
        ("bigquery", "INT64", "BIGINT"),
        ("bigquery", "BIGNUMERIC", "DECIMAL"),
        ("bigquery", "ARRAY<INT64>", "ARRAY<INT64>"),
        ("postgresql", "numeric(10,2)", "DECIMAL"),
        ("postgresql", "timestamp with time zone", "TIMESTAMP"),
        ("postgresql", "time without time zone", "TIME"),
        ("postgresql", "integer[]", "integer[]"),
        ("postgresql", "mood", "mood"),
        ("trino", "timestamp(3) with time zone", "TIMESTAMP"),
        ("redshift", "double precision", "DOUBLE"),
        ("mssql", "datetime2", "TIMESTAMP"),
        ("sqlite", "BOOLEAN", "BOOLEAN"),
        ("sqlite", "UNSIGNED BIG INT", "UNSIGNED BIG INT"),
        ("sqlite", "", ""),
        ("sqlite", "'; DROP TABLE x", "'; DROP TABLE x"),
        ("a database of nobody", "INTEGER", "BIGINT"),
        ("oracle", "NUMBER(10)", "DECIMAL"),
    ],
)
def test_types_of_engines(engine, spelled, meant):
    assert statement_type(spelled, engine) == meant
