"""What a model may ask: statements that pass as they were meant, and what is said of others."""

import json
import re
from collections import defaultdict
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from pneuma_assets.core.answers.guard import checked
from pneuma_assets.core.answers.statements import Guard, ReadTable
from pneuma_assets.core.errors import SqlRefusedError
from pneuma_assets.core.seek.skeptic.joins import findings_of_joins
from pneuma_assets.core.sources.base import StatementRows
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
    assert checked(found.sql, TABLES, dialect, 10).sql == found.sql


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
        'SELECT "p"."name", "p"."Pay Grade" FROM "shop"."people" AS "p" JOIN "shop"."cities" '
        'ON "p"."city" = "cities"."city"'
    )
    assert [table.name for table in found.tables] == ["people", "cities"]
    assert found.columns == (
        *(("people", "name"), ("people", "Pay Grade")),
        *(("people", "city"), ("cities", "city")),
    )


def test_fields_of_a_column_are_read_by_arrows():
    events = ReadTable("events", ("Who", "data"))
    found = checked("SELECT who, data ->> 'a' FROM events e", [events], "duckdb", 10)
    assert found.sql == ("""SELECT "e"."Who", "e"."data" ->> '$.a' FROM "events" AS "e\"""")
    found = checked("SELECT data -> 'a' ->> 'b' FROM events", [events], "postgres", 10)
    assert found.sql == """SELECT "events"."data" -> 'a' ->> 'b' FROM "events\""""
    assert found.columns == (("events", "data"),)


def test_a_star_reads_all_columns_but_hidden_ones():
    found = checked("SELECT * FROM people", TABLES, "duckdb", 10)
    assert [column for _, column in found.columns] == list(TABLES[0].columns)


def test_names_of_results_keep_their_capitals_where_they_are_quoted():
    sql = 'SELECT city AS "The City", count(*) AS N FROM people GROUP BY "The City" ORDER BY n'
    assert checked(sql, TABLES, "duckdb", 10).sql == (
        'SELECT "people"."city" AS "The City", COUNT(*) AS "n" FROM "shop"."people" '
        'GROUP BY "The City" ORDER BY "n"'
    )


@pytest.mark.parametrize("limit", ["", " LIMIT 3", " LIMIT 5000", " FETCH FIRST 2 ROWS ONLY"])
def test_a_limit_stays_as_it_is(limit):
    found = checked(f"SELECT name FROM people{limit}", TABLES, "postgres", 10)
    assert found.sql == f'SELECT "people"."name" FROM "shop"."people"{limit}'


@pytest.mark.parametrize(
    ("sql", "guard", "said"),
    [
        ("SELECT nam FROM people", Guard.COLUMN, "did you mean 'name'"),
        ("SELECT c.nam FROM cities c", Guard.COLUMN, "there is no column 'nam'"),
        ('SELECT name FROM people WHERE city = "Rome"', Guard.COLUMN, "single quotes"),
        ("SELECT q.city FROM (SELECT name FROM people) q", Guard.COLUMN, "no column 'city'"),
        ("SELECT x.name FROM people", Guard.COLUMN, "nothing called 'x'; there are 'people'"),
        ("SELECT email FROM people", Guard.COLUMN, "hidden by rules of privacy"),
        ("SELECT p.country FROM people p", Guard.COLUMN, "in 'p'; table 'cities' has it"),
        ("SELECT * FROM a JOIN (WITH a AS (SELECT 1) SELECT 1) q ON 1 = 1", Guard.TABLE, "'a'"),
        ("SELECT name FROM peoples", Guard.TABLE, "did you mean 'shop.people'"),
        ("SELECT name FROM other.people", Guard.TABLE, "'other.people'"),
        ("SELECT name FROM a.shop.people", Guard.TABLE, "without its database"),
        ("SELECT pg_sleep(1)", Guard.FUNCTION, "'pg_sleep' is not allowed"),
        ("SELECT shop.lower(name) FROM people", Guard.FUNCTION, "leave that out"),
        ("SELECT name FROM people LIMIT (SELECT 5)", Guard.SYNTAX, "whole number"),
        ("SELECT id FROM people QUALIFY rank() OVER (ORDER BY id) = 1", Guard.SYNTAX, "no QUALIFY"),
        ("SELECT TRY_CAST(name AS date) FROM people", Guard.SYNTAX, "no TRY_CAST"),
        ("SELECT p.city FROM people p SEMI JOIN cities c ON true", Guard.SYNTAX, "a join is none"),
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


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT TRY_CAST("people"."name" AS DATE) AS "d" FROM "shop"."people"',
        """SELECT TRY_STRPTIME("people"."name", '%d.%m.%Y') AS "d" FROM "shop"."people\"""",
    ],
)
def test_duckdb_may_try_casts(sql):
    assert checked(sql, TABLES, "duckdb", 10).sql == sql


def test_a_dialect_that_nobody_looked_through_is_refused():
    with pytest.raises(SqlRefusedError, match="'oracle'"):
        checked("SELECT name FROM people", TABLES, "oracle", 10)


