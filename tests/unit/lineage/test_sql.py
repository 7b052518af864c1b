"""Views are read as people read them, and SQL of any kind ends, within bounds."""

import logging
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pneuma_assets.core.lineage.names import TableName
from pneuma_assets.core.lineage.parse import MOST_CHARACTERS, MOST_NESTED, explained
from pneuma_assets.core.lineage.view_sql import ViewLineage, read_view
from pneuma_assets.core.tables import Definition
from tests.unit.lineage.by_hand import SHOP, VIEWS


def columns_of(table: TableName) -> list[str] | None:
    for name, columns in SHOP.items():
        for told, spelled in ((name, columns), (name.upper(), columns.upper())):
            if table.name == told:
                return spelled.split()
    return None


def read(sql: str, dialect: str = "postgres") -> ViewLineage:
    return read_view(Definition(sql, dialect), columns_of)


def sources_of(text: str) -> list[str]:
    return [
        one.replace("Odd_", "Odd ") for one in text.replace('"', "").replace("Odd ", "Odd_").split()
    ]


@pytest.mark.parametrize("name", VIEWS)
def test_views_answered_by_hand(name):
    sql, tables, told, *dialect = VIEWS[name]
    found = read(sql, *dialect)
    assert sorted(map(str, found.tables)) == sorted(sources_of(tables))
    answers = [line.partition(":") for line in told.split("; ") if line]
    assert [
        (one.name, sorted(f"{table.name}.{column}" for table, column in one.sources))
        for one in found.columns
    ] == [(column, sorted(sources_of(of.replace("?", "")))) for column, _, of in answers]
    assert found.problem is None


@pytest.mark.parametrize("turned", ["web_sales", "(SELECT * FROM web_sales)"])
def test_columns_of_pivots_come_from_none_that_is_called_alike(turned):
    sql = f"{turned} UNPIVOT (ws_quantity FOR i_brand IN (ws_item_sk, ws_sales_price)) AS w"
    for columns in ("*", "w.*", "ws_quantity, w.i_brand"):
        found = read(f"SELECT {columns} FROM {sql}", "snowflake")
        assert {table.name for table in found.tables} == {"WEB_SALES"}
        assert not any(one.sources for one in found.columns)


def test_columns_that_only_filter_are_told_apart_from_sources():
    found = read("SELECT i_brand FROM item WHERE i_category = 'x' ORDER BY i_current_price")
    assert {column for _, column in found.used} == {"i_brand", "i_category", "i_current_price"}
    assert [one.sources for one in found.columns] == [{(TableName("", "", "item"), "i_brand")}]


@pytest.mark.parametrize("computed", ["1 AS one, x", "x + " * 5_000 + "1"])
def test_tables_are_told_where_columns_cannot_be(computed):
    found = read(f"SELECT {computed} FROM item JOIN store USING (x)")
    assert {table.name for table in found.tables} == {"item", "store"}
    assert found.problem is not None


