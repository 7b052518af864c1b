"""Rows whose cells a question names are read as they are, and nothing is made of them."""

import re
import time
from dataclasses import replace

import pytest

from pneuma_assets.core.answers.attempt import Attempts
from pneuma_assets.core.answers.named_rows import MOST_COLUMNS, MOST_TABLES, named_rows
from pneuma_assets.core.answers.results import UNREAD
from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.terms.fields import plain_words
from tests.support.answer_tables import answer_table
from tests.support.rows_in_duckdb import RowsInDuckDB

TEXT = "VARCHAR"
PEOPLE = answer_table(
    "people",
    {"name": TEXT, "city": TEXT, "blood": TEXT, "points": TEXT},
    [
        ("José Díaz", "Rome", "O+", "500"),
        ("Ann", "Rome", "O-", "-500"),
        ("Rome", "Oslo", "A", "5.00"),
        ("Bo; DROP TABLE people --", "O'Fallon", "C++", "7"),
        ("Cy", None, "C", "12"),
    ],
)


def read(question, *tables, held, runner=None, **more):
    ids = [table.table_id for table in tables]
    attempts = Attempts(runner or RowsInDuckDB(), 3, **more)
    return named_rows(question, dict.fromkeys(held, ids), tables, attempts)


@pytest.mark.parametrize(
    ("question", "held", "names", "matched", "together"),
    [
        ("Who lives in Rome?", ["rome"], ["José Díaz", "Ann", "Rome"],
         {"rome": ("name", "city")}, True),
        ("ROME", ["rome"], ["José Díaz", "Ann", "Rome"], {"rome": ("name", "city")}, True),
        ("where is jose diaz", ["jose diaz"], ["José Díaz"], {"jose diaz": ("name",)}, True),
        ("is ann of rome", ["ann", "rome"], ["Ann"], {"ann": ("name",), "rome": ("city",)}, True),
        ("are ann and cy alike", ["ann", "cy"], ["Ann", "Cy"],
         {"ann": ("name",), "cy": ("name",)}, False),
        ("blood of type O-", ["o"], ["Ann"], {"o": ("blood",)}, True),
        ("blood of type o", ["o"], ["José Díaz", "Ann"], {"o": ("blood",)}, True),
        ("who writes C++?", ["c++"], ["Bo; DROP TABLE people --"], {"c++": ("blood",)}, True),
        ("who writes C?", ["c"], ["Cy"], {"c": ("blood",)}, True),
        ("who has 500 points", ["500"], ["José Díaz"], {"500": ("points",)}, True),
        ("who has -500 points", ["500"], ["Ann"], {"500": ("points",)}, True),
        ("who is of o fallon", ["o fallon"], ["Bo; DROP TABLE people --"],
         {"o fallon": ("city",)}, True),
        ("bo drop table people", ["bo drop table people"], ["Bo; DROP TABLE people --"],
         {"bo drop table people": ("name",)}, True),
    ],
)  # fmt: skip
def test_rows_with_the_cells_that_are_named(question, held, names, matched, together):
    (found,), problems = read(question, PEOPLE, held=held)
    assert (problems, found.more) == ([], False)
    assert found.columns == ("name", "city", "blood", "points")
    assert [row[0] for row in found.rows] == names
    assert (found.matched, found.together) == (matched, together)


def test_nothing_is_run_where_the_cells_are_not_meant():
    """What the index takes for one cell may be another number; 5.00 is no 500."""
    runner = RowsInDuckDB()
    other = replace(PEOPLE, evidence=replace(PEOPLE.evidence, rows=PEOPLE.evidence.rows[2:3]))
    assert read("who has 500 points", other, held=["500"], runner=runner) == ([], [])
    assert read("who lives in Rome?", PEOPLE, held=[], runner=runner) == ([], [])
    assert runner.ran == []


def test_no_statement_computes_anything():
    runner = RowsInDuckDB()
    read("how many are in Rome, and the total points of Ann?", PEOPLE, held=["rome", "ann"],
         runner=runner)  # fmt: skip
    for sql in runner.ran:
        assert not re.search(r"\b(count|sum|avg|min|max|group|order|join)\b", sql, re.IGNORECASE)


