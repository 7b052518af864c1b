"""What a model may ask: statements that pass as they were meant, and what is said of others."""

import json
import re
from collections import defaultdict
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from pneuma_assets.core.answers.guard import checked
from pneuma_assets.core.answers.refusing import Guard, ReadTable
from pneuma_assets.core.errors import SqlRefusedError
from tests.support.honest_sql import HONEST
from tests.support.hostile_sql import TABLES

WAREHOUSE = Path(__file__).parents[4] / "shared/data/warehouse"


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
@pytest.mark.parametrize("sql", HONEST)
def test_an_honest_statement_passes(sql, dialect):
    found = checked(sql, TABLES, dialect, 10)
    (again,) = sqlglot.parse(found.sql, dialect=dialect)
    names = {node.name for node in again.find_all(exp.Table)}
    assert names & {"people", "cities"}
    assert all(name.args["quoted"] for name in again.find_all(exp.Identifier))
    assert "--" not in found.sql
    assert int(again.args["limit"].expression.name) <= 11


def test_all_gold_statements_of_the_warehouse_pass_but_the_one_that_multiplies_two_tables():
    if not WAREHOUSE.is_dir():
        pytest.skip(f"no warehouse data in {WAREHOUSE}")
    tables = defaultdict(list)
    for file in WAREHOUSE.glob("*.sql"):
        for name, body in re.findall(r"CREATE TABLE (\w+) \((.*?)\n\);", file.read_text(), re.S):
            columns = [line.split()[0].strip('"') for line in body.strip().splitlines() if line]
            tables[file.stem].append(ReadTable(name, tuple(columns), file.stem))
    lines = (WAREHOUSE / "questions.jsonl").read_text().splitlines()
    questions = [one for one in map(json.loads, lines) if one["answerable"]]
    refused = []
    for question in questions:
        for sql in question["gold"]:
            try:
                checked(sql, tables[question["schema"]], "postgres", 100)
            except SqlRefusedError as error:
                refused.append((error.guard, "FROM publication, author" in sql))
    assert (len(questions), refused) == (190, [(Guard.CROSS_JOIN, True)])


def test_what_is_read_is_told_and_spelled_as_it_is_kept():
    sql = 'select P.NAME, "pay grade" from Shop.People P join CITIES on p.City = cities.city'
    found = checked(sql, TABLES, "postgres", 10)
    assert found.sql == (
        'SELECT "p"."name", "Pay Grade" FROM "people" AS "p" JOIN "cities" AS "cities" '
        'ON "p"."city" = "cities"."city" LIMIT 11'
    )
    assert [table.name for table in found.tables] == ["people", "cities"]
    assert found.columns == (
        *(("people", "city"), ("cities", "city"), ("people", "name")),
        ("people", "Pay Grade"),
    )


def test_fields_of_a_column_are_read_by_its_name_and_by_arrows():
    events = ReadTable("events", ("Who", "data"))
    found = checked("SELECT who.name, data ->> 'a' FROM events e", [events], "duckdb", 10)
    assert found.sql.startswith("""SELECT "Who"."name", "data" ->> '$.a' FROM "events" AS "e\"""")
    found = checked("SELECT data -> 'a' ->> 'b' FROM events", [events], "postgres", 10)
    assert found.sql.startswith("""SELECT "data" -> 'a' ->> 'b' FROM""")
    assert found.columns == (("events", "data"),)


def test_a_star_reads_all_columns_but_hidden_ones():
    found = checked("SELECT * FROM people", TABLES, "duckdb", 10)
    assert [column for _, column in found.columns] == list(TABLES[0].columns)


def test_names_of_results_keep_their_capitals_where_they_are_quoted():
    sql = 'SELECT city AS "The City", count(*) AS N FROM people GROUP BY "The City" ORDER BY n'
    assert checked(sql, TABLES, "duckdb", 10).sql == (
        'SELECT "city" AS "The City", COUNT(*) AS "n" FROM "people" AS "people" '
        'GROUP BY "The City" ORDER BY "n" LIMIT 11'
    )


@pytest.mark.parametrize(
    ("given", "kept"),
    [("", 11), (" LIMIT 3", 3), (" LIMIT 5000", 11), (" FETCH FIRST 2 ROWS ONLY", 2)],
)
def test_a_limit_stays_where_it_is_less(given, kept):
    found = checked(f"SELECT name FROM people{given}", TABLES, "postgres", 10)
    assert found.sql.endswith(f" LIMIT {kept}")