HOSTILE = {
    "nothing": "",
    "not SQL": "\x00\xff ' unterminated",
    "too long": "SELECT " + "x," * MOST_CHARACTERS + "1 FROM item",
    "too deep": "SELECT * FROM " + "(" * 5_000 + "item" + ")" * 5_000,
    "almost too deep": "SELECT * FROM "
    + "(SELECT * FROM " * (MOST_NESTED - 1)
    + "item"
    + ")" * (MOST_NESTED - 1),
    "twice as many columns at each step": "WITH c0 AS (SELECT * FROM item)"
    + "".join(f", c{n} AS (SELECT a.*, b.* FROM c{n - 1} a, c{n - 1} b)" for n in range(1, 60))
    + " SELECT * FROM c59",
    "two ways back at each step": "WITH c0 AS (SELECT * FROM item)"
    + "".join(
        f", c{n} AS (SELECT a.i_brand FROM c{n - 1} a, c{n - 1} b WHERE a.i_brand = b.i_brand)"
        for n in range(1, 200)
    )
    + " SELECT * FROM c199",
    "a long chain of operators": "SELECT " + "i_brand + " * 5_000 + "1 AS x FROM item",
    "a thousand unions": "SELECT i_brand FROM item " + "UNION SELECT i_brand FROM item " * 900,
    "more queries than are read": "SELECT 1 FROM item " + "UNION SELECT 1 FROM item " * 1_100,
    "an expression of itself": "WITH RECURSIVE a AS (SELECT * FROM a, item) SELECT * FROM a",
    "two of one name": "SELECT x FROM item t, store t",
    "columns that nobody knows": "SELECT "
    + ", ".join(f"x{n}" for n in range(8_000))
    + " FROM item",
    "columns of many joins": "SELECT i_brand FROM item "
    + " ".join(f"JOIN store s{n} USING (x{n})" for n in range(1_500)),
    "many columns of one name in USING": "SELECT a FROM item "
    + " ".join(f"JOIN nowhere n{n} USING (a, b)" for n in range(1_500)),
    "names of USING in many tables that nobody knows": "SELECT 1 FROM item JOIN nowhere USING ("
    + ", ".join(f"c{n}" for n in range(9_000))
    + ")"
    + "".join(f", nowhere n{n}" for n in range(8_000)),
    "names of USING in many functions": "SELECT 1 FROM item JOIN nowhere USING ("
    + ", ".join(f"c{n}" for n in range(9_000))
    + ")"
    + "".join(f", f(1) f{n}" for n in range(8_000)),
    "names that several tables may have": "SELECT "
    + ", ".join(f"x{n}" for n in range(8_000))
    + " FROM item"
    + "".join(f", nowhere n{n}" for n in range(8_000)),
    "aliases that each name the one before twice": "SELECT i_brand AS a0"
    + "".join(f", a{n - 1} || a{n - 1} AS a{n}" for n in range(1, 3_000))
    + " FROM item",
    "a long column grouped by over and over": "SELECT "
    + "i_brand || " * 1_000
    + "1 AS x FROM item GROUP BY "
    + "1, " * 50_000
    + "1",
    "the same star over and over": "SELECT " + "*, " * 30_000 + "1 FROM item",
    "a PIVOT of millions": "SELECT * FROM item PIVOT(sum(a) AS s, max(a) AS m"
    + f" FOR b IN ({', '.join(map(str, range(3_000)))})"
    + f" c IN ({', '.join(map(str, range(3_000)))}))",
    "many pivots": "SELECT * FROM item " + "PIVOT(sum(a) FOR b IN (1, 2)) " * 1_000,
}


SLOW = [pytest.param(one, marks=pytest.mark.slow) for one in ("bigquery", "no such dialect")]


@pytest.mark.timeout(120)  # some of these once took minutes
@pytest.mark.parametrize("sql", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("dialect", ["postgres", *SLOW])
def test_hostile_sql_ends_with_tables_or_a_problem(sql, dialect):
    found = read(sql, dialect)
    assert found.problem or found.tables
    if "item" in sql and found.problem is None:
        assert "item" in {table.name for table in found.tables}


SPOKEN = """SELECT FROM WHERE ( ) , . * AS item store t a b WITH RECURSIVE UNION ALL JOIN ON USING
LATERAL unnest VALUES CASE WHEN THEN END OVER PIVOT [ ] ' " ` ; -- /* */ :: -> => QUALIFY EXISTS IN
1 'x' $1 ${x} {{ }} CREATE VIEW TABLE EXCEPT GROUP BY ORDER"""


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(SPOKEN.split()), max_size=40).map(" ".join),
    st.sampled_from(["postgres", "snowflake", "duckdb", "bigquery", "mysql", "tsql"]),
)
def test_no_heap_of_words_raises(sql, dialect):
    read(sql, dialect)
    read(f"SELECT * FROM ({sql}) AS t", dialect)


def test_threads_that_parse_at_the_same_time_leave_the_log_as_it_was(caplog):
    """What one ends does not let the parser log what another one parses."""
    began, ended, logger = Barrier(2), Barrier(2), logging.getLogger("sqlglot")

    def first():
        with explained():
            began.wait(10)
        ended.wait(10)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(first)
        with explained():
            began.wait(10)
            ended.wait(10)
            logger.warning("what a stranger wrote")
        running.result()
    assert caplog.messages == []
    logger.warning("something of our own")
    assert caplog.messages == ["something of our own"]
    assert not logger.disabled
