"""TARGET's tasks behind retrieval: what a model is shown, and what its replies come to."""

import json

import pytest

from benchmarks.tests.support.bench_sets import TABLES, write_small_set
from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.experiments import target_tasks
from pneuma_bench.experiments.target_tasks import bleu, facts_figures, label_of
from pneuma_bench.models import ENDPOINT
from tests.support.scripted_model import scripted_model


@pytest.fixture
def facts(tmp_path, monkeypatch):
    """A set of four statements, of which two are so."""
    write_small_set(tmp_path)
    lines = [
        {"question": f"{name} {n}", "tables": [name], "answer": n % 2 == 0}
        for n, name in enumerate([*TABLES][:4])
    ]
    (tmp_path / "small.queries.jsonl").write_text("".join(json.dumps(o) + "\n" for o in lines))
    return [str(tmp_path), "small", "--keep", str(tmp_path / "kept"), "--task", "facts"]


def asked(arguments, monkeypatch, *script):
    with scripted_model(*script) as (endpoint, said):
        monkeypatch.setenv(ENDPOINT, endpoint.url)
        target_tasks.main(arguments)
    return said.prompts


def by_question(labels):
    """Answer whichever prompt comes by the statement that it asks about."""
    return lambda prompt: next(v for k, v in labels.items() if f"Statement: {k}" in prompt)


def test_statements_are_verified_by_the_tables_that_were_found(facts, monkeypatch, capsys):
    no, yes = '{"label": "False"}', '{"label": "True"}'
    reply = by_question({"rivers": yes, "lakes": no, "authors": no, "papers": "Well."})
    prompts = asked([*facts, "--retriever", "words", "--k", "2"], monkeypatch, *[reply] * 4)
    (first,) = [one for one in prompts if "Statement: rivers" in one]
    assert first.startswith("You are an expert in evaluating statements")
    assert "| Danube | 2850 |" in first
    told = capsys.readouterr().out
    assert "3 of 4 replies counted; not counted: 1 unreadable, 0 missing" in told
    assert "True: P 1.000 R 0.500 F1 0.667 of 2" in told
    assert "False: P 0.500 R 1.000 F1 0.667 of 1" in told
    assert "accuracy 0.667" in told
    again = asked([*facts, "--retriever", "words", "--k", "2"], monkeypatch, reply)
    assert len(again) == 1  # what was answered is not asked again


def test_without_tables_a_model_is_asked_what_it_knows(facts, monkeypatch):
    prompts = asked([*facts, "--k", "0"], monkeypatch, *['{"label": "True"}'] * 4)
    assert all("Some or all tables are not available" in one for one in prompts)


def test_an_endpoint_has_to_be_named(facts, monkeypatch):
    monkeypatch.delenv(ENDPOINT, raising=False)
    with pytest.raises(BenchmarkError, match=ENDPOINT):
        target_tasks.main(facts)


def test_statements_without_labels_have_no_figures():
    assert label_of("not enough information") == "Not Enough Information"
    (line,) = facts_figures(["True", "False"], ["True", label_of(None)])
    assert line.startswith("no figures: 1 of 2")


def test_answers_are_compared_where_there_is_something_to_compare_with():
    assert bleu([], []).startswith("no figures")
    assert bleu(["a b c d"], [None]).startswith("no figures")
    assert "sacrebleu" in bleu(["a b c d"], ["a b c d"]).lower()