@pytest.mark.parametrize(
    ("sql", "guard", "said"),
    [
        ("SELECT nam FROM people", Guard.COLUMN, "did you mean 'name'"),
        ("SELECT c.nam FROM cities c", Guard.COLUMN, "there is no column 'nam'"),
        ('SELECT name FROM people WHERE city = "Rome"', Guard.COLUMN, "single quotes"),
        ("SELECT q.city FROM (SELECT name FROM people) q", Guard.COLUMN, "no column 'city'"),
        ("SELECT x.name FROM people", Guard.COLUMN, "nothing called 'x'; there are 'people'"),
        ("SELECT email FROM people", Guard.COLUMN, "hidden by rules of privacy"),
        ("SELECT name FROM peoples", Guard.TABLE, "did you mean 'shop.people'"),
        ("SELECT name FROM other.people", Guard.TABLE, "'other.people'"),
        ("SELECT name FROM a.shop.people", Guard.TABLE, "without its database"),
        ("SELECT pg_sleep(1)", Guard.FUNCTION, "'pg_sleep' is not allowed"),
        ("SELECT shop.lower(name) FROM people", Guard.FUNCTION, "leave that out"),
        ("SELECT name FROM people LIMIT (SELECT 5)", Guard.SYNTAX, "whole number"),
        ("SELECT name FROM people p, LATERAL (SELECT 1) q", Guard.SYNTAX, "LATERAL"),
        ("SELECT name FROM people TABLESAMPLE SYSTEM (1)", Guard.SYNTAX, "SAMPLE may not"),
        ("SELECT name FROM", Guard.PARSER, "cannot be parsed"),
        ("  ; ", Guard.ONE_STATEMENT, "0 statements"),
        ("SELECT name FROM people, cities", Guard.CROSS_JOIN, "'people', 'cities'"),
        ("SELECT name FROM people WHERE name ~ city", Guard.SIZE, "regular expression"),
        ("SELECT 1e999 FROM people", Guard.SIZE, "the number"),
    ],
)
def test_a_refusal_says_what_to_do(sql, guard, said):
    with pytest.raises(SqlRefusedError, match=re.escape(said)) as caught:
        checked(sql, TABLES, "postgres", 10)
    assert caught.value.guard == guard


def test_a_name_of_with_is_known_from_there_on_alone():
    with pytest.raises(SqlRefusedError) as caught:
        checked("SELECT * FROM a JOIN (WITH a AS (SELECT 1) SELECT 1) q ON 1 = 1", TABLES,
                "duckdb", 10)  # fmt: skip
    assert caught.value.guard == Guard.TABLE


def test_a_dialect_that_nobody_looked_through_is_refused():
    with pytest.raises(SqlRefusedError, match="'oracle'"):
        checked("SELECT name FROM people", TABLES, "oracle", 10)


@pytest.mark.parametrize("join", ["JOIN cities USING (city)", "NATURAL JOIN cities"])
def test_the_columns_that_join_are_read_of_each_table(join):
    found = checked(f"SELECT name FROM people {join}", TABLES, "duckdb", 10)
    assert {("people", "city"), ("cities", "city")} <= set(found.columns)


AA, BB, CC = (
    ReadTable(f"{n}{n}", columns)
    for n, columns in zip("abc", (("x", "k"), ("k", "z"), ("z", "y")), strict=True)
)


@pytest.mark.parametrize(
    "tables",
    [
        "aa NATURAL JOIN (bb JOIN cc ON bb.z = cc.z)",
        "aa NATURAL JOIN (cc JOIN bb ON bb.z = cc.z)",
        "cc NATURAL JOIN (bb NATURAL JOIN aa)",
    ],
)
def test_natural_joins_all_that_it_adds_in_parentheses(tables):
    found = checked(f"SELECT x, y FROM {tables}", [AA, BB, CC], "duckdb", 10)
    read = {("aa", "x"), ("aa", "k"), ("bb", "k"), ("bb", "z"), ("cc", "z"), ("cc", "y")}
    assert set(found.columns) == read


@pytest.mark.parametrize(
    "tables", ["aa NATURAL JOIN cc", "(aa JOIN cc ON true) NATURAL JOIN (bb JOIN dd ON true)"]
)
def test_natural_joins_only_those_that_have_a_column_in_common(tables):
    dd = ReadTable("dd", ("y",))
    with pytest.raises(SqlRefusedError) as caught:
        checked(f"SELECT x FROM {tables}", [AA, ReadTable("bb", ("k",)), CC, dd], "postgres", 10)
    assert caught.value.guard == Guard.CROSS_JOIN


def test_of_a_column_that_is_elsewhere_it_is_told_where():
    with pytest.raises(SqlRefusedError, match=r"no column 'country' in 'p'; table 'cities' has it"):
        checked("SELECT p.country FROM people p", TABLES, "duckdb", 10)


