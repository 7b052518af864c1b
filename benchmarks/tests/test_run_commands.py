"""`run` and `ablate` on a small set, with the packaged encoder, and wrong input."""

import json
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from benchmarks.tests.support.bench_sets import TABLES, write_small_set
from pneuma_bench.cli.app import app

SIDES = ["--set", "alpha=0.5"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    for name in ("PNEUMA_CONFIG", "PNEUMA_HOME", "PNEUMA_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    tables, queries = write_small_set(tmp_path)
    return ["--tables", str(tables), "--queries", str(queries)]


def bench(*args):
    return CliRunner().invoke(app, [*map(str, args)])


def fails(code, *args):
    result = bench(*args)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    return line


def test_figures_of_each_kind_of_question_stand_below_those_of_all(files, tmp_path):
    queries = tmp_path / "small.queries.jsonl"
    asked = [json.loads(line) for line in queries.read_text().splitlines()]
    for number, one in enumerate(asked):
        one["kind"] = "odd" if number % 2 else "even"
    queries.write_text("".join(json.dumps(one) + "\n" for one in asked))
    answers = tmp_path / "answers.jsonl"
    result = bench("run", *files, *SIDES, "--answers", answers)
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["questions", "number", "R@1", "R@5", "R@10", "MRR"] in lines
    shown = {line[0]: line[1] for line in lines if line and line[0] in ("even", "odd")}
    assert shown == {"even": "4", "odd": "3"}
    assert {json.loads(line)["kind"] for line in answers.read_text().splitlines()} == {*shown}


def test_figures_are_shown_also_where_a_file_beside_them_cannot_be_written(files):
    Path("file").write_text("")
    result = bench("run", *files, "--answers", "file/it.jsonl")
    assert result.exit_code == 1, result.output
    assert "error: cannot write file/it.jsonl" in result.stderr
    assert "R@1" in result.stdout


def test_one_object_with_every_figure(files, tmp_path):
    answers = tmp_path / "answers.jsonl"
    result = bench(
        "run", *files, *SIDES, "--json", "--answers", answers, "--set", "sampling.rows=1"
    )
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    for name in ("R@1", "R@5", "R@10", "all@5", "all@10", "recall@10", "capped_recall@5", "MRR"):
        low, high = found["intervals"][name]
        assert 0 <= low <= found[name] <= high <= 1
    assert found["R@1"] > 0.5
    assert found["R@10"] == 1.0  # of six tables, all are found
    assert found["configuration"] == "alpha=0.5, sampling.rows=1"
    assert (found["questions"], found["unanswerable"], found["tables"]) == (7, 1, len(TABLES))
    assert found["seconds_to_index"] > 0
    assert found["ms_p50"] > 0
    records = [json.loads(line) for line in answers.read_text().splitlines()]
    assert [record["tables"] for record in records][:1] == [["rivers"]]
    share = sum(record["rank"] == 1 for record in records) / 7
    assert found["R@1"] == pytest.approx(share)
    assert not (tmp_path / ".pneuma").exists()


def test_a_table_for_people(files):
    result = bench("run", *files, *SIDES, "--set", "without=[rows, context]")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "alpha=0.5, without=rows+context"
    assert any(line.startswith("R@1 ") and " to " in line for line in lines)


def test_figures_with_names_hidden_say_so(files, tmp_path):
    asked = [*files, "--set", "query.k=1", "--keep", tmp_path / "kept"]
    shown = {hidden: bench("run", *asked, *hidden).stdout for hidden in ((), ("--hide-names",))}
    assert ["names hidden" in one for one in shown.values()] == [False, True]
    found = json.loads(bench("run", *asked, "--hide-names", "--json").stdout)
    assert found["names_hidden"] is True
    spec = tmp_path / "spec.yaml"
    spec.write_text("{}")
    compared = bench("ablate", spec, *asked[:4], *asked[6:], "--hide-names")
    assert compared.stdout.splitlines()[-1] == "names hidden"


def test_settings_are_compared(files, tmp_path):
    spec = tmp_path / "spec.yaml"
    spec.write_text("base: {alpha: 0.5}\nvary: {alpha: [0, 1]}\n")
    keep = tmp_path / "kept"
    result = bench("ablate", spec, *files, "--keep", keep)
    assert result.exit_code == 0, result.output
    names = [line.split()[-1] for line in result.stdout.splitlines()]
    assert names == ["setting", "default", "alpha=0", "alpha=1"]
    again = bench("ablate", spec, *files, "--keep", keep, "--json", "--metrics", "MRR")
    assert [one["configuration"] for one in json.loads(again.stdout)] == names[1:]


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ([], "--tables"),
        (["--tables", "x", "--set", "alpha"], "--set takes KEY=VALUE"),
        (["--tables", "x", "--set", "k=[1"], "is no YAML value"),
    ],
)
def test_wrong_usage(files, args, told):
    assert told in fails(2, "run", *files[2:], *args)


def test_wrong_files_and_options(files, tmp_path):
    assert "cannot read gone.jsonl" in fails(1, "run", "--tables", "gone.jsonl", *files[2:])
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"question": "what", "tables": ["nowhere"]}\n')
    line = fails(1, "run", *files[:2], "--queries", bad)
    assert line.endswith("bad.jsonl, line 1: no table has the id 'nowhere'")
    assert "no option 'alpa'" in fails(1, "run", *files, "--set", "alpa=1")
    keep = ["--keep", tmp_path / "kept"]
    assert "no figure 'R@2'" in fails(2, "ablate", *files, *keep, "--metrics", "R@1,R@2")
    assert not (tmp_path / "kept").exists()


def test_retrievers_stand_beside_each_other(files, tmp_path):
    for _ in range(2):  # the second time all is kept
        result = bench("paper", *files, "--keep", tmp_path / "kept", "--rounds", "1")
        assert result.exit_code == 0, result.output
        for name in ("this project", "two sides", "BM25", "embeddings"):
            assert name in result.stdout
    assert len([*tmp_path.glob("kept/beside/*.json")]) == 5


def test_a_needle_is_looked_for_among_more_tables(files, tmp_path):
    asked = ["target", "needle", *files, "--questions", "2", "--keep", tmp_path / "kept"]
    result = bench(*asked, "--size", "4", "--size", "2", *SIDES)
    assert result.exit_code == 0, result.output
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["tables", "2", "4"]
    (line,) = bench(*asked, "--size", "9").stderr.splitlines()[-1:]
    assert line == ("error: of 6 tables 2 are asked for, so there cannot be 9; take another size")


def helps(command, name=""):
    """Yield each option's name and help, of a command and all below it."""
    yield from ((f"{name} {one.name}", one.help) for one in command.params if one.help)
    for below, one in getattr(command, "commands", {}).items():
        yield from helps(one, f"{name} {below}")


def test_the_help_of_every_option_is_sentences():
    told = dict(helps(get_command(app)))
    assert len(told) > 60
    assert [name for name, help_ in told.items() if not help_.endswith((".", "]"))] == []
