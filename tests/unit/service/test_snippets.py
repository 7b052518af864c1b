"""Code to copy: whatever a name is, it stays one name of its language."""

import ast

import pytest
import sqlglot
from sqlglot import exp

from pneuma_assets.core.service.snippets import MOST_COLUMNS, snippets
from pneuma_assets.core.sources.kinds.duckdb import DuckDBSourceConfig
from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from pneuma_assets.core.sources.kinds.sql import SqlSourceConfig
from pneuma_assets.core.tables import Column, Table

FOLDER = FolderSourceConfig(name="lake", path="/lake")
NAMES = ["plain", 'a "b" `c` [d]', "x'; DROP TABLE y; --", "Größe\u202e", "select", "a.b", "100%"]


def offered(config, table_id, location, kind, columns, key=None, reading=()):
    table = Table(table_id, tuple(Column(one, "BIGINT") for one in columns), 1, "", reading=reading)
    return dict(snippets(config, table_id, location, kind, table, ["", "NA"], key))


def call_in(told):
    """Return the call that makes the table in code of Python."""
    call = ast.parse(told["pandas"]).body[-1].value
    return call.func.value if call.func.attr == "df" else call


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
    told = offered(config, f"w/public/{name.replace('%', '%25')}", "", "table", [name, "n"])
    (tree,) = sqlglot.parse(told["sql"], dialect=dialect)
    (table,) = tree.find_all(exp.Table)
    assert (table.name, table.db) == (name, "public")
    assert [column.name for column in tree.find_all(exp.Column)] == [name, "n"]
    assert "pandas" not in told, "its connection is not known"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet", "orc", "arrow"])
def test_a_file_is_read_by_its_path(name, kind):
    place, reading = f"/lake/{name.replace('%', '%25')}.x", (("delim", "','"), ("format", "'auto'"))
    told = offered(FOLDER, f"lake/{name}", place, kind, [], reading=reading)
    given = call_in(told).args[0].value
    if "sql" not in told:
        assert given == f"/lake/{name}.x"
    for statement in (told["sql"], given) if "sql" in told else ():
        (tree,) = sqlglot.parse(statement, dialect="duckdb")
        first, *_ = (one.this for one in tree.find_all(exp.Literal) if one.is_string)
        assert first == f"/lake/{name}.x"


HOSTILE = (
    *(("delim", "''''"), ("quote", "'\\'"), ("escape", "'\"'"), ("comment", "''"), ("skip", "3")),
    *(("header", "true"), ("dateformat", "'%d''%m'")),
)


def test_columns_and_signs_of_a_file_stay_what_they_are():
    told = offered(FOLDER, "lake/a", "/lake/a.csv", "csv", NAMES, reading=HOSTILE)
    (tree,) = sqlglot.parse(told["sql"], dialect="duckdb")
    (call,) = tree.find_all(exp.ReadCSV)
    given = {one.this.name: one.expression for one in call.find_all(exp.EQ)}
    assert [given[one].this for one in ("delim", "quote", "escape")] == ["'", "\\", '"']
    assert [one.this.name for one in given["columns"].find_all(exp.PropertyEQ)] == NAMES
    assert told["sql"] == f"{call_in(told).args[0].value} LIMIT 100;"


def test_a_sheet_is_named_beside_its_file():
    reading = (("delim", "'\t'"), ("skip", "2"), ("header", "true"))
    told = offered(FOLDER, "lake/b", "/lake/b.xlsx#A%23", "excel", ["n"], reading=reading)
    call = ast.parse(told["pandas"]).body[1].value
    assert ast.unparse(call.func) == "pd.read_excel"
    given = {one.arg: ast.literal_eval(one.value) for one in call.keywords}
    assert (call.args[0].value, given["sheet_name"], given["skiprows"]) == ("/lake/b.xlsx", "A#", 2)
    commas = (*reading, ("decimal_separator", "','"))
    assert offered(FOLDER, "lake/b", "/lake/b.xlsx#A", "excel", ["n"], reading=commas) == {}


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "excel"])
@pytest.mark.parametrize(
    "reading", [(), (("compression", "'gzip'"),), (("delim", "','"), ("encoding", "'utf-8'"))]
)
def test_a_file_that_no_options_read_as_its_page_has_no_snippet(kind, reading):
    assert offered(FOLDER, "lake/b", "/lake/b.x#A", kind, ["n"], reading=reading) == {}


def test_untold_tables_have_no_snippet_and_wide_ones_are_read_whole():
    assert offered(FOLDER, "lake/a", "", "csv", ["x"]) == {}
    assert offered(None, "gone/a", "", "table", ["x"]) == {}
    assert dict(snippets(FOLDER, "lake/a", "/lake/a.csv", "csv", None, [""], None)) == {}
    columns = [f"c{number}" for number in range(MOST_COLUMNS + 1)]
    told = offered(of_database("postgresql://h/d"), "w/p/t", "", "table", columns, "pneuma/w/p/t")
    assert "*" in told["sql"]
    assert told["dagster"].endswith("dg.AssetKey(['pneuma', 'w', 'p', 't'])")
    told = offered(FOLDER, "lake/a", "/lake/a.csv", "csv", columns, reading=HOSTILE)
    assert "c1" not in told["sql"]
