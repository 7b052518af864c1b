"""`generate`: the same questions for the same seed, with all tables that answer them."""

import json

import pytest
from typer.testing import CliRunner

from benchmarks.tests.support.documented_tables import documented_set
from benchmarks.tests.support.question_model import write_towns
from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.cli.app import app
from pneuma_bench.generator.content import content_questions
from pneuma_bench.generator.questions import Spec
from pneuma_bench.reading import read_set, read_tables


@pytest.fixture
def towns(tmp_path):
    return write_towns(tmp_path)


@pytest.fixture
def documented(tmp_path):
    dataset = documented_set()
    records = [
        {
            "id": dataset.spelled(table.table_id),
            "columns": [column.name for column in table.columns],
            "rows": [*map(list, rows)],
            "contexts": dataset.contexts[table.table_id],
        }
        for table, rows in dataset.tables
    ]
    path = tmp_path / "d.tables.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def generate(tables, out, *more):
    given = ["--tables", tables, "--out", tables.parent / out, *more]
    return CliRunner().invoke(app, ["generate", *map(str, given)])


def files(folder):
    return {one.name: one.read_bytes() for one in folder.iterdir()}


def test_every_table_that_answers_is_named_whatever_its_columns_are_called(towns):
    asked = content_questions(read_tables(towns), Spec(questions=40)).asked
    assert len(asked) == len({one.question.casefold() for one in asked}) == 40
    assert {one.tables[0] for one in asked} == {"towns", "towns_again", "other_towns", "boats"}
    for one in asked:
        if one.tables[0] in ("towns", "towns_again"):
            assert {"towns", "towns_again"} <= {*one.tables}
        if "city 5" in one.question and one.tables[0] == "other_towns":
            assert "towns" not in one.tables, "a value that is there alone"


def test_a_question_of_too_many_tables_is_none(towns):
    generated = content_questions(read_tables(towns), Spec(questions=40, answers=1))
    assert all(len(one.tables) == 1 for one in generated.asked)
    assert "answered by too many tables" in {one.reason for one in generated.rejected}


def test_tables_of_which_nothing_can_be_asked_are_an_error(towns):
    towns.write_text('{"id": "a", "columns": ["x"], "rows": []}\n')
    with pytest.raises(BenchmarkError, match="none of 1 tables can be asked about"):
        content_questions(read_tables(towns), Spec())


def test_the_command_writes_what_a_measurement_reads_and_the_same_again(towns):
    for out, seed in (("a", "7"), ("b", "7"), ("c", "8")):
        result = generate(towns, out, "--questions", "12", "--seed", seed)
        assert result.exit_code == 0, result.output
        assert result.stdout.startswith("12 questions written to ")
    made, again, other = (files(towns.parent / name) for name in "abc")
    assert made == again
    assert made["t.queries.jsonl"] != other["t.queries.jsonl"]
    assert {*made} == {"t.queries.jsonl", "t.rejected.jsonl", "t.manifest.json"}
    (towns.parent / "a/t.tables.jsonl").write_bytes(towns.read_bytes())
    dataset = read_set(towns.parent / "a", "t")
    assert (len(dataset.questions), {*dataset.kinds}) == (12, {"content"})


def test_both_kinds_stand_in_one_file_and_are_counted_apart(documented):
    result = generate(documented, "a", "--content", "4", "--context", "90")
    assert result.exit_code == 0, result.output
    assert "94 were asked for; these tables give no more" in result.stdout
    assert "execution" in result.stdout
    assert "question" in result.stdout
    manifest = json.loads((documented.parent / "a/d.manifest.json").read_text())
    (documented.parent / "a/d.tables.jsonl").write_bytes(documented.read_bytes())
    kinds = read_set(documented.parent / "a", "d").kinds
    assert manifest["asked"] == 4
    assert kinds == ["content"] * 4 + ["context"] * manifest["context"]["asked"]


def test_what_cannot_be_made_is_told(towns):
    nothing = generate(towns, "a", "--content", "0")
    assert (nothing.exit_code, "give --content or --context" in nothing.stderr) == (2, True)
    undocumented = generate(towns, "a", "--content", "0", "--context", "3")
    assert (undocumented.exit_code, "of the documents of 5" in undocumented.stderr) == (1, True)
    assert not (towns.parent / "a").exists()
