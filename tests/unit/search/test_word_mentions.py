"""Without a parser a question's content words and their runs may name columns."""

import pytest

from pneuma_assets.core.search.mentions import word_mentions


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param(
            "What is the number of sales?",
            ("number of sales", "number", "sales"),
            id="little words stand inside runs alone",
        ),
        pytest.param(
            "unit price, region",
            ("unit price region", "unit price", "price region", "unit", "price", "region"),
            id="longer runs first",
        ),
        pytest.param("customerId of café", ("customer id", "customer", "id", "cafe"), id="names"),
        pytest.param("sales sales", ("sales sales", "sales"), id="each once"),
        pytest.param("What is it?", (), id="nothing"),
    ],
)
def test_content_words_and_their_runs(question, expected):
    found = word_mentions(question)
    assert {*expected} <= {*found}
    assert [one for one in found if one in expected] == list(expected)


def test_no_run_begins_or_ends_with_a_little_word():
    assert word_mentions("name of the author") == ("name", "author")


def test_a_long_question_is_bounded():
    assert len(word_mentions("a1b2 " * 10_000)) < 300
