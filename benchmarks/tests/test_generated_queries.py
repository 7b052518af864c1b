"""Queries are drawn, run and worded as their parts say, and what asks for nothing is told."""

import random
from dataclasses import replace

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.config.small_sections import LimitsConfig
from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.sources.duckdb import session
from pneuma_assets.core.tables import Column, Table
from pneuma_bench.generator.drawing import RANGES, draw_query
from pneuma_bench.generator.executing import Workbench
from pneuma_bench.generator.queries import (
    Condition,
    Order,
    Selected,
    SqlQuery,
    Subject,
    number_of,
    subjects_of,
)
from pneuma_bench.generator.wording import worded
from pneuma_bench.sets import RetrievalSet

ROWS = [
    ("Oslo", 1, 709037, "NO"),
    ("Bergen", 2, 291189, "NO"),
    ("Kiel", 3, 246601, "DE"),
    ("Bremen", 4, 246601, "DE"),
    (None, 5, None, "DE"),
]
CITIES = Subject(
    "s/cities", ("city", "rownames", "numPeople", "land"), (False, True, True, False), ROWS
)
CITY, COUNTER, PEOPLE, LAND = range(4)


def plain(*columns, **more):
    return SqlQuery(tuple(map(Selected, columns)), **more)


def where(column, operator, *values):
    return Condition(Selected(column), operator, *values)


@pytest.mark.parametrize(
    ("cells", "number"),
    [
        *(("1|01|+1", 1), ("-2", -2), ("1.5", 1.5), (" 7 |007", 7), ("1e3", 1000.0), (".5", 0.5)),
        ("|1,5|1 000|inf|nan|0x1|1e999|-2e300|\uff11|-", None),
    ],
)
def test_cells_that_are_numbers(cells, number):
    assert {number_of(cell) for cell in cells.split("|")} == {number}


@pytest.mark.parametrize(
    ("query", "sql", "question"),
    [
        (
            plain(CITY, where=(where(LAND, "=", "O'Land"),)),
            """SELECT "city" WHERE "land" = 'O''Land'""",
            "What is the city where the land is O'Land?",
        ),
        (
            plain(CITY, LAND, order=Order(PEOPLE, descending=True, limit=3)),
            'SELECT "city", "land" ORDER BY "numPeople" DESC NULLS LAST LIMIT 3',
            "What are the city and the land of the 3 rows with the highest number people?",
        ),
        (
            SqlQuery(
                (Selected(PEOPLE, "AVG"), Selected(PEOPLE, "MIN")),
                (where(PEOPLE, "between", 1900, 2000.5), where(CITY, "=", "Kiel")),
            ),
            'SELECT AVG("numPeople"), MIN("numPeople") WHERE "numPeople" BETWEEN 1900 AND 2000.5 '
            "AND \"city\" = 'Kiel'",
            "What are the average number people and the lowest number people where the number "
            "people is between 1900 and 2000.5 and the city is Kiel?",
        ),
        (
            SqlQuery(
                (Selected(LAND), Selected(PEOPLE, "SUM")),
                group_by=LAND,
                having=Condition(Selected(PEOPLE, "SUM"), ">", 500000.0),
            ),
            'SELECT "land", SUM("numPeople") GROUP BY "land" HAVING SUM("numPeople") > 500000.0',
            "For each land with a total number people of more than 500000, what is the total "
            "number people?",
        ),
    ],
)
def test_a_query_as_sql_and_in_words(query, sql, question):
    assert query.sql(CITIES.columns) == sql
    assert worded(query, CITIES) == question


