import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.index.analysis import (
    ENGLISH,
    MAX_QUESTION_TERMS,
    MAX_TERMS,
)

CASES = [
    ("plain words are lowered and stemmed", "The Rivers were flowing", ["river", "were", "flow"]),
    ("stop words go", "of the and a to was", []),
    ("no words at all", " .,;!?\t\n", []),
    ("empty", "", []),
    ("snake case", "petal_length", ["petal", "length"]),
    ("camel case keeps the whole, too", "PetalLength", ["petal", "length", "petallength"]),
    ("initials before a word", "HTTPServer", ["http", "server", "httpserver"]),
    ("letters and digits", "covid19", ["covid", "19"]),
    ("letters around a digit", "i18n", ["i", "18", "n", "i18n"]),
    ("capitals alone stay whole", "NASA", ["nasa"]),
    ("a decimal falls apart", "9.13", ["9", "13"]),
    ("possessives go", "Karl's bird\u2019s", ["karl", "bird"]),
    ("short words keep their s", "us gas", ["us", "gas"]),
    ("an s of its own stays", "class s", ["class", "s"]),
    ("accents fold", "Beyonc\u00e9 S\u00e3o", ["beyonc", "sao"]),
    ("decomposed accents fold, too", "Beyonce\u0301", ["beyonc"]),
    ("full-width forms fold", "\uff26\uff55\uff4c\uff4c", ["full"]),
    ("sharp s folds", "Stra\u00dfe", ["strass"]),
    ("ideographs stand alone", "\u6e56\u6cca x", ["\u6e56", "\u6cca", "x"]),
    (
        "other scripts are words",
        "\u043e\u0437\u0435\u0440\u043e",
        ["\u043e\u0437\u0435\u0440\u043e"],
    ),
    ("NUL separates", "lake\x00river", ["lake", "river"]),
    ("lone surrogates separate", "lake\ud800river", ["lake", "river"]),
    ("repeats are kept", "lake lake", ["lake", "lake"]),
]


@pytest.mark.parametrize(("text", "terms"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_terms(text, terms):
    assert ENGLISH.terms(text) == terms


@pytest.mark.parametrize("question", ["iphone", "iPhone", "IPHONE", "i phone"])
def test_spellings_of_a_name_meet(question):
    assert set(ENGLISH.terms(question)) & set(ENGLISH.terms("iPhone"))


def test_a_word_without_end_is_cut():
    terms = ENGLISH.terms("x" * 1000)
    assert {len(term) for term in terms} <= {64, 1000 % 64}
    assert len(terms) == 16


def test_the_number_of_terms_is_bounded():
    assert len(ENGLISH.terms("lake " * 100_000)) == MAX_TERMS
    assert len(ENGLISH.question_terms("lake " * 100_000)) == MAX_QUESTION_TERMS


@given(st.text())
def test_terms_hold_no_space_and_analysing_twice_is_the_same(text):
    terms = ENGLISH.terms(text)
    assert all(term and not any(c.isspace() for c in term) for term in terms)
    assert ENGLISH.terms(text) == terms


@given(st.text(), st.text())
def test_texts_are_analysed_line_by_line(first, second):
    assert ENGLISH.terms(f"{first}\n{second}") == ENGLISH.terms(first) + ENGLISH.terms(second)


def test_threads_agree():
    words = [f"running{n} nations{n}" for n in range(500)]
    expected = [ENGLISH.terms(word) for word in words]
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append([ENGLISH.terms(word) for word in words]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 4


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("How often do people travel?", ["often", "peopl", "travel"]),
        ("which of these can it be", ["which", "can"]),
        ("what is the who's index", ["index"]),
    ],
    ids=["function words go", "of nothing else they stay", "possessives, too"],
)
def test_question_terms(question, terms):
    assert ENGLISH.question_terms(question) == terms


def test_function_words_stay_in_the_index():
    assert ENGLISH.terms("how, when") == ["how", "when"]
