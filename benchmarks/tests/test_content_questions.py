"""`generate`: the same questions for the same seed, with all the tables that answer them."""

import json

import pytest
from typer.testing import CliRunner

from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.cli.app import app
from pneuma_bench.generator.content import ContentSpec, content_questions
from pneuma_bench.generator.questions import reasons
from pneuma_bench.reading import read_set, read_tables

LANDS = ["NO", "DE", "SE", "FI"]


def rows(start):
    return [[f"city {n}", str(n * n % 97), LANDS[n % 4]] for n in range(start, start + 40)]


@pytest.fixture
def lake(tmp_path):
    columns = ["city", "people_thousand", "land"]
    tables = [
        {"id": "towns", "columns": columns, "rows": rows(0)},
        {"id": "towns_again", "columns": ["Land", "City", "people thousand"],
         "rows": [[c, a, b] for a, b, c in rows(0)]},
        {"id": "other_towns", "columns": columns, "rows": rows(500)},
        {"id": "empty", "columns": columns, "rows": []},
        {"id": "boats", "columns": ["boat", "metres"],
         "rows": [[f"b{n}", str(n % 13)] for n in range(40)]},
    ]  # fmt: skip
    (tmp_path / "t.tables.jsonl").write_text("".join(json.dumps(one) + "\n" for one in tables))
    return tmp_path


def made(lake, **spec):
    return content_questions(read_tables(lake / "t.tables.jsonl"), ContentSpec(**spec))


def test_every_table_that_answers_is_named_whatever_its_columns_are_called(lake):
    asked = made(lake, questions=40).asked
    assert len(asked) == len({one.question.casefold() for one in asked}) == 40
    tables = {one.tables[0] for one in asked}
    assert tables == {"towns", "towns_again", "other_towns", "boats"}
    for one in asked:
        if one.tables[0] in ("towns", "towns_again"):
            assert {"towns", "towns_again"} <= {*one.tables}
        if "city 5" in one.question and one.tables[0] == "other_towns":
            assert "towns" not in one.tables, "a value that is there alone"


def test_a_question_of_too_many_tables_is_none(lake):
    generated = made(lake, questions=40, answers=1)
    assert all(len(one.tables) == 1 for one in generated.asked)
    assert reasons(generated.rejected)["answered by too many tables"] > 0


def test_tables_of_which_nothing_can_be_asked_are_an_error(lake):
    (lake / "t.tables.jsonl").write_text('{"id": "a", "columns": ["x"], "rows": []}\n')
    with pytest.raises(BenchmarkError, match="none of 1 tables can be asked about"):
        made(lake)


def generate(lake, out, *more):
    tables = str(lake / "t.tables.jsonl")
    arguments = ["generate", "--tables", tables, "--out", str(lake / out), *more]
    return CliRunner().invoke(app, arguments)


def files(folder):
    return {one.name: one.read_bytes() for one in folder.iterdir()}


def test_the_command_writes_what_a_measurement_reads_and_the_same_again(lake):
    for out, seed in (("a", "7"), ("b", "7"), ("c", "8")):
        result = generate(lake, out, "--questions", "12", "--seed", seed)
        assert result.exit_code == 0, result.output
        assert result.stdout.startswith("12 questions written to ")
    assert files(lake / "a") == files(lake / "b")
    assert files(lake / "a")["t.queries.jsonl"] != files(lake / "c")["t.queries.jsonl"]
    assert {*files(lake / "a")} == {"t.queries.jsonl", "t.rejected.jsonl", "t.manifest.json"}
    (lake / "a/t.tables.jsonl").write_bytes((lake / "t.tables.jsonl").read_bytes())
    dataset = read_set(lake / "a", "t")
    assert (len(dataset.questions), {*dataset.kinds}) == (12, {"content"})
    manifest = json.loads(files(lake / "a")["t.manifest.json"])
    assert (manifest["asked"], manifest["spec"]["seed"]) == (12, 7)


def test_fewer_than_asked_for_are_told(lake):
    line = '{"id": "a", "columns": ["x"], "rows": [["3"], ["2"], ["9"]]}\n'
    (lake / "t.tables.jsonl").write_text(line)
    result = generate(lake, "a", "--questions", "5000", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["asked"] < 5000
    assert "5,000 were asked for" in generate(lake, "a", "--questions", "5000").stdout
