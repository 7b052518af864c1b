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
from tests.support.hostile_sql import TABLES

WAREHOUSE = Path(__file__).parents[4] / "shared/data/warehouse"

HONEST = [
    "SELECT name FROM people",
    "SELECT * FROM people",
    "SELECT p.* FROM shop.people p",
    "SELECT shop.people.name FROM shop.people",
    "SELECT NAME, \"Pay Grade\" FROM People WHERE Name ILIKE 'a%' LIMIT 5",
    "SELECT count(*) FROM people",
    "SELECT city, count(*) AS n FROM people GROUP BY city HAVING count(*) > 1 ORDER BY n DESC",
    "SELECT city, count(*) FROM people GROUP BY 1 ORDER BY 2 DESC NULLS LAST LIMIT 3",
    "SELECT p.name, c.country FROM people p JOIN cities c ON p.city = c.city",
    "SELECT name, country FROM people LEFT JOIN cities USING (city)",
    "SELECT name, country FROM people NATURAL JOIN cities",
    "SELECT p.name FROM people p, cities c WHERE p.city = c.city AND c.country = 'Italy'",
    "SELECT name FROM people WHERE city IN (SELECT city FROM cities WHERE inhabitants > 1e6)",
    "SELECT c.city FROM cities c WHERE NOT EXISTS (SELECT 1 FROM people p WHERE p.city = c.city)",
    "SELECT name FROM people WHERE joined = (SELECT max(joined) FROM people)",
    "WITH big AS (SELECT city FROM cities WHERE inhabitants > 10) "
    "SELECT count(*) FROM people JOIN big ON people.city = big.city",
    "WITH people AS (SELECT name AS who FROM people) SELECT who FROM people",
    "SELECT q.n FROM (SELECT city, count(*) AS n FROM people GROUP BY city) AS q WHERE q.n > 1",
    "SELECT q.a FROM (SELECT name, city FROM people) AS q(a, b)",
    "SELECT name FROM people UNION SELECT city FROM cities ORDER BY name LIMIT 4",
    "(SELECT name FROM people) EXCEPT (SELECT city FROM cities)",
    "SELECT CASE WHEN \"Pay Grade\" > 3 THEN 'high' ELSE 'low' END AS grade FROM people",
    'SELECT CAST(sum("Pay Grade") AS DECIMAL(10, 2)) / NULLIF(count(*), 0) FROM people',
    "SELECT extract(year FROM joined) AS y, count(DISTINCT name) FROM people GROUP BY y",
    "SELECT date_trunc('month', joined), avg(\"Pay Grade\") FROM people GROUP BY 1",
    "SELECT name, row_number() OVER (PARTITION BY city ORDER BY joined DESC) FROM people",
    'SELECT name, sum("Pay Grade") OVER w FROM people WINDOW w AS (ORDER BY joined)',
    "SELECT upper(trim(name)) || ', ' || coalesce(city, '?') FROM people",
    "SELECT lpad(cast(id AS varchar), 5, '0'), round(\"Pay Grade\", 1) FROM people",
    "SELECT name FROM people WHERE joined BETWEEN DATE '2020-01-01' AND current_date",
    "SELECT name FROM people WHERE joined > current_date - INTERVAL '30 days'",
    "SELECT a.name FROM people a JOIN people b ON a.city = b.city AND a.id <> b.id",
    "SELECT people.name FROM people CROSS JOIN (SELECT avg(id) AS m FROM people) AS q WHERE id > m",
    "SELECT string_agg(name, ', ' ORDER BY name) FROM people",
    "SELECT count(*) FILTER (WHERE city = 'Rome') FROM people",
    "SELECT name FROM people WHERE name ~ '^[A-C]' -- the first letters",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY inhabitants) FROM cities",
    "SELECT 'it''s; DROP TABLE people' AS said FROM people;",
]


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
        ("SELECT x.name FROM people", Guard.COLUMN, "no column 'x'"),
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
