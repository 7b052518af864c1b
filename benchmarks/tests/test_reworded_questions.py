"""Questions that a model words are kept if they lead back; what is kept survives kills."""

import json
import multiprocessing
import random

import pytest
from typer.testing import CliRunner

from benchmarks.tests.support.question_model import model_of, write_towns
from pneuma_assets.core.models.language import registry
from pneuma_bench.cli.app import app
from pneuma_bench.files import KeptFile
from pneuma_bench.generator.content import content_questions
from pneuma_bench.generator.questions import Spec, write_generated
from pneuma_bench.generator.rewording import Asker
from pneuma_bench.reading import read_tables
from tests.support.fake_model import FakeLanguageModel
from tests.support.recording_endpoint import recording_endpoint

KILLS = 4


@pytest.fixture
def towns(tmp_path):
    return write_towns(tmp_path)


def made(tables, model, ledger, **spec):
    with KeptFile(ledger) as kept:
        return content_questions(read_tables(tables), Spec(**spec), Asker(model, kept))


def test_what_leads_back_is_asked_and_all_else_is_rejected_with_its_reason(towns, tmp_path):
    ends = {
        ("rewriting", "no question"),
        ("rewriting", "worded as before"),
        ("words", "names another value"),
        ("cycle", "no query of the template"),
    }
    spec = {"questions": 12, "described": True}
    model = model_of(towns, Spec(**spec))
    generated = made(towns, model, tmp_path / "ledger", **spec)
    assert len(generated.asked) == 12
    assert all(one.question.startswith("Please tell me: ") for one in generated.asked)
    for one in generated.asked:
        assert one.made["wording"] == "model"
        assert one.made["template"] == one.question.removeprefix("Please tell me: ")
    assert ends <= {(one.stage, one.reason) for one in generated.rejected}
    came = [one["came"] for one in generated.manifest["stages"].values()]
    assert came[0] == len(generated.asked) + len(generated.rejected)
    assert came == sorted(came, reverse=True)
    assert (generated.manifest["model"], generated.manifest["prompts"][:7]) == (
        "questions", "content"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (FakeLanguageModel(), "no question"),
        (FakeLanguageModel(longest=9), "the model did not answer"),
    ],
)
def test_a_model_that_does_not_do_it_gives_no_questions_and_this_ends(
    towns, tmp_path, model, reason
):
    generated = made(towns, model, tmp_path / "ledger", questions=3)
    assert not generated.asked
    ended = {one.reason for one in generated.rejected if one.stage == "rewriting"}
    assert ended == {reason}


def write(tables, model, folder):
    """Make questions and write them; this runs in processes that are killed."""
    generated = made(tables, model, folder / "ledger.sqlite", questions=12)
    write_generated(folder, "t", generated)


def files(folder):
    return {one.name: one.read_bytes() for one in folder.glob("t.*")}


def test_killed_again_and_again_it_ends_with_the_same_files(towns, tmp_path):
    """Each kill comes at a random moment; the model is slow, so most come while it answers."""
    spec = Spec(questions=12)
    quick, slow = model_of(towns, spec), model_of(towns, spec, slow=0.02)
    write(towns, quick, tmp_path / "whole")
    context, chance = multiprocessing.get_context("fork"), random.Random(5)
    folder, killed, unfinished = tmp_path / "killed", 0, 0
    while killed < KILLS:
        process = context.Process(target=write, args=(towns, slow, folder))
        process.start()
        process.join(chance.uniform(0.02, 0.4))
        if process.exitcode is None:
            process.kill()
            killed += 1
            unfinished += (folder / "ledger.sqlite").exists()
        else:  # it came to its end: it begins anew
            (folder / "ledger.sqlite").unlink()
        process.join()
    write(towns, quick, folder)
    assert files(folder) == files(tmp_path / "whole")
    assert len(files(folder)) == 3
    assert unfinished > KILLS // 2
    before = quick.calls
    write(towns, quick, folder)
    assert quick.calls == before, "what is kept is not asked for again"


def generate(tables, out, config, *more):
    deployment = tables.parent / "pneuma.yaml"
    deployment.write_text(json.dumps({"answers": {"model": config}}))
    arguments = ["--tables", tables, "--out", tables.parent / out, "--config", deployment, *more]
    return CliRunner().invoke(app, ["generate", *map(str, arguments)])


def test_an_endpoint_that_may_not_see_values_is_not_asked(towns):
    with recording_endpoint() as endpoint:
        section = {"model": "m", "endpoint_url": endpoint.url}
        result = generate(towns, "a", section)
        assert result.exit_code != 0
        assert "set send_values: true" in result.output
        assert generate(towns, "a", section, "--no-model", "--questions", 4).exit_code == 0
        assert not endpoint.said


def test_attempts_that_all_end_are_written_and_told(towns, monkeypatch):
    monkeypatch.setattr(registry, "open_language_model", lambda *_: FakeLanguageModel())
    result = generate(towns, "a", "m", "--questions", 2)
    assert result.exit_code != 0
    assert "no attempt passed all stages" in result.output
    assert (towns.parent / "a/t.rejected.jsonl").read_text()
    assert not (towns.parent / "a/t.queries.jsonl").read_text()


def test_the_command_words_by_the_configured_model_and_shows_the_stages(towns, monkeypatch):
    spec = Spec(questions=6, described=True)
    monkeypatch.setattr(registry, "open_language_model", lambda *_: model_of(towns, spec))
    result = generate(towns, "a", "m", "--questions", 6)
    assert result.exit_code == 0, result.output
    assert "no query of the template" in result.output
    assert "cycle" in result.output
    assert (towns.parent / "a/t.answers.sqlite").exists()
