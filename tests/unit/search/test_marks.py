"""The words of a question are marked in a text as the index compares them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.search.highlight import Marker
from pneuma_assets.core.text.analysis import ENGLISH, analyzer_named


def marked(question: str, text: str, language: str = "english") -> list[str]:
    marks = Marker(question, analyzer_named(language)).marks(text)
    return [text[start:end] for start, end in marks]


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("average salary by department", "Salaries of a Department", ["Salaries", "Department"]),
        ("salaries", "base_salary, SALARY2 and salaryBand", ["salary", "SALARY", "salary"]),
        ("petal length", "PetalLength | petal_width", ["PetalLength", "petal"]),
        ("cafe", "Café, CAFE\u0301 and cafés", ["Café", "CAFE\u0301", "cafés"]),
        ("what is the of", "what is the of it", ["what"]),
        ("rain", "train and drain", []),
        ("2019", "exports_2019 of 20190", ["2019"]),
        ("東京", "日本の東京都", ["東京"]),
        ("größe", "GRÖSSE und Größe", ["GRÖSSE", "Größe"]),
        ("straße", "", []),
        ("x", "<b>x</b>", ["x"]),
    ],
)
def test_words_are_marked(question, text, expected):
    assert marked(question, text) == expected


@given(st.text(min_size=1, max_size=60), st.text(max_size=200))
def test_marks_are_ranges_of_the_text_that_do_not_overlap(question, text):
    before = 0
    for start, end in Marker(question, ENGLISH).marks(text):
        assert before <= start < end <= len(text)
        before = end
    words = " ".join(Marker(text, ENGLISH)._asked)
    assert not words or Marker(words, ENGLISH)._asked


def test_a_long_text_is_looked_through_to_a_bound():
    assert len(Marker("x", ENGLISH).marks("x " * 1_000_000)) == 10_000