@pytest.mark.parametrize(
    ("written", "called"),
    [
        ("Inhabitants in 2020, in thousands.", "inhabitants in 2020"),
        ("The number of people", "number of people"),
        ("first initial.last name", "first initial.last name"),
        ("GDP per head (US$)", "GDP per head"),
        ("number of U.S. attorneys. They count.", "number of U.S. attorneys"),
        ("A per capita consumption", "per capita consumption"),
        ('either "a" or "b"', "number people"),
        ("indicates who lives there", "number people"),
        ("A factor with levels 1 and 2", "number people"),
        ("numeric vector", "number people"),
        ("did they stay?", "number people"),
        ("one two three four five six seven eight nine", "number people"),
        ("land", "number people"),
        ("in thousands", "number people"),
        ("whether anybody lives there", "number people"),
        ("Way of life with levels old and new", "way of life"),
        ("  ", "number people"),
    ],
)
def test_a_column_is_called_by_what_is_written_about_it_if_that_is_short_and_its_own(
    written, called
):
    subject = replace(CITIES, described={PEOPLE: written, LAND: "land", CITY: "The land"})
    query = SqlQuery((Selected(PEOPLE, "AVG"),))
    assert worded(query, subject, described=True) == f"What is the average {called}?"
    assert worded(query, subject) == "What is the average number people?"


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (plain(CITY, where=(where(LAND, "=", "NO"),)), ""),
        (plain(CITY, where=(where(LAND, "=", "SE"),)), "no row"),
        (plain(CITY, where=(where(COUNTER, "=", 5),)), "no value"),
        (SqlQuery((Selected(PEOPLE, "MAX"),), (where(LAND, "=", "SE"),)), "no value"),
        (plain(CITY, where=(where(COUNTER, ">", 0),)), "where keeps every row"),
        (
            plain(CITY, where=(where(LAND, "=", "NO"), where(COUNTER, "between", 1, 5))),
            "where keeps every row",
        ),
        (plain(CITY), "asks for every row"),
        (SqlQuery((Selected(PEOPLE, "AVG"),)), "asks about one column alone"),
        (SqlQuery((Selected(PEOPLE, "AVG"), Selected(COUNTER, "MAX"))), ""),
        (plain(CITY, order=Order(PEOPLE, descending=True, limit=2)), ""),
        (plain(CITY, order=Order(PEOPLE, descending=False, limit=1)), "tie at the limit"),
        (plain(CITY, order=Order(PEOPLE, descending=True, limit=4)), "tie at the limit"),
        (
            SqlQuery(
                (Selected(LAND), Selected(PEOPLE, "SUM")),
                group_by=LAND,
                having=Condition(Selected(PEOPLE, "SUM"), ">", 1),
            ),
            "having keeps every group",
        ),
    ],
)
def test_what_asks_for_nothing_is_told(query, reason):
    with Workbench() as bench:
        assert bench.why_not(CITIES, query) == reason


def test_a_workbench_reads_no_file():
    hostile = Subject("s/x", ("a",), (False,), [("x'; SELECT * FROM read_text('/etc/passwd') --",)])
    with Workbench() as bench:
        query = plain(0, where=(where(0, "=", hostile.rows[0][0]),))
        assert bench.rows(hostile, query) == [hostile.rows[0]]
        with pytest.raises(duckdb.PermissionException):
            bench._ask(hostile, "SELECT * FROM read_text('/etc/hostname')")


@given(st.integers(0, 10_000))
def test_whatever_is_drawn_can_be_run_and_worded_and_names_no_counter(seed):
    query = draw_query(CITIES, random.Random(seed))
    assert COUNTER not in query.columns
    with Workbench() as bench:
        bench.rows(CITIES, query)
    assert worded(query, CITIES).endswith("?")
    selected = {one.column for one in query.select}
    assert not selected & {one.of.column for one in query.where}
    for one in query.where:
        assert one.operator == "=" or CITIES.numeric[one.of.column]
        assert one.second is None or one.value < one.second


@pytest.mark.parametrize("most", ["1e300", "1.79e308", "1e308"])
def test_the_greatest_numbers_can_be_asked_about(most):
    rows = [(f"-{most}", "x"), (most, "y"), (most, "y"), ("5", "z")]
    table = Table("s/t", (Column("a", ""), Column("b", "")), len(rows), "")
    (subject,) = subjects_of(RetrievalSet("", [(table, rows)], [], []))
    with Workbench() as bench:
        for seed in range(60):
            query = draw_query(subject, random.Random(seed))
            assert query is not None
            assert "inf" not in worded(query, subject)
            bench.why_not(subject, query)


def test_parts_are_as_frequent_as_the_chances_say():
    drawn = [draw_query(CITIES, random.Random(seed)) for seed in range(4000)]

    def share(of, among=drawn):
        return sum(map(of, among)) / len(among)

    aggregated = [one for one in drawn if any(part.aggregate for part in one.select)]
    plain_ones = [one for one in drawn if one not in aggregated]
    grouped = [one for one in drawn if one.group_by is not None]
    assert len(aggregated) / 4000 == pytest.approx(0.5, abs=0.03)
    assert share(lambda one: one.group_by is not None, aggregated) == pytest.approx(0.2, abs=0.03)
    assert share(lambda one: one.having is not None, grouped) == pytest.approx(0.8, abs=0.06)
    assert share(lambda one: one.order is not None, plain_ones) == pytest.approx(0.2, abs=0.03)


