"""Values in statements are put as their columns spell them, and only where that is sure."""

import pytest

from pneuma_assets.core.answers.guard import checked
from pneuma_assets.core.answers.values import corrected, why_no_row
from tests.support.answer_tables import answer_table

CITIES = answer_table(
    "cities",
    {"name": "text", "country": "text", "code": "text"},
    [
        ("New York", "United States", "A-100"),
        ("São Paulo", "Brazil", "A-101"),
        ("Port Nord", "Norway", "B-1"),
        ("PORT NORD", "Norway", "B-2"),
        ("McAllen", "United States", "O-"),
        ("incomplete", "complete", "O+"),
    ],
)
MAYORS = answer_table("mayors", {"person": "text", "city": "text"}, [("Ann", "NEW YORK")])
LARGE = answer_table("large", {"name": "text"}, [("Maria Gracia",)], cells=["Maria Garcia", "Bo"])
TABLES = [CITIES, MAYORS, LARGE]


@pytest.mark.parametrize(
    ("said", "stored", "put"),
    [
        ("name = 'new york'", ["New York"], "= 'New York'"),
        ("name = 'Sao  Paulo'", ["São Paulo"], "= 'São Paulo'"),
        ("'NEW YORK' = name", ["New York"], "'New York' = "),
        ("c.name = 'new york'", ["New York"], "= 'New York'"),
        ("name IN ('new york', 'McAllen')", ["New York"], "IN ('New York', 'McAllen')"),
        ("name <> 'mcallen'", ["McAllen"], "<> 'McAllen'"),
        ("name LIKE 'new york'", ["New York"], "LIKE 'New York'"),
        ("LOWER(name) = 'New York'", ["new york"], "= 'new york'"),
        (
            "name = 'port nord'",
            ["PORT NORD", "Port Nord"],
            "\"name\" IN ('PORT NORD', 'Port Nord')",
        ),
        *(
            (said, ["PORT NORD", "Port Nord"], "\"name\" IN ('PORT NORD', 'Port Nord')")
            for said in ("'port nord' IN (name)", "'port nord' = name", "name LIKE 'port nord'")
        ),
        ("'new york' IN (name)", ["New York"], '\'New York\' IN ("c"."name")'),
        ("UPPER(name) IN ('Mcallen')", ["MCALLEN"], 'UPPER("c"."name") IN (\'MCALLEN\')'),
        ("name <> 'port nord'", ["PORT NORD", "Port Nord"], "IN ('PORT NORD', 'Port Nord')"),
    ],
)
def test_a_value_is_put_as_its_column_spells_it(said, stored, put):
    sql, changes = attempt(f"SELECT code FROM cities c WHERE {said}")
    assert [one.stored for one in changes] == stored
    assert put in sql
    assert ("NOT" in sql) == (said.startswith("name <>") and len(stored) > 1)


@pytest.mark.parametrize(
    "said",
    [
        "name = 'New York'",
        "name = 'complete'",  # of another column, and like one of this
        "country = 'incomplete'",
        "country = 'Untied States'",
        "code = 'O +'",
        "code = 'A-102'",
        "name LIKE '%new york%'",
        "'brazil' IN (name, 'PORT nord')",  # the second is compared with the first
        "LOWER(name) = 'new york'",
        "name = 'London'",
        "length(name) = 3",
    ],
)
def test_a_value_stays_that_is_right_or_that_more_than_capitals_tell_from_others(said):
    sql, changes = attempt(f"SELECT code FROM cities c WHERE {said}")
    assert not changes
    assert sql == statement(f"SELECT code FROM cities c WHERE {said}").sql


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("バス", "ハス"),  # a bus, a lotus
        ("かぎ", "かき"),
        ("106", "10⁶"),
        ("\uff14", "4"),
        ("мой", "мои"),  # my, of one and of several
        ("कि", "क"),
        ("שָׁלוֹם", "שלום"),
        ("กา", "ก"),
        ("x½", "x1\u20442"),
    ],
)
def test_a_sign_that_makes_another_word_or_number_is_no_accent(said, stored):
    assert not spelled(said, stored)
    assert not spelled(stored, said)


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("ICE \u00a0CREAM", "Ice Cream"),
        ("Ha noi", "Hà Nội"),
        ("Αθήνα", "ΑΘΗΝΑ"),
        ("Королёв", "королев"),
        ("за́мок", "замок"),
        ("Cafe\u0301", "Café"),
        ("ハ\u3099ス", "バス"),  # the same, in another form of Unicode
        ("STRASSE", "Straße"),
    ],
)
def test_capitals_accents_and_blanks_do_not_count(said, stored):
    assert spelled(said, stored)
    assert spelled(stored, said)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM (SELECT upper(name) AS name FROM cities) WHERE name = 'new york'",
        "WITH cities AS (SELECT 'a' AS name) SELECT name FROM cities WHERE name = 'new york'",
    ],
)
def test_a_value_stays_where_it_is_not_sure_whose_the_column_is(sql):
    assert not attempt(sql)[1]


def test_a_value_is_looked_for_in_the_tables_that_the_statement_reads():
    assert not attempt("SELECT code FROM cities WHERE name = 'New York'")[1]
    sql, changes = attempt(
        "SELECT m.person FROM mayors m JOIN cities c ON m.city = c.name WHERE m.person = 'ANN'"
    )
    assert [(one.table, one.column) for one in changes] == [("wh/lake/mayors", "person")]
    assert "'Ann'" in sql
    inner = "SELECT 1 FROM cities a WHERE EXISTS (SELECT 1 FROM mayors a WHERE a.city = 'new york')"
    assert [one.table for one in attempt(inner)[1]] == ["wh/lake/mayors"]


def test_where_not_all_cells_are_known_only_what_gave_nothing_is_put_otherwise():
    sql = "SELECT name FROM large WHERE name = 'maria garcia'"
    assert not attempt(sql)[1]
    found, changes = corrected(statement(sql), TABLES, proven=False)
    assert [one.stored for one in changes] == ["Maria Garcia"]
    known = "SELECT name FROM large WHERE name = 'Maria Garcia'"
    assert not corrected(statement(known), TABLES, proven=False)[1]
    assert "'Maria Garcia'" in found


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("name = 'Brazil'", "'Brazil' is no value of cities.name but of cities.country"),
        ("name = 'Port Sord'", "cities.name has no value 'Port Sord'; it has 'Port Nord'"),
        ("name = 'New York'", ""),
    ],
)
def test_a_value_that_a_column_does_not_have_is_told_of(said, told):
    found = why_no_row(statement(f"SELECT code FROM cities WHERE {said}"), [CITIES])
    assert found.startswith(told)
    assert bool(found) == bool(told)


def test_nothing_is_told_of_a_table_whose_rows_are_not_all_known():
    assert not why_no_row(statement("SELECT name FROM large WHERE name = 'Oslo'"), TABLES)


def statement(sql):
    return checked(sql, [one.read for one in TABLES], "duckdb", 5)


def attempt(sql):
    return corrected(statement(sql), TABLES, proven=True)


def spelled(said, stored):
    """Tell whether a value is put as the only cell of its column spells it."""
    table = answer_table("w", {"word": "text"}, [(stored,)])
    found = checked(f"SELECT word FROM w WHERE word = '{said}'", [table.read], "duckdb", 5)
    changes = corrected(found, [table], proven=True)[1]
    assert [one.stored for one in changes] in ([], [stored])
    return bool(changes)
