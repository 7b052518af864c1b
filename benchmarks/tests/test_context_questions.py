"""Context questions: what documents say to the 51, asked for, with all tables that answer."""

import time
from collections import Counter
from hashlib import sha256

import pytest

from benchmarks.tests.support.documented_tables import documented_set
from pneuma_bench.generator.annotating import copies_of
from pneuma_bench.generator.context import context_questions, draw_evenly
from pneuma_bench.generator.contexts import (
    Context,
    extracted_context,
    is_citation,
    is_closed,
    leans,
    requested,
    why_no_context,
    why_no_question,
)
from pneuma_bench.generator.datasheet import DATASHEET
from pneuma_bench.generator.documents import Pages, passages_of
from pneuma_bench.generator.questions import Spec
from tests.support.word_encoder import WordEncoder


@pytest.fixture(scope="module")
def pages():
    return Pages(documented_set(), WordEncoder())


def made(**spec):
    return context_questions(documented_set(), Spec(**spec), WordEncoder())


def test_documents_are_asked_about_without_a_model():
    generated = made(questions=50)
    asked = {one.question: one for one in generated.asked}
    assert len(asked) == len(generated.asked) == generated.manifest["asked"] < 50
    funded = asked[
        "Which table's description says that the measurements were funded by a grant of the "
        "Nansen fund?"
    ]
    assert funded.tables == ("lakes", "lakes_again"), "a copy answers, another funding does not"
    assert (funded.kind, funded.made["section"]) == ("context", "motivation")
    depths = "contains depths of lakes in Norway, measured by sonar from 1984 to 1991"
    assert f"Which dataset {depths}?" in asked
    stages = generated.manifest["stages"]
    assert stages["annotation"]["came"] - stages["annotation"]["rejected"] == len(asked)
    assert sum(one["rejected"] for one in stages.values()) == len(generated.rejected)


def test_the_seed_decides_which_and_nothing_else_does():
    first, again = (made(questions=4, seed=1) for _ in range(2))
    assert first == again
    assert any(made(questions=4, seed=seed).asked != first.asked for seed in range(2, 8))


def test_a_question_of_too_many_tables_is_none():
    generated = made(questions=50, answers=1)
    assert all(len(one.tables) == 1 for one in generated.asked)
    assert "answered by too many tables" in generated.manifest["stages"]["annotation"]["reasons"]


def test_tables_of_the_same_rows_are_copies():
    assert copies_of(documented_set()) == {
        "documented/lakes": ("documented/lakes_again",),
        "documented/lakes_again": ("documented/lakes",),
    }


def test_the_questions_are_the_51_of_the_datasheet_word_for_word():
    assert [one.number for one in DATASHEET] == [*range(1, 52)]
    sections = Counter(one.section for one in DATASHEET)
    assert [*sections.values()] == [4, 15, 11, 3, 5, 6, 7]
    text = "\n".join(one.text for one in DATASHEET)
    assert sha256(text.encode()).hexdigest().startswith("abdde6e44ae2")
    assert DATASHEET[2].parts == ("Who funded the creation of the dataset?",)
    assert DATASHEET[4].parts[1] == "Are there multiple types of instances?"


def test_documents_are_cut_into_sentences_under_their_headings(pages):
    lake = [one for one in pages.passages if one.table_id.endswith("lakes")]
    assert [one.heading for one in lake] == ["Description", "Format", "Details", "References"]
    assert lake[2].text.startswith("The measurements were funded")
    for code in ("plot(", "Leave space", "name of the lake"):
        assert not any(code in one.text for one in lake)
    assert {"norway", "nansen"}.isdisjoint(pages.common), "mostly written with a capital: a name"
    assert "lakes" in pages.common


