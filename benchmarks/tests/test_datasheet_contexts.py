"""The 51 questions, and what documents say to them."""

import time
from collections import Counter
from hashlib import sha256

import pytest

from benchmarks.tests.support.documented_tables import documented_set
from pneuma_bench.generator.context import draw_evenly
from pneuma_bench.generator.context_wording import is_citation, leans, requested
from pneuma_bench.generator.contexts import (
    Context,
    Pair,
    extracted_context,
    is_closed,
    why_no_context,
    why_no_question,
)
from pneuma_bench.generator.datasheet import DATASHEET, SECTIONS
from pneuma_bench.generator.documents import Pages, passages_of
from tests.support.word_encoder import WordEncoder


@pytest.fixture(scope="module")
def pages():
    return Pages(documented_set(), WordEncoder())


def test_the_questions_are_the_51_of_the_datasheet_word_for_word():
    assert [one.number for one in DATASHEET] == [*range(1, 52)]
    sizes = Counter(one.section for one in DATASHEET)
    assert [sizes[one] for one in SECTIONS] == [4, 15, 11, 3, 5, 6, 7]
    text = "\n".join(one.text for one in DATASHEET)
    assert sha256(text.encode()).hexdigest().startswith("abdde6e44ae2")
    assert DATASHEET[2].parts == ("Who funded the creation of the dataset?",)
    assert DATASHEET[4].parts[1] == "Are there multiple types of instances?"


def test_documents_are_cut_into_sentences_under_their_headings(pages):
    lake = [one for one in pages.passages if one.table_id.endswith("lakes")]
    assert [one.heading for one in lake] == ["Description", "Format", "Details", "References"]
    assert lake[2].text.startswith("The measurements were funded")
    assert not any(
        "plot(" in one.text or "Leave space" in one.text or "name of the lake" in one.text
        for one in lake
    )


def test_long_and_hostile_documents_give_bounded_passages():
    long = "A word after another one and no end of it " * 9_000
    assert passages_of("t", [long, "\x1b[31m\u202eall red here is the text\n\n" * 9]) != []
    started = time.process_time()
    assert passages_of("t", ["a(" * 40_000 + "\n\n" + "b=(" * 20_000, "word" * 20_000]) == []
    assert time.process_time() - started < 2, "a hostile line takes no longer than another"
    for one in passages_of("t", [long, "The \x1b[31m\u202edata here are all red text.\n\n" * 9]):
        assert len(one.text) < 500
        assert "\x1b" not in one.text
    assert passages_of("t", ["", " \n\n", "#", "---"]) == []


@pytest.mark.parametrize(
    ("number", "table", "sentence"),
    [
        (3, "lakes", "The measurements were funded by a grant of the Nansen fund."),
        (6, "lakes", "A data frame with 12 observations on the following 2 variables"),
        (10, "lakes", "Three lakes are missing, because ice kept the boat away."),
        (35, "lakes", "Hansen, O. (1993). Deep water. Journal of Lakes 4, 12-19."),
        (23, "boats", "The lengths were recorded by volunteers of the harbour museum."),
        (36, "boats", "The data may be used to illustrate linear regression."),
        (4, "birds", "Note that the counts of puffins are estimates."),
        (25, "birds", ""),
        (3, "lakes_again", ""),
    ],
)
def test_the_passage_that_answers_is_found_or_none(pages, number, table, sentence):
    context = extracted_context(pages, Pair(f"documented/{table}", number))
    assert context.sentence == sentence
    assert sentence in context.text + " variables"


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("This dataset contains depths.", "Which dataset contains depths?"),
        ("The data were collected by Ann.", "Which data were collected by Ann?"),
        ("The Duncan data frame has 45 rows.", "Which data frame has 45 rows?"),
        ("The river data are old.", "Which river data are old?"),
        ("A data frame with 12 rows", "Which table has 12 rows?"),
        (
            "A data frame with 3 rows on the following 2 columns",
            "Which table has 3 rows on 2 columns?",
        ),
        ("Counts of birds on Runde.", "Which table holds counts of birds on Runde?"),
        ("Runde is an island.", "Which table's description says that Runde is an island?"),
        (
            "Snee (1974) gives the depths.",
            "Which table's description says that Snee (1974) gives the depths?",
        ),
        (
            'The raw data behind "How is Norway?"',
            'Which table holds the raw data behind "How is Norway?"?',
        ),
        ("Taken from a book.", "Which table was taken from a book?"),
        ("Hansen, O. Deep water. Wiley.", "Which table goes back to Hansen, O. Deep water. Wiley?"),
    ],
)
def test_a_sentence_becomes_a_question(said, question):
    assert requested(said, frozenset({"counts", "taken", "the"})) == question


def test_what_is_mostly_written_with_a_capital_is_a_name(pages):
    assert "norway" not in pages.common
    assert "nansen" not in pages.common
    assert "lakes" in pages.common


def test_a_table_is_not_asked_for_by_its_name():
    assert requested("The seal data are old.", frozenset(), frozenset({"seal"})) == (
        "Which data are old?"
    )


def test_sentences_that_cannot_stand_alone_are_told():
    assert leans("They were repeated once.")
    assert leans("(1994), and are used.")
    assert leans("To the extent that this is true, numbers are missing.")
    assert leans("The dataset also includes the names of lakes.")
    assert leans("treating the depth as known in a linear regression.")
    assert not leans("This dataset contains depths.")
    assert not leans("Missing depths were interpolated.")
    assert is_citation("Greene, W.H. (2003). Econometric Analysis, p. 12.")
    assert is_citation("R package version 3.0-4. https://CRAN.R-project.org/package=lakes")
    assert not is_citation("The data were collected by Ann in 1990.")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("It was created by [insert name or team] for lakes.", "placeholder"),
        ("It was funded by the Nansen fund and (", "cut off"),
        ("x = {1: [2]} | y <- $z # ^ ~", "no prose"),
        ("word " * 130 + "end.", "too long"),
        ("The measurements were funded by the Nansen fund.", ""),
    ],
)
def test_contexts_that_say_nothing_are_told_apart(text, reason):
    context = Context(Pair("documented/lakes", 3), text, text)
    assert why_no_context(context, 0.0) == reason
    assert why_no_context(context, -0.1) == (reason or "off the question")


def test_questions_that_give_the_table_away_are_told():
    assert why_no_question("Which boats are long in Bergen?", ["BOATS"]) == "names the table"
    assert why_no_question("Which boats are in State.x77, if any?", ["state.x77"])
    assert not why_no_question("Which boats are long in Bergen?", ["boat", "", "..."])
    assert why_no_question("Which are long?", []) == "too short"
    assert why_no_question("Which " + "very " * 60 + "long?", []) == "too long"
    assert why_no_question("Who measured things (in Bergen?", []) == "cut off"


def test_what_is_opened_is_closed():
    assert is_closed('He said "yes" (once).')
    assert not is_closed('He said "yes (once).')
    assert not is_closed("as follows:")
    assert not is_closed("Simulated data from a job training program for a...")


def test_strata_and_tables_give_as_evenly_as_they_can():
    available = {1: ["a", "b", "a", "c"], 2: ["a"], 3: ["b", "b", "c"]}
    drawn = draw_evenly(available, 6, str, Counter(), Counter())
    assert drawn == ["a", "a", "b", "c", "b", "b"], "a stratum in turn, and its rarest table"
    assert draw_evenly(available, 2, str, Counter({1: 5, 2: 5}), Counter()) == ["b", "c"]
    assert len(draw_evenly(available, 99, str, Counter(), Counter())) == 8
    assert draw_evenly({}, 3, str, Counter(), Counter()) == []