@pytest.mark.parametrize("kind", ["DOUBLE", "BIGINT", "DECIMAL(9,0)", TEXT])
def test_a_whole_number_is_found_however_its_column_holds_it(kind):
    class AsTyped(RowsInDuckDB):
        """Has columns of the engine's own types, as Parquet files do."""

        def run(self, statement, tables):
            return super().run(statement, [sales])

    sales = answer_table("sales", {"shop": TEXT, "year": kind}, [("Oslo", "2019")])
    (found,), _ = read("sales of 2019", sales, held=["2019"], runner=AsTyped())
    assert found.matched == {"2019": ("year",)}


def test_a_cell_of_which_only_the_table_is_known_is_looked_for_in_every_column():
    known = replace(PEOPLE.evidence, rows=(), cells=("Rome", "Oslo"))

    class Whole(RowsInDuckDB):
        def run(self, statement, tables):
            return super().run(statement, [PEOPLE])

    (found,), _ = read("rome", replace(PEOPLE, evidence=known), held=["rome"], runner=Whole())
    assert len(found.rows) == 3


def test_rows_are_bounded_and_it_is_said_that_there_are_others():
    many = answer_table("many", {"city": TEXT}, [("Rome",)] * 9)
    (found,), _ = read("rome", many, held=["rome"])
    assert (len(found.rows), found.more) == (3, True)


def test_wide_tables_and_many_cells_stay_within_bounds():
    names = {f"c{n}": TEXT for n in range(600)}
    wide = answer_table("wide", names, [tuple(str(n) for n in range(600))])
    (found,), problems = read("where is 599", wide, held=["599"])
    assert not problems
    assert len(found.columns) == MOST_COLUMNS
    assert found.matched == {"599": ("c599",)}
    words = [f"word{n}" for n in range(60)]
    wide = answer_table("wide", {f"c{n}": TEXT for n in range(60)}, [tuple(words)])
    (found,), problems = read(" ".join(words), wide, held=words)
    assert (len(found.matched), problems) == (10, [])


def test_of_many_tables_the_first_are_read_and_the_others_told():
    tables = [answer_table(f"t{n}", {"city": TEXT}, [("Rome",)]) for n in range(7)]
    found, problems = read("rome", *tables, held=["rome"])
    assert [one.table for one in found] == [one.table_id for one in tables[:MOST_TABLES]]
    assert [(one.subject, one.stage) for one in problems] == [
        (one.table_id, UNREAD) for one in tables[MOST_TABLES:]
    ]
    assert "has 'rome', too" in problems[0].cause
    late, told = read("rome", *tables, held=["rome"], until=time.monotonic())
    assert (late, len(told)) == ([], 7)


def test_a_table_that_gives_no_rows_leaves_the_others():
    class Torn(RowsInDuckDB):
        def run(self, statement, tables):
            if tables[0].table_id.endswith("t0"):
                raise TableReadError("it is gone")
            if tables[0].table_id.endswith("t1"):
                tables = [answer_table("t1", {"city": TEXT})]
            return super().run(statement, tables)

    tables = [answer_table(f"t{n}", {"city": TEXT}, [("Rome",)]) for n in range(3)]
    found, problems = read("rome", *tables, held=["rome"], runner=Torn())
    assert [one.table for one in found] == ["wh/lake/t2"]
    assert problems[0].cause == "it is gone"
    assert "no row has 'rome' now" in problems[1].cause


@pytest.mark.parametrize(
    "cell",
    ["' OR 1=1 --", 'a"b', "\\' x", "$$x$$", "%x_", "x\\", "/* x */", "x ? :a {b}", "ﬁn İ", "x\ny"],
)
def test_hostile_cells_are_data(cell):
    rows = [(cell, "1"), ("other", cell), ("y", "z")]
    table = answer_table("t", {"a": TEXT, 'b"c --': TEXT}, rows)
    (found,), problems = read(cell, table, held=[" ".join(plain_words(cell))])
    assert problems == []
    assert list(found.rows) == rows[:2]


def test_a_cell_that_no_statement_may_hold_is_a_problem():
    cell = "x \u202ey"
    table = answer_table("t", {"a": TEXT}, [(cell,)])
    found, (problem,) = read("what is x y?", table, held=[" ".join(plain_words(cell))])
    assert (found, problem.stage) == ([], UNREAD)