def test_long_and_hostile_documents_give_bounded_passages():
    long = "A word after another one and no end of it " * 9_000
    started = time.process_time()
    assert passages_of("t", ["a(" * 40_000 + "\n\n" + "b=(" * 20_000, "word" * 20_000]) == []
    assert time.process_time() - started < 2, "a hostile line takes no longer than another"
    found = passages_of("t", [long, "The \x1b[31m\u202edata here are all red text.\n\n" * 9])
    assert found
    assert all(len(one.text) < 500 and "\x1b" not in one.text for one in found)
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
        (25, "birds", None),
        (3, "lakes_again", None),
    ],
)
def test_the_passage_that_answers_is_found_or_none(pages, number, table, sentence):
    context = extracted_context(pages, f"documented/{table}", number)
    assert (context and context.sentence) == sentence
    assert context is None or sentence in context.text


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("This dataset contains depths.", "Which dataset contains depths?"),
        ("The data were collected by Ann.", "Which data were collected by Ann?"),
        ("The Duncan data frame has 45 rows.", "Which data frame has 45 rows?"),
        ("The river data are old.", "Which river data are old?"),
        ("The seal data are old.", "Which data are old?"),  # the table's own name
        ("A data frame with 12 rows", "Which table has 12 rows?"),
        ("A data frame with 3 rows on the following 2 columns",
         "Which table has 3 rows on 2 columns?"),
        ("Counts of birds on Runde.", "Which table holds counts of birds on Runde?"),
        ("Runde is an island.", "Which table's description says that Runde is an island?"),
        ("Snee (1974) gives the depths.",
         "Which table's description says that Snee (1974) gives the depths?"),
        ('The raw data behind "How is Norway?"',
         'Which table holds the raw data behind "How is Norway?"?'),
        ("Taken from a book.", "Which table was taken from a book?"),
        ("Hansen, O. Deep water. Wiley.", "Which table goes back to Hansen, O. Deep water. Wiley?"),
    ],
)  # fmt: skip
def test_a_sentence_becomes_a_question(said, question):
    common, names = frozenset({"counts", "taken", "the"}), frozenset({"seal"})
    assert requested(said, common, names) == question


@pytest.mark.parametrize(
    ("tell", "sentence", "expected"),
    [
        (leans, "They were repeated once.", True),
        (leans, "(1994), and are used.", True),
        (leans, "To the extent that this is true, numbers are missing.", True),
        (leans, "The dataset also includes the names of lakes.", True),
        (leans, "treating the depth as known in a linear regression.", True),
        (leans, "This dataset contains depths.", False),
        (leans, "Missing depths were interpolated.", False),
        (is_citation, "Greene, W.H. (2003). Econometric Analysis, p. 12.", True),
        (is_citation, "R package version 3.0-4. https://CRAN.R-project.org/package=x", True),
        (is_citation, "The data were collected by Ann in 1990.", False),
        (is_closed, 'He said "yes" (once).', True),
        (is_closed, 'He said "yes (once).', False),
        (is_closed, "as follows:", False),
        (is_closed, "Simulated data from a job training program for a...", False),
    ],
)
def test_sentences_that_cannot_stand_alone_are_told(tell, sentence, expected):
    assert tell(sentence) is expected


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
    context = Context("documented/lakes", 3, text, text)
    assert why_no_context(context, 0.0) == reason
    assert why_no_context(context, -0.1) == (reason or "off the question")


@pytest.mark.parametrize(
    ("question", "names", "reason"),
    [
        ("Which boats are long in Bergen?", ["BOATS"], "names the table"),
        ("Which boats are in State.x77, if any?", ["state.x77"], "names the table"),
        ("Which boats are long in Bergen?", ["boat", "", "..."], ""),
        ("Which are long?", [], "too short"),
        ("Which " + "very " * 60 + "long?", [], "too long"),
        ("Who measured things (in Bergen?", [], "cut off"),
    ],
)
def test_questions_that_are_not_fit_are_told(question, names, reason):
    assert why_no_question(question, names) == reason


def test_questions_of_the_datasheet_and_tables_give_as_evenly_as_they_can():
    available = {
        number: [Context(table, number, "", "") for table in tables]
        for number, tables in {1: "abdc", 2: "a", 3: "bec"}.items()
    }

    def drawn(wanted, *given):
        found = draw_evenly(available, wanted, Counter(dict.fromkeys(given, 5)), Counter())
        return "".join(one.table_id for one in found)

    assert drawn(99) == "aabdeccb", "a question in turn, and its rarest table"
    assert drawn(2, 1, 2) == "be"
    assert draw_evenly({}, 3, Counter(), Counter()) == []
