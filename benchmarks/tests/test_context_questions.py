"""Context questions: of documents, with all tables that answer, and the same again."""

import re

import pytest

from benchmarks.tests.support.documented_tables import documented_set
from pneuma_assets.core.errors import BenchmarkError, ModelError
from pneuma_assets.core.models.language.fake import FakeLanguageModel
from pneuma_bench.generator.context import context_questions
from pneuma_bench.generator.context_annotating import copies_of
from pneuma_bench.generator.context_by_model import labelled
from pneuma_bench.generator.context_prompts import (
    question_by_examples,
    rephrasing_by_examples,
)
from pneuma_bench.generator.context_stages import ContextSpec
from pneuma_bench.generator.ledger import Ledger
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
    with pytest.raises(BenchmarkError, match="need a model"):
        extracted(contexts="grounded")
    bare = documented_set()
    bare.contexts.clear()
    with pytest.raises(BenchmarkError, match="nothing can be asked of the documents of 4 tables"):
        context_questions(bare, ContextSpec(), WordEncoder())


DRAFTING = "Somebody looks for a table"


class Documentalist:
    """Answers as a model would that reads documents: by rules a test can check."""

    def __init__(self, fails_after=10**9):
        self.left = fails_after

    def __call__(self, prompt):
        self.left -= 1
        if self.left < 0:
            raise ModelError("the model is gone")
        if prompt.startswith("Given a dataset"):
            return self.context(prompt)
        if prompt.startswith("Context:"):
            (context,) = re.findall(r'Context: "(.*)"', prompt)
            return f"Question: Provide a table that fits this: {context}"
        if prompt.startswith("Original"):
            (question,) = re.findall(r'Original Question:"(.*)"', prompt)
            return f"Rephrased Question: {backwards(question)}"
        if prompt.startswith(DRAFTING):
            *_, context = re.findall(r"Description: (.*)", prompt)
            return f"Which data fits this: {context}"
        *_, question = re.findall(r'"(.*)"', prompt)
        return backwards(question)

    def context(self, prompt):
        if "Who funded" in prompt and "Nansen fund." in prompt:
            return "The creation of the dataset was funded by the Nansen fund."
        if "Over what timeframe" in prompt and "2003" in prompt:
            return "The data was collected in 2003 and this is the timeframe of its creation."
        return "Not stated."


def backwards(question):
    return " ".join(reversed(question.split()))


class Labelling(FakeLanguageModel):
    """Says yes the surer, the more words of the question stand in the context."""

    def yes_probability(self, prompts):
        self._note(prompts)
        return [self.sure(prompt) for prompt in prompts]

    def sure(self, prompt):
        context, question = re.findall(r'(?:Context|Question):"(.*)"', prompt)
        words = {*question.lower().split()}
        return 0.1 + 0.8 * len(words & {*context.lower().split()}) / len(words)


def with_model(path, answer, **spec):
    spec = ContextSpec(**{"questions": 5, "contexts": "grounded", "attempts": 50, **spec})
    model = Labelling(answers=answer)
    with Ledger(path) as ledger:
        made = context_questions(documented_set(), spec, WordEncoder(window=500), model, ledger)
    return made, model


def test_a_model_reads_documents_asks_and_rephrases(tmp_path):
    generated, _ = with_model(tmp_path / "ledger.db", Documentalist())
    (funded,) = (one for one in generated.asked if one.made["datasheet"] == 3)
    assert funded.question.startswith("fund. Nansen the by funded was")
    assert funded.made["draft"].startswith("Which data fits this: The creation")
    assert funded.made["wording"] == "model"
    assert "lakes_again" in funded.tables
    assert generated.manifest["stages"]["context"]["reasons"]["not stated"] > 50
    assert generated.manifest["model"] == "fake"


