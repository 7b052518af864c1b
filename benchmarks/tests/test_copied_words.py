"""What a question leaves out, or names besides."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_bench.generator.drawing import draw_query
from pneuma_bench.generator.queries import Condition, Order, Selected, SqlQuery, Subject
from pneuma_bench.generator.rewording import foreign, missing_numbers
from pneuma_bench.generator.wording import worded

COLUMNS = ("home_town", "people", "land", "hits86")
ROWS = [
    ("New Mexico City", 8710, "Norway", 1),
    ("San Jose", 20, "Chad", 2),
    ("Oslo", 1370.5, "no", 3),
]
TOWNS = Subject("s/t", COLUMNS, (False, True, False, True), ROWS, {1: "counted in 1970"})
TOWN, PEOPLE, LAND, HITS = range(4)


def asked(*conditions, **more):
    return SqlQuery((Selected(HITS),), tuple(conditions), **more)


def on(column, operator, *values):
    return Condition(Selected(column), operator, *values)


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("more than 8,710 and between 20 and 1370.50, the first three", []),
        ("more than 8710.0 and between -20 and 1370.5, 3 rows", []),
        ("more than $8710, between 20% and 1370.5; top 3.", []),
        ("more than 87100 and between twenty and 1370", ["8710", "20", "1370.5", "3"]),
        ("x8710 20y 1370.5.3 v3", ["8710", "20", "1370.5", "3"]),
    ],
)
def test_numbers_that_are_left_out_are_told(question, missing):
    conditions = (on(PEOPLE, ">", 8710), on(PEOPLE, "between", 20, 1370.5), on(LAND, "=", "7"))
    query = asked(*conditions, order=Order(PEOPLE, descending=True, limit=3))
    assert missing_numbers(question, query) == missing


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("How many hits in 86 of people counted in 1970 are more than 20?", []),
        ("How many in 1986?", ["1986"]),
        ("Which one is it of the two thousand?", ["2"]),
        ("Hits of san jose in Chad?", ["Chad", "San Jose"]),
        ("Hits of sanjose that chad has?", []),
        ("How many hits are in Rome, or in the United States?", ["Rome", "States", "United"]),
        ("Which of NORWAY's People or Lands have HITS86?", []),
        ("Chad has which hits?", []),
        ("Are there no hits in Norway?", []),
    ],
)
def test_values_that_are_not_the_querys_are_told(question, named):
    query = asked(on(PEOPLE, ">", 20), on(LAND, "=", "Norway"))
    assert sorted(foreign(question, query, TOWNS)) == named


values = st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6).map(lambda one: float(f"{one:.6g}"))


@given(st.lists(st.tuples(values, st.sampled_from("abcd")), min_size=1, max_size=6), st.integers())
def test_the_question_of_a_template_leaves_out_no_number_and_names_no_other(rows, seed):
    subject = Subject("s/x", ("size", "letter"), (True, False), rows)
    query = draw_query(subject, random.Random(seed))
    if query is not None:
        assert missing_numbers(worded(query, subject), query) == []
        assert foreign(worded(query, subject), query, subject) == []
