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