def test_a_run_that_was_ended_goes_on_to_the_same(tmp_path):
    whole, model = with_model(tmp_path / "whole.db", Documentalist())
    for fails_after in (0, len(model.prompts) // 2):
        path = tmp_path / f"{fails_after}.db"
        with pytest.raises(ModelError):
            with_model(path, Documentalist(fails_after))
        again, rest = with_model(path, Documentalist())
        assert again == whole
        assert len(rest.prompts) <= len(model.prompts)
    assert len(rest.prompts) < len(model.prompts)


def test_a_model_that_plays_is_shown_no_document(tmp_path):
    generated, model = with_model(
        tmp_path / "ledger.db",
        lambda prompt: (
            "The creation of the dataset was funded by Acme."
            if prompt.startswith("Given") and "Who funded" in prompt
            else Documentalist()(prompt)
        ),
        contexts="played",
    )
    shown = [prompt for prompt in model.prompts if prompt.startswith("Given a dataset")]
    assert shown
    assert not any("Nansen" in prompt for prompt in shown)
    assert "lake | depth" in "".join(shown)
    assert {one.made["datasheet"] for one in generated.asked} == {3}


def test_a_model_that_plays_writes_every_context_before_any_is_asked_about(tmp_path):
    _, model = with_model(
        tmp_path / "ledger.db",
        lambda prompt: (
            "The creation of the dataset was funded by Acme."
            if prompt.startswith("Given") and "Who funded" in prompt
            else Documentalist()(prompt)
        ),
        contexts="played",
        questions=2,
        attempts=60,
    )
    written = [prompt.startswith("Given a dataset") for prompt in model.prompts]
    assert sum(written) > 100, "those of two tables alike are one prompt"
    assert all(written[: sum(written)])


def test_a_model_plays_also_where_there_is_no_document(tmp_path):
    bare = documented_set()
    bare.contexts.clear()
    model = FakeLanguageModel(answers=lambda _: "The dataset was created by [insert name].")
    with Ledger(tmp_path / "ledger.db") as ledger:
        spec = ContextSpec(questions=3, contexts="played")
        generated = context_questions(bare, spec, WordEncoder(), model, ledger)
    assert not generated.asked
    assert {one.reason for one in generated.rejected} == {"placeholder"}


def test_answers_that_have_not_the_form_are_rejected(tmp_path):
    def answer(prompt):
        return "" if prompt.startswith(DRAFTING) else Documentalist()(prompt)

    generated, _ = with_model(tmp_path / "ledger.db", answer)
    assert not generated.asked
    assert generated.manifest["stages"]["question"]["reasons"]["not as asked"] > 0


def test_another_table_answers_if_the_model_is_as_sure_as_half_way_to_its_own():
    sure = {"": -1.0, "own": 3.0, "like": 1.2, "unlike": 0.8}
    assert labelled(sure, "own") == ["like"]
    assert labelled({**sure, "own": 0.9}, "own") is None, "it says yes of anything"


def test_words_tell_which_tables_answer_where_a_model_says_yes_of_anything(tmp_path, monkeypatch):
    monkeypatch.setattr(Labelling, "sure", lambda _self, prompt: 0.8 + 0.08 * ("lake" in prompt))
    generated, _ = with_model(tmp_path / "ledger.db", Documentalist())
    (funded,) = (one for one in generated.asked if one.made["datasheet"] == 3)
    assert funded.tables == ("lakes", "lakes_again")
    played, _ = with_model(
        tmp_path / "played.db",
        lambda prompt: (
            "The creation of the dataset was funded by Acme."
            if prompt.startswith("Given") and "Who funded" in prompt
            else Documentalist()(prompt)
        ),
        contexts="played",
    )
    assert not played.asked, "what no document says is found by no word"
    assert played.manifest["stages"]["annotation"]["reasons"] == {"own table not told": 1}


@pytest.mark.parametrize(
    ("step", "said"), [(DRAFTING, " in Ohio"), ("Rewrite a question", " of 1950")]
)
def test_a_question_that_names_what_its_context_does_not_is_none(tmp_path, step, said):
    """Small models take names and numbers of the prompt's examples."""

    def answer(prompt):
        return Documentalist()(prompt) + (said if prompt.startswith(step) else "")

    generated, _ = with_model(tmp_path / "ledger.db", answer)
    assert not generated.asked
    assert "names something else" in generated.manifest["stages"]["question"]["reasons"]


def test_the_description_stands_last_in_what_a_model_is_asked_by_examples():
    """A small model answers the examples where each of them has the form of the task."""
    asked = question_by_examples('Depths of "lakes".')
    assert asked.endswith('Description: Depths of "lakes".')
    assert asked.rindex("Now write") > asked.rindex("Ohio")
    again = rephrasing_by_examples("Which table has depths?")
    assert again.rindex("Now rewrite") > again.rindex("Ohio")
    assert again.endswith('"Which table has depths?"')


def test_a_question_about_something_else_is_none(tmp_path):
    def answer(prompt):
        if prompt.startswith(DRAFTING):
            return "Which table has prices of wheat that the Ministry of Agriculture collected?"
        return Documentalist()(prompt)

    generated, _ = with_model(tmp_path / "ledger.db", answer)
    assert not generated.asked
    assert "asks for something else" in generated.manifest["stages"]["question"]["reasons"]
