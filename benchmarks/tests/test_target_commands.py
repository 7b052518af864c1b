"""`pneuma-bench target`: a set written, databases made, and a task run from the command line."""

import json
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from benchmarks.tests.support.bench_sets import TABLES, write_small_set
from pneuma_assets.core.models.language import registry
from pneuma_assets.core.models.language.fake import FakeLanguageModel
from pneuma_bench.cli.app import app
from pneuma_bench.cli.app import app as bench
from pneuma_bench.experiments.target import downstream


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setenv("PNEUMA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PNEUMA_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    return write_small_set(tmp_path)


def called(*arguments):
    return CliRunner().invoke(app, ["target", *map(str, arguments)])


def test_a_set_is_written(files, tmp_path):
    result = called("write", "--tables", files[0], "--queries", files[1], "--out", tmp_path / "o")
    assert result.exit_code == 0, result.output
    assert "7 questions written" in result.stdout
    assert "left out: 1 question that" in result.stdout
    corpus = (tmp_path / "o/corpus/validation.jsonl").read_text().splitlines()
    assert [json.loads(line)["table_id"] for line in corpus] == [*TABLES]


def test_answers_are_written_where_there_are_any(files, tmp_path):
    given = ["--tables", files[0], "--queries", files[1], "--out", tmp_path / "o", "--answers"]
    result = called("write", *given)
    assert result.exit_code == 1
    assert "'answer' must be a text" in result.stderr
    assert not (tmp_path / "o").exists()


def test_databases_are_made_and_right_statements_kept(files, tmp_path):
    gold = tmp_path / "gold.jsonl"
    asked = {"question": "Which?", "schema": "0", "tables": ["rivers"], "answer": [["Rhine"]]}
    gold.write_text(
        json.dumps({**asked, "gold": ["SELECT river FROM rivers WHERE length_km<2000"]})
    )
    result = called("databases", "--tables", files[0], "--gold", gold, "--out", tmp_path / "o")
    assert result.exit_code == 0, result.output
    assert "1 database: 0" in result.stdout
    assert "1 question written to" in result.stdout
    (line,) = (tmp_path / "o/small.queries.jsonl").read_text().splitlines()
    assert json.loads(line)["tables"] == ["rivers"]
    assert (tmp_path / "o/databases/0/0.sqlite").is_file()


def test_a_task_that_there_is_not_is_a_wrong_argument(files, tmp_path):
    result = called(
        "answer", "guess", "--tables", files[0], "--queries", files[1], "--out", tmp_path / "o"
    )
    assert result.exit_code == 2
    assert "answers, facts, sql" in result.stderr


def test_an_endpoint_is_shown_nothing_unless_it_may_be(files, tmp_path):
    bench = {"backend": "openai", "model": "m", "endpoint_url": "http://127.0.0.1:9/v1"}
    (tmp_path / "pneuma.yaml").write_text(json.dumps({"bench": bench}))
    result = called(
        "answer", "facts", "--tables", files[0], "--queries", files[1], "--out", tmp_path / "o",
        "--config", tmp_path / "pneuma.yaml",
    )  # fmt: skip
    assert result.exit_code == 1
    assert "bench.send_values" in result.stderr


def test_recall_of_tables_stands_beside_that_of_labels(files, tmp_path, monkeypatch):
    said = FakeLanguageModel(answers=lambda _: "False")
    monkeypatch.setattr(registry, "open_language_model", lambda *_: said)
    lines = Path(files[1]).read_text().splitlines()[:2]
    asked = tmp_path / "facts.jsonl"
    asked.write_text(
        "".join(json.dumps({**json.loads(one), "answer": "True"}) + "\n" for one in lines)
    )
    result = called(
        "answer", "facts", "--tables", files[0], "--queries", asked, "--out", tmp_path / "o"
    )
    assert result.exit_code == 0, result.output
    shown = dict(line.rsplit(maxsplit=1) for line in result.stdout.splitlines()[3:])
    assert (shown["recall of tables"], shown["recall"]) == ("1", "0")


def test_a_score_that_the_package_does_not_compute_is_no_agreement(tmp_path, monkeypatch):
    of_tables = {"recall": 1.0, "capped_recall": 1.0}
    found = {"retrieval_performance": of_tables, "downstream_task_performance": {"scores": {}}}
    monkeypatch.setattr(downstream, "evaluate", lambda *_: {2: found})
    for folder in ("s", "retrieved", "answered"):
        (tmp_path / folder).mkdir()
    ours = {**of_tables, "k": 2, "name": "s", "task": "answers", "scores": {}}
    assert downstream.compare("python", tmp_path, ours)
    assert not downstream.compare("python", tmp_path, {**ours, "scores": {"sacrebleu": 1.0}})


def helps(command, name=""):
    """Yield each option's name and help, of a command and all below it."""
    yield from ((f"{name} {one.name}", one.help) for one in command.params if one.help)
    for below, one in getattr(command, "commands", {}).items():
        yield from helps(one, f"{name} {below}")


def test_the_help_of_every_option_is_sentences():
    told = dict(helps(get_command(bench)))
    assert len(told) > 80
    assert [name for name, help_ in told.items() if not help_.endswith((".", "]"))] == []
