"""Every table that answers is named with its cells, which were worked out by hand here."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.tables import Column, Table
from pneuma_bench.discovery import independent
from pneuma_bench.discovery.independent import (
    CUT,
    LARGE,
    NO_SQL,
    NOTHING,
    UNREAD,
    independent_benchmark,
)
from pneuma_bench.discovery.records import DiscoveryQuestion, read_discovery
from pneuma_bench.files import write_lines
from pneuma_bench.generator.queries import Condition, Order, Selected, SqlQuery, Subject
from pneuma_bench.generator.reading_back import names_in, read_made
from pneuma_bench.sets import RetrievalSet

TABLES = {
    "north": (
        ["City", "people", "land"],
        [("Oslo", "700", "NO"), ("Kiel", "240", "DE"), ("Bremen", "560", "DE")],
    ),
    "south": (
        ["city", "People", "LAND", "note"],
        [("Rome", "2800", "IT", ""), ("KIEL", "250", "de", "50%")],
    ),
    "words": (["city", "people"], [("Kiel", "many"), ("Rome", "few")]),
    "years": (["city", "year"], [("Kiel", "1998"), ("Kiel", "1998-99")]),
    "dates": (["city", "year"], [("Kiel", "1998"), ("Rome", "1999")]),
    "ties": (["city", "people", "land"], [("A", "5", "X"), ("B", "5", "X"), ("C", "4", "X")]),
    "signs": (["word"], [("50%",), ("50x",), ("a_b",), ("axb",), ("it's",), ("x\\",), ("A\nB",)]),
}


def lake(tables):
    pairs = [
        (Table(f"s/{name}", tuple(Column(c, "VARCHAR") for c in columns), len(rows), ""), rows)
        for name, (columns, rows) in tables.items()
    ]
    return RetrievalSet("s", pairs, (), ())


def asked(sql, tables=("north",)):
    more = {} if sql is None else {"made": {"sql": sql}}
    return DiscoveryQuestion("What is it?", tables, "content", more=more)


def made(sql, **options):
    return independent_benchmark(lake(TABLES), [asked(sql)], **options)


@pytest.mark.parametrize(
    ("sql", "cells"),
    [
        # Any capitals, of names and of values, and texts where others have numbers.
        ('SELECT "people" WHERE "City" = \'Kiel\'',
         {"north": [(240,)], "south": [(250,)], "words": [("many",)]}),
        ('SELECT MAX("people") WHERE "land" = \'de\'', {"north": [(560,)], "south": [(250,)]}),
        # A range is looked at, not of texts.
        ('SELECT "City" WHERE "people" < 245',
         {"north": [("Kiel",)], "ties": [("A",), ("B",), ("C",)]}),
        ('SELECT "City", "land" WHERE "people" BETWEEN 245 AND 600.5',
         {"north": [("Bremen", "DE")], "south": [("KIEL", "de")]}),
        ('SELECT "land", AVG("people") GROUP BY "land" HAVING AVG("people") > 450',
         {"north": [("NO", 700.0)], "south": [("IT", 2800.0)]}),
        ('SELECT "City" ORDER BY "year" DESC NULLS LAST LIMIT 1',
         {"years": [("Kiel",)], "dates": [("Rome",)]}),
        # A number is equal to a text that spells it.
        ('SELECT "City" WHERE "year" = 1998', {"years": [("Kiel",)], "dates": [("Kiel",)]}),
        ('SELECT "note" WHERE "city" = \'kiel\'', {"south": [("50%",)]}),
        *(('SELECT "word" WHERE "word" = \'{}\''.format(value.replace("'", "''")),
           {"signs": [(found,)]})
          for value, found in [  # no wildcards
              ("50%", "50%"), ("A_b", "a_b"), ("IT'S", "it's"), ("X\\", "x\\"), ("a\nb", "A\nB")
          ]),
    ],
)  # fmt: skip
def test_all_tables_that_answer(sql, cells):
    (kept,) = made(sql).kept
    assert {one["tables"][0]: one["rows"] for one in kept.cells} == cells
    assert sorted(kept.tables) == sorted(cells)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (None, NO_SQL),
        ('SELECT "people" WHERE "city" = \'Paris\'', NOTHING),
        ('SELECT "city" WHERE "people" > 9000', NOTHING),
        ('SELECT "note" WHERE "city" = \'Rome\'', NOTHING),
        ('SELECT "none" WHERE "city" = \'Rome\'', NOTHING),
        ('SELECT SUM("city") WHERE "land" = \'DE\'', NOTHING),
        ('SELECT "people" WHERE "word" = \'%\'', NOTHING),
        ('SELECT "city" ORDER BY "people" DESC NULLS LAST LIMIT 1', CUT),
        ("DROP TABLE t", UNREAD),
        ("SELECT 1", UNREAD),
        ("SELECT * FROM read_csv('/etc/passwd')", UNREAD),
        ('SELECT "city"; SELECT "land"', UNREAD),
        ("SELECT \"city\" FROM read_csv('/etc/passwd')", UNREAD),
        ('SELECT "city" WHERE "land" = \'DE\' OR "land" = \'NO\'', UNREAD),
        ('SELECT "city", "people" GROUP BY "land" HAVING MAX("people") > 1', UNREAD),
        ('SELECT "city" WHERE "land" = \'DE', UNREAD),
        ('SELECT "city" WHERE "land" = \'' + 300_000 * "x" + "'", UNREAD),
    ],
)
def test_what_is_left_out_and_why(sql, reason):
    found = made(sql)
    assert not found.kept
    assert found.left_out == {reason: 1}


def test_long_lists_are_left_out():
    sql = 'SELECT "City" WHERE "people" < 245'
    assert len(made(sql, most_rows=3).kept) == 1
    assert made(sql, most_rows=2).left_out == {LARGE: 1}


def test_cells_of_a_megabyte():
    tables = {"a": (["k", "v"], [("one", 999_000 * "x"), ("two", 1_000_001 * "y")])}
    short, long = (asked(f'SELECT "v" WHERE "k" = \'{key}\'', ("a",)) for key in ("ONE", "two"))
    found = independent_benchmark(lake(tables), [short, long])
    assert [one.cells[0]["rows"] for one in found.kept] == [[(999_000 * "x",)]]
    assert found.left_out == {LARGE: 1}


def test_what_changes_of_the_tables_that_were_named():
    sql = 'SELECT "people" WHERE "City" = \'Kiel\''
    named = [("north", "south", "words"), ("words",), ("words", "dates")]
    found = independent_benchmark(lake(TABLES), [asked(sql, one) for one in named])
    assert [one.tables for one in found.kept] == [
        *(("north", "south", "words"), ("words", "north", "south"), ("words", "north", "south")),
    ]
    assert (found.more, found.fewer, found.tables) == (2, 1, {3: 3})


def test_the_file_is_read_as_it_was_written(tmp_path):
    cells = [{"tables": ["a", "b"], "rows": [["it's", None, "1.5"], ["\x00", True, ""]]}]
    questions = [
        DiscoveryQuestion("Which one?", ("a", "b"), "kind", cells),
        DiscoveryQuestion("None?", (), more={"made": {"sql": "SELECT 1"}}),
    ]
    write_lines(tmp_path / "q.jsonl", (one.to_dict() for one in questions))
    assert read_discovery(tmp_path / "q.jsonl") == [
        questions[0], DiscoveryQuestion("None?", (), cells=[], more=questions[1].more)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({"question": ["a"]}, "'question' must be a text"),
        ({"question": "a?", "tables": "a"}, "'tables' must be a list"),
        ({"question": "a?", "cells": [{"tables": ["a"], "rows": "x"}]}, "'cells' must be"),
    ],
)
def test_lines_that_are_wrong(tmp_path, line, problem):
    (tmp_path / "q.jsonl").write_text(json.dumps(line))
    with pytest.raises(BenchmarkError, match=problem):
        read_discovery(tmp_path / "q.jsonl")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6)
NUMBERS = st.integers(-(10**9), 10**9) | st.floats(-1e9, 1e9).map(lambda one: round(one, 3))


@given(
    names=st.lists(NAMES, min_size=3, max_size=3),
    text=TEXTS,
    number=NUMBERS,
    limit=st.integers(1, 9),
)
def test_made_sql_is_read_as_it_was_made(names, text, number, limit):
    """Whatever names and values hold, nothing of them is taken for SQL."""
    names = [f"{place}{name}" for place, name in enumerate(names)]
    subject = Subject("s/t", tuple(names), (False, True, False), ())
    query = SqlQuery(
        (Selected(0), Selected(1, "MAX")),
        (Condition(Selected(2), "=", text), Condition(Selected(1), "<", number)),
        group_by=0,
        having=Condition(Selected(1, "MAX"), ">", number),
    )
    assert read_made(query.sql(names), subject) == query
    assert sorted(names_in(query.sql(names))) == sorted(names)
    first = SqlQuery((Selected(2),), order=Order(1, descending=True, limit=limit))
    assert read_made(first.sql(names), subject) == first


def test_the_database_reaches_nothing(tmp_path, monkeypatch):
    """What runs the queries could open no file, whatever they said."""
    (tmp_path / "secret.csv").write_text("a\n1\n")
    monkeypatch.setattr(
        independent.SqlQuery, "sql", lambda *_: f"SELECT * FROM read_csv('{tmp_path}/secret.csv')"
    )
    with pytest.raises(independent.duckdb.PermissionException, match="disabled"):
        made('SELECT "people" WHERE "City" = \'Kiel\'')
