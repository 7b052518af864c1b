"""Code to copy: whatever a name is, it stays one name of its language."""

import ast

import pytest
import sqlglot
from sqlglot import exp

from pneuma_assets.core.service.snippets import MOST_COLUMNS, snippets
from pneuma_assets.core.sources.kinds.duckdb import DuckDBSourceConfig
from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from pneuma_assets.core.sources.kinds.sql import SqlSourceConfig

FOLDER = FolderSourceConfig(name="lake", path="/lake")
NAMES = ["plain", 'a "b" `c` [d]', "x'; DROP TABLE y; --", "Größe\u202e", "select", "a.b", "100%"]


def of_database(url: str) -> SqlSourceConfig:
    return SqlSourceConfig(name="w", url=url)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("config", "dialect"),
    [
        (of_database("postgresql://h/d"), "postgres"),
        (of_database("mysql://h/d"), "mysql"),
        (DuckDBSourceConfig(name="w", path="/d.duckdb"), "duckdb"),
    ],
)
def test_a_statement_names_one_table_and_its_columns(name, config, dialect):
    told = snippets(config, f"w/public/{name.replace('%', '%25')}", "", "table", [name, "n"], None)
    (tree,) = sqlglot.parse(told["sql"], dialect=dialect)
    (table,) = tree.find_all(exp.Table)
    assert (table.name, table.db) == (name, "public")
    assert [column.name for column in tree.find_all(exp.Column)] == [name, "n"]
    call = ast.parse(told["pandas"]).body[-1].value
    assert sqlglot.parse(call.args[0].value, dialect=dialect) == [tree]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet", "orc", "arrow"])
def test_a_file_is_read_by_its_path(name, kind):
    told = snippets(FOLDER, f"lake/{name}", f"/lake/{name.replace('%', '%25')}.x", kind, [], None)
    call = ast.parse(told["pandas"]).body[-1].value
    assert call.args[0].value == f"/lake/{name}.x"
    if "sql" in told:
        (tree,) = sqlglot.parse(told["sql"], dialect="duckdb")
        assert [one.this for one in tree.find_all(exp.Literal) if one.is_string] == [
            f"/lake/{name}.x"
        ]


def test_a_sheet_is_named_beside_its_file():
    told = snippets(FOLDER, "lake/b.xlsx/A", "/lake/b.xlsx#A%23", "excel", [], None)
    assert told == {
        "pandas": "import pandas as pd\n\ntable = pd.read_excel('/lake/b.xlsx', sheet_name='A#')"
    }


def test_untold_tables_have_no_snippet_and_wide_ones_are_read_whole():
    assert snippets(FOLDER, "lake/a", "", "csv", ["x"], None) == {}
    assert snippets(None, "gone/a", "", "table", ["x"], None) == {}
    columns = [f"c{number}" for number in range(MOST_COLUMNS + 1)]
    told = snippets(of_database("postgresql://h/d"), "w/p/t", "", "table", columns, "pneuma/w/p/t")
    assert "*" in told["sql"]
    assert told["dagster"].endswith("dg.AssetKey(['pneuma', 'w', 'p', 't'])")
