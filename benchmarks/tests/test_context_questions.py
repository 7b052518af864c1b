"""Context questions: of documents, with all tables that answer, and the same again."""

import pytest

from benchmarks.tests.support.documented_tables import documented_set
from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.generator.context import ContextSpec, context_questions
from pneuma_bench.generator.documents import copies_of
from tests.support.word_encoder import WordEncoder


def extracted(**spec):
    return context_questions(documented_set(), ContextSpec(**spec), WordEncoder())


def test_documents_are_asked_about_without_a_model():
    generated = extracted(questions=50)
    asked = {one.question: one for one in generated.asked}
    assert len(asked) == len(generated.asked)
    funded = asked[
        "Which table's description says that the measurements were funded by a grant of the "
        "Nansen fund?"
    ]
    assert funded.tables == ("lakes", "lakes_again"), "a copy answers, another funding does not"
    assert funded.made["section"] == "motivation"
    assert funded.made["wording"] == "template"
    depths = "contains depths of lakes in Norway, measured by sonar from 1984 to 1991"
    assert f"Which dataset {depths}?" in asked
    assert {one.kind for one in generated.asked} == {"context"}
    assert generated.manifest["asked"] == len(asked) < 50
    stages = generated.manifest["stages"]
    assert stages["annotation"]["came"] - stages["annotation"]["rejected"] == len(asked)
    assert sum(one["rejected"] for one in stages.values()) == len(generated.rejected)


def test_the_seed_decides_which_and_nothing_else_does():
    first, again = (extracted(questions=4, seed=1) for _ in range(2))
    assert first == again
    assert any(extracted(questions=4, seed=seed).asked != first.asked for seed in range(2, 8))


def test_tables_of_the_same_rows_are_copies():
    assert copies_of(documented_set()) == {
        "documented/lakes": ("documented/lakes_again",),
        "documented/lakes_again": ("documented/lakes",),
    }


def test_a_question_of_too_many_tables_is_none():
    generated = extracted(questions=50, answers=1)
    assert all(len(one.tables) == 1 for one in generated.asked)
    assert "answered by too many tables" in generated.manifest["stages"]["annotation"]["reasons"]


def test_what_cannot_be_made_is_an_error():
    bare = documented_set()
    bare.contexts.clear()
    with pytest.raises(BenchmarkError, match="nothing can be asked of the documents of 4 tables"):
        context_questions(bare, ContextSpec(), WordEncoder())