def test_the_columns_that_join_are_read_of_each_table():
    found = checked("SELECT name FROM people JOIN cities USING (city)", TABLES, "duckdb", 10)
    assert {("people", "city"), ("cities", "city")} <= set(found.columns)


AA, BB, CC = (
    ReadTable(f"{n}{n}", columns)
    for n, columns in zip("abc", (("x", "k"), ("k", "z"), ("z", "y")), strict=True)
)


@pytest.mark.parametrize(
    ("tables", "on"),
    [
        ("aa JOIN bb USING (k)", '"aa"."k" = "bb"."k"'),
        ("bb JOIN aa USING (k) JOIN cc USING (z)", '"bb"."z" = "cc"."z"'),
        ("bb LEFT JOIN aa USING (k) JOIN cc ON bb.z = cc.z", '"bb"."z" = "cc"."z"'),
        ("aa FULL JOIN bb USING (k)", '"aa"."k" = "bb"."k"'),
    ],
)
def test_using_is_written_out(tables, on):
    found = checked(f"SELECT k FROM {tables}", [AA, BB, CC], "postgres", 10)
    first = tables.split()[0]
    k = 'COALESCE("aa"."k", "bb"."k") AS "k"' if "FULL" in tables else f'"{first}"."k"'
    assert found.sql.startswith(f"SELECT {k} FROM")
    assert found.sql.endswith(f" ON {on}")


@pytest.mark.parametrize(
    ("tables", "guard"),
    [
        ("aa NATURAL JOIN bb", Guard.SYNTAX),
        ("(aa JOIN bb ON aa.k = bb.k) JOIN cc USING (z)", Guard.SYNTAX),
        ("aa, bb JOIN cc USING (z)", Guard.SYNTAX),
        ("aa RIGHT JOIN bb USING (k) JOIN cc USING (z)", Guard.SYNTAX),
        ("aa JOIN bb ON aa.k = bb.k JOIN bb AS b2 USING (k)", Guard.COLUMN),
        ("aa JOIN bb USING (z)", Guard.COLUMN),
    ],
)
def test_using_that_engines_may_take_otherwise_is_refused(tables, guard):
    with pytest.raises(SqlRefusedError) as caught:
        checked(f"SELECT x FROM {tables}", [AA, BB, CC], "postgres", 10)
    assert caught.value.guard == guard


COMPUTED = {
    "q.count": "count(*)",
    "count": "count(DISTINCT name)",
    "q.sum": 'sum("Pay Grade") OVER ()',
    "q.avg": 'cast(avg("Pay Grade") AS int)',
    'q."count"': "count(*) FILTER (WHERE city = 'Rome')",
    "q.city": "cast(city AS text)",
    "q.coalesce": "COALESCE(sum(id), 0)",
    "q.exists": "EXISTS (SELECT 1 FROM cities)",
}


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
@pytest.mark.parametrize(("column", "result"), COMPUTED.items())
def test_what_a_query_computes_is_called_by_its_function(dialect, column, result):
    group = " GROUP BY city" if result == "cast(city AS text)" else ""
    sql = f"SELECT {column} FROM (SELECT {result} FROM people{group}) AS q"
    name = column.removeprefix("q.").strip('"')
    assert f' AS "{name}" FROM "shop"."people"' in checked(sql, TABLES, dialect, 10).sql


@pytest.mark.parametrize(
    ("column", "result"),
    [
        *(("q.sum", "count(*)"), ("q.max", "max(id) + 1"), ("q.int4", "1")),
        *(("q.lower", "lower(name) = 'x'"), ("q.lower", "lower(name) LIKE 'x' AND true")),
    ],
)
def test_what_a_query_computes_is_called_by_no_other_name(column, result):
    sql = f"SELECT {column} FROM (SELECT {result} FROM people) AS q"
    with pytest.raises(SqlRefusedError, match=r"name by AS|did you mean") as error:
        checked(sql, TABLES, "postgres", 10)
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


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 AS email, email FROM people",
        "SELECT 1 AS email FROM people ORDER BY lower(email)",
        "SELECT 1 AS email FROM people GROUP BY lower(email)",
        "SELECT city AS email FROM people GROUP BY city HAVING email > 'a'",
        "SELECT 1 AS xmin, xmin FROM people",
        "SELECT name, 1 AS people, people::text AS whole FROM people",
        "SELECT 1 AS p FROM people AS p WHERE p IS NOT NULL",
        "SELECT b FROM people AS x(a, b)",
        "SELECT count(p.*) FROM people AS p",
        "SELECT (p).email FROM people AS p",
        "SELECT (SELECT d.v FROM (SELECT p.email AS v) AS d, (SELECT 1 AS email) AS p)"
        " FROM people AS p",
        "SELECT (SELECT max(email) FROM people AS q) FROM (SELECT 1 AS email) AS q",
        "SELECT 1 FROM (SELECT 'a' AS email) AS people WHERE EXISTS"
        " (SELECT 1 FROM people WHERE email = 'a')",
        "SELECT (SELECT max(email) FROM people AS q) FROM (SELECT 1 AS email) AS q"
        " JOIN (SELECT 1 AS email) AS r USING (email)",
    ],
)
def test_no_name_leads_to_a_hidden_column(sql):
    with pytest.raises(SqlRefusedError):
        checked(sql, TABLES, "postgres", 10)


