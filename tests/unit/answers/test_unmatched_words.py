"""Which words of a question nothing in its answer says."""

import pytest

from pneuma_assets.core.answers.unmatched_words import unmatched_words
from pneuma_assets.core.text.analysis import analyzer_named
from tests.support.answer_tables import answer_table

ENGLISH = analyzer_named("english")
PLACES = answer_table("restaurants", {"id": "int", "cityName": "text", "rating": "double"})
COUNTED = 'SELECT "cityName", COUNT(*) AS "takeout_services" FROM "restaurants" GROUP BY 1'


@pytest.mark.parametrize(
    ("question", "sql", "unmatched"),
    [
        ("How many restaurants are there in each city?", COUNTED, ()),
        (
            "How many restaurants in each city offer takeout services?",
            COUNTED,
            ("takeout", "services"),
        ),
        (
            "Which restaurant is rated best?",
            "SELECT id FROM restaurants ORDER BY rating LIMIT 1",
            (),
        ),
        ("Restaurants in Rome", "SELECT id FROM restaurants WHERE \"cityName\" = 'ROME'", ()),
        ("Restaurants in Rome", "SELECT id FROM restaurants", ("rome",)),
        ("restaurants rated over 4.5", "SELECT id FROM restaurants WHERE rating > 4.5", ()),
        ("restaurants rated over 4.5", "SELECT id FROM restaurants WHERE rating > 4", ("4.5",)),
        ("the top 3 restaurants", "SELECT id FROM restaurants ORDER BY rating LIMIT 3", ()),
        ("restaurants opened in 2019", "SELECT id FROM restaurants", ("opened", "2019")),
        ("all restaurants in all years", "SELECT id FROM restaurants", ()),
        ("", COUNTED, ()),
    ],
)
def test_what_nothing_says(question, sql, unmatched):
    assert unmatched_words(question, sql, "duckdb", [PLACES], ENGLISH) == unmatched


def test_the_year_of_a_table_says_it():
    of_2019 = answer_table("restaurants_2019", {"id": "int"})
    sql = "SELECT id FROM restaurants_2019"
    assert unmatched_words("restaurants in 2019", sql, "duckdb", [of_2019], ENGLISH) == ()
    assert unmatched_words("restaurants in 2020", sql, "duckdb", [of_2019], ENGLISH) == ("2020",)