IN_POSTGRES = {
    "q.count": "count(*)",
    "count": "count(DISTINCT name)",
    "q.sum": 'sum("Pay Grade") OVER ()',
    "q.avg": 'cast(avg("Pay Grade") AS int)',
    'q."count"': "count(*) FILTER (WHERE city = 'Rome')",
    "q.city": "cast(city AS text)",
    "q.max": "(SELECT max(joined) FROM people)",
    "q.case": "CASE WHEN id = 1 THEN 'x' END",
    "q.coalesce": "COALESCE(sum(id), 0)",
    "q.exists": "EXISTS (SELECT 1 FROM cities)",
    "q.extract": "date_part('year', joined)",
    "q.percentile_cont": "percentile_cont(0.5) WITHIN GROUP (ORDER BY id)",
    "q.btrim": "trim(name)",
    "q.current_date": "current_date",
    "q.array": "(ARRAY[id, 2])[1]",
    "q.timezone": "joined AT TIME ZONE 'utc'",
    "q.name": "CASE WHEN id = 1 THEN 'x' ELSE name END",
    "q.column2": None,
}
IN_DUCKDB = {
    'q."count_star()"': "count(*)",
    'q."max(id)"': "max(id)",
    'q."SUM(id)"': "sum(id)",
    "q.col1": None,
}
MADE = [("postgres", *one) for one in IN_POSTGRES.items()] + [
    ("duckdb", *one) for one in IN_DUCKDB.items()
]


def made(column, result):
    group = " GROUP BY city" if result == "cast(city AS text)" else ""
    query = f"SELECT {result} FROM people{group}"
    query = "VALUES (1, 'a'), (2, 'b')" if result is None else query
    return f"SELECT {column} FROM ({query}) AS q"


@pytest.mark.parametrize(("dialect", "column", "result"), MADE)
def test_a_result_without_a_name_is_called_as_the_engine_calls_it(dialect, column, result):
    assert checked(made(column, result), TABLES, dialect, 10)


@pytest.mark.parametrize(
    ("dialect", "column", "result"),
    [
        ("postgres", "q.sum", "count(*)"),
        ("postgres", "q.max", "max(id) + 1"),
        ("postgres", "q.int4", "1"),
        ("postgres", "q.lower", "lower(name) = 'x'"),
        ("postgres", "q.lower", "lower(name) LIKE 'x' AND true"),
        ("postgres", "q.col1", None),
        ("postgres", "q.column3", None),
        ("duckdb", "q.count", "count(*)"),
        ("duckdb", "q.column1", None),
    ],
)
def test_a_result_without_a_name_is_called_by_no_other(dialect, column, result):
    with pytest.raises(SqlRefusedError, match=r"name by AS|did you mean") as error:
        checked(made(column, result), TABLES, dialect, 10)
    assert error.value.guard == Guard.COLUMN


def test_names_that_a_query_is_given_replace_those_of_its_first_results():
    tables = "(SELECT count(*), city FROM people GROUP BY city) AS q(n)"
    assert checked(f"SELECT n, city FROM {tables}", TABLES, "postgres", 10)
    with pytest.raises(SqlRefusedError, match="no column 'count'"):
        checked(f"SELECT q.count FROM {tables}", TABLES, "postgres", 10)
    stars = "(SELECT p.* FROM (SELECT count(*) FROM people) AS p) AS q"
    assert checked(f"SELECT q.count FROM {stars}", TABLES, "postgres", 10)
    both = "(SELECT max(id) FROM people UNION SELECT 2) AS q"
    assert checked(f"SELECT q.max FROM {both}", TABLES, "postgres", 10)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 AS email, email FROM people",
        "SELECT 1 AS email FROM people ORDER BY email",
        "SELECT 1 AS xmin, xmin FROM people",
        "SELECT count(*), 1 AS ctid FROM people GROUP BY ctid",
        "SELECT name, 1 AS people, people::text AS whole FROM people",
        "SELECT 1 AS p FROM people AS p WHERE p IS NOT NULL",
    ],
)
def test_what_a_result_is_called_hides_no_column_of_the_same_name(dialect, sql):
    with pytest.raises(SqlRefusedError) as error:
        checked(sql, TABLES, dialect, 10)
    assert error.value.guard == Guard.COLUMN


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id AS n, n + 1 AS more FROM people",
        "SELECT id AS n FROM people WHERE n > 1",
        "SELECT id AS n FROM people ORDER BY n + 1",
    ],
)
def test_results_are_known_where_the_engine_knows_them(sql):
    assert checked(sql, TABLES, "duckdb", 10)
    with pytest.raises(SqlRefusedError, match="no column 'n'"):
        checked(sql, TABLES, "postgres", 10)
    assert checked("SELECT id AS n FROM people GROUP BY n ORDER BY n", TABLES, "postgres", 10)