@pytest.mark.parametrize(
    ("sql", "run"),
    [
        ("SELECT count(*) AS email FROM people GROUP BY email", "GROUP BY 1"),
        ("SELECT city AS email FROM people GROUP BY email", "GROUP BY 1"),
        ("SELECT 1 AS email FROM people ORDER BY email", 'ORDER BY "email"'),
        ("SELECT count(*) FROM people ORDER BY count(*)", "ORDER BY COUNT(*)"),
        (
            "SELECT city, count(*) FROM people GROUP BY 1 ORDER BY count(*)",
            "GROUP BY 1 ORDER BY COUNT(*)",
        ),
        ("SELECT name FROM people ORDER BY name", 'ORDER BY "name"'),
        ("SELECT name FROM people UNION SELECT city FROM cities ORDER BY name", 'ORDER BY "name"'),
    ],
)
def test_a_result_is_meant_whatever_hidden_columns_are_called(sql, run):
    assert checked(sql, TABLES, "postgres", 10).sql.endswith(f" {run}")


def test_names_do_not_grow_beyond_bounds():
    """Each name stands for two of the one before: written out, a thousand million terms."""
    terms = ", ".join(f"a{n} + a{n} AS a{n + 1}" for n in range(30))
    found = checked(f"SELECT id AS a0, {terms} FROM people", TABLES, "duckdb", 10)
    assert len(found.sql) < 2_000


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT *, *, *, * FROM wide",
        "WITH b AS (SELECT * FROM wide p JOIN wide q ON p.c1 = q.c1),"
        " c AS (SELECT * FROM b p JOIN b q ON p.c1 = q.c1) SELECT count(*) FROM c",
    ],
)
def test_what_a_star_stands_for_is_bounded(sql):
    wide = ReadTable("wide", tuple(f"c{n}" for n in range(3_000)))
    with pytest.raises(SqlRefusedError) as caught:
        checked(sql, [wide], "duckdb", 10)
    assert caught.value.guard == Guard.SIZE


def test_a_name_of_its_own_takes_no_column_of_another_table():
    """Where they lie, both tables of the two queries are called people."""
    mine = ReadTable("told", ("email",), own=("s", "people"))
    other = ReadTable("people", ("id",), "t", hidden=("email",))
    sql = "SELECT 1 FROM told WHERE EXISTS (SELECT 1 FROM people WHERE {}email = 'a')"
    for column in ("", "told."):
        found = checked(sql.format(column), [mine, other], "postgres", 10)
        assert found.sql.endswith(""""told"."email" = 'a')""")
        assert found.columns == (("told", "email"),)


YEARS = (ReadTable("aa", ("Year",)), ReadTable("bb", ("year", "n"), own=("Own", "BB")))


def test_columns_of_each_table_are_spelled_as_it_has_them():
    sql = "SELECT bb.YEAR FROM aa JOIN bb ON aa.year = bb.year ORDER BY year, n"
    assert checked(sql, YEARS, "postgres", 10).sql == (
        'SELECT "BB"."year" FROM "aa" JOIN "Own"."BB" ON "aa"."Year" = "BB"."year" '
        'ORDER BY "year", "BB"."n"'
    )


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
@pytest.mark.parametrize(
    ("joined", "asked"),
    [
        ("JOIN generate_series(1, 1000) AS g(n) ON g.n = p.id", 1),
        (", unnest(string_to_array(p.name, ' ')) AS u(word)", 0),
        ("CROSS JOIN unnest(string_to_array(p.name, ' ')) AS u(word)", 0),
    ],
)
def test_what_counts_the_rows_of_a_join_is_not_refused(dialect, joined, asked):
    found = []

    def ask(sql):
        found.append(checked(sql, TABLES, dialect, 1))
        return StatementRows((), ((1,) * 20,), more=False)

    statement = checked(f"SELECT sum(p.id) FROM people p {joined}", TABLES, dialect, 10)
    assert len([*findings_of_joins(statement, "it", ask)]) == len(found) == asked


def test_series_of_queries_beside_each_other_are_added_up_where_each_is_run_once():
    one = "(SELECT count(*) FROM generate_series(1, 400000) AS g(n))"
    assert checked(f"SELECT {one} AS a, {one} AS b", TABLES, "duckdb", 1)
    for sql in (
        f"SELECT {one} AS a, {one} AS b, {one} AS c",
        f"SELECT {one} AS a, {one} AS b FROM people WHERE id = 1",
    ):
        with pytest.raises(SqlRefusedError, match="more than 1,000,000 rows"):
            checked(sql, TABLES, "duckdb", 1)


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