NUMBERS = [(n * 7 % 31, n * n % 53, f"a {n}") for n in range(40)]


@pytest.mark.parametrize(
    ("columns", "described", "rows", "asked"),
    [
        *((("n", "m", "x"), {}, [(one, 5 * one % 7, str(one)) for one in values], asked)
          for values, asked in [
              ([1, 2, 3, 4], {1, 2}),  # what numbers the rows
              ([0, 7, 9, 40], {1, 2}),
              ([1950, 1951, 1952], {0, 1, 2}),
              ([1, 3, 2], {0, 1, 2}),
              ([1, 2], {0, 1, 2}),
          ]),
        (("V1", "x2", "boat"), {1: "Length over all"}, NUMBERS, {1, 2}),  # names nobody gave
        (("V1", "x2", "boat"), {1: "numeric vector"}, NUMBERS, {2}),
        (("x", "x", "boat"), {}, NUMBERS, {2}),  # columns that are called alike
        (("gross_weight", "Gross Weight ", "boat"), {}, NUMBERS, {2}),
        (("w", "gross_weight", "boat"), {0: "The gross weight, in tonnes"}, NUMBERS, {2}),
        (("", " ", ""), {}, NUMBERS, set()),
        (("a", "b", "c"), {}, [], set()),
    ],
)  # fmt: skip
def test_columns_that_people_could_not_mean_are_not_asked_about(columns, described, rows, asked):
    subject = Subject("s/x", columns, (True, True, False), rows, described)
    drawn = [draw_query(subject, random.Random(seed)) for seed in range(150)]
    assert {at for one in drawn if one for at in one.columns} == asked


def test_what_is_the_same_in_every_row_is_no_condition():
    rows = [(f"boat {n}", "oak", n * n % 53) for n in range(40)]
    subject = Subject("s/x", ("boat", "wood", "metres"), (False, False, True), rows)
    drawn = [draw_query(subject, random.Random(seed)) for seed in range(120)]
    assert {one.of.column for query in drawn for one in query.where} == {0, 2}


def test_aggregates_and_ranges_are_of_numbers_that_have_some():
    rows = [(1990 + n, n % 2, n / 7, n * n % 53) for n in range(60)]
    columns = ("year", "treated", "birth_rate", "births")
    subject = Subject("s/x", columns, (True,) * 4, rows)
    drawn = [draw_query(subject, random.Random(seed)) for seed in range(400)]
    of = {at: {part.aggregate for one in drawn for part in one.select if part.column == at}
          for at in range(4)}  # fmt: skip
    few = {"", "MAX", "MIN"}
    assert of == {0: few, 1: {""}, 2: few | {"AVG"}, 3: few | {"AVG", "SUM"}}
    where = {(one.of.column, one.operator) for query in drawn for one in query.where}
    assert {operator for column, operator in where if column == 1} == {"="}, "a flag"
    assert {operator for column, operator in where if column == 2} == {*RANGES}, "many values"


@pytest.mark.parametrize(
    ("columns", "described", "question"),
    [
        (("alan_rickman", "ties"), {}, "What is the highest alan rickman where the ties are 3?"),
        (("year", "rownames"), {}, "What is the latest year where the row name is 3?"),
        (
            ("avg", "site"),
            {0: "average flow", 1: "The location where it was measured"},
            "What is the highest average flow for which the location where it was measured is 3?",
        ),
        (("a", "b"), {0: "highest tide", 1: "years of work"},
         "What is the highest tide where the years of work are 3?"),
        (("boats", "measles"), {}, "What are the highest boats where the measles is 3?"),
    ],
)  # fmt: skip
def test_questions_are_worded_as_people_word_them(columns, described, question):
    rows = [(1990, 3), (1991, 4)]
    subject = Subject("s/x", columns, (True, True), rows, described)
    query = SqlQuery((Selected(0, "MAX"),), (where(1, "=", 3),))
    assert worded(query, subject, described=bool(described)) == question


def test_queries_are_run_within_a_bound_of_memory(monkeypatch):
    small = LimitsConfig.model_construct(memory_gigabytes=0.02, temporary_gigabytes=0.001)
    monkeypatch.setattr(session, "limits", lambda: small)
    rows = [(f"{number} {'x' * 1000}", number) for number in range(40_000)]
    subject = Subject("s/wide", ("text", "number"), (False, True), rows)
    query = SqlQuery((Selected(0), Selected(1, "MAX")), group_by=0)
    with Workbench() as bench, pytest.raises(BenchmarkError, match="do not fit into"):
        bench.rows(subject, query)
