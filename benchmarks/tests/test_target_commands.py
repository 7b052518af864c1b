"""`pneuma-bench target`: a set is written, and every option has its help."""

import json

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from benchmarks.tests.support.bench_sets import TABLES, write_small_set
from pneuma_bench.cli.app import app


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


def helps(command, name=""):
    """Yield each option's name and help, of a command and all below it."""
    yield from ((f"{name} {one.name}", one.help) for one in command.params if one.help)
    for below, one in getattr(command, "commands", {}).items():
        yield from helps(one, f"{name} {below}")


def test_the_help_of_every_option_is_sentences():
    told = dict(helps(get_command(app)))
    assert len(told) > 60
    assert [name for name, help_ in told.items() if not help_.endswith((".", "]"))] == []
