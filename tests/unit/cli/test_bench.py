"""`bench run` asks the index that there is, and leaves it as it was."""

import json
from contextlib import closing

import pytest

from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.index.registry import open_index
from pneuma_assets.core.tables import Column, Table
from tests.support.doors import fails, run, succeeds
from tests.support.indexed_tables import index_tables
from tests.support.word_encoder import WordEncoder

TABLES = [
    (Table("lake/rivers", (Column("river", ""), Column("length_km", "")), 1, ""), [("Rhine", "1")]),
    (Table("lake/salaries", (Column("employee", ""), Column("salary", "")), 1, ""), [("Ann", "2")]),
]
RUN = ["bench", "run"]
SIDES = ["--alpha", "0.5"]


@pytest.fixture
def index(here):
    encoder = WordEncoder()
    home = here / ".pneuma"
    with closing(
        open_index(IndexConfig(), home, encoder.name, encoder.dimension, building=True)
    ) as index:
        index_tables(index, encoder, TABLES)
    yield
    with closing(open_index(IndexConfig(), home, encoder.name, encoder.dimension)) as index:
        assert set(index.list_tables()) == {table.table_id for table, _ in TABLES}


def asked(here, *lines):
    path = here / "q.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return ["--queries", path]


ANN = {"question": "employee Ann salary", "tables": ["lake/salaries"], "kind": "who"}
RIVER = {"question": "length of the river Rhine", "tables": ["lake/rivers"], "kind": "what"}
NONE = {"question": "wind at the harbour", "tables": []}


def test_one_object_with_every_figure(here, index):
    answers = here / "answers.jsonl"
    given = asked(here, ANN, RIVER, NONE)
    found = json.loads(succeeds(*RUN, *given, *SIDES, "--json", "--answers", answers))
    for name in ("R@1", "R@5", "R@10", "all@5", "recall@10", "MRR", "nDCG@10"):
        low, high = found["intervals"][name]
        assert 0 <= low <= found[name] <= high <= 1
    assert found["options"] == {"alpha": 0.5}
    assert (found["questions"], found["unanswerable"]) == (2, 1)
    assert found["R@1"] == 1
    assert {*found["kinds"]} == {"who", "what"}
    records = [json.loads(line) for line in answers.read_text().splitlines()]
    assert [record["tables"] for record in records] == [["lake/salaries"], ["lake/rivers"], []]
    assert [record["rank"] for record in records] == [1, 1, None]


def test_a_table_for_people(here, index):
    lines = succeeds(*RUN, *asked(here, ANN, RIVER, NONE)).splitlines()
    assert any(line.startswith("R@1 ") and " to " in line for line in lines)
    assert ["questions", "number", "R@1", "R@5", "R@10", "MRR"] in [one.split() for one in lines]
    assert lines[-1].startswith("2 questions, and 1 that no table answers")


@pytest.mark.parametrize(
    ("record", "options", "told"),
    [
        ({"question": "employee", "tables": ["salaries"]}, [], "no table has the id 'salaries'"),
        ({"question": " ", "tables": []}, [], "line 1: 'question' must be a text"),
        ({"question": "employee"}, [], "'tables' must be a list"),
        (ANN, ["-k", "0"], "k must be a whole number from 1"),
    ],
)
def test_wrong_questions_and_options(here, index, record, options, told):
    assert told in fails(1, *RUN, *asked(here, record), *options)


def test_figures_are_shown_also_where_the_answers_cannot_be_written(here, index):
    (here / "file").write_text("")
    result = run(*RUN, *asked(here, ANN), "--answers", "file/it.jsonl")
    assert result.exit_code == 1, result.output
    assert "error: cannot write file/it.jsonl" in result.stderr
    assert "R@1" in result.stdout


def test_an_index_that_there_is_not_cannot_be_asked(here):
    assert "pneuma-assets index" in fails(1, *RUN, *asked(here, ANN))


def test_descriptions_are_measured_of_tables_that_are_indexed(here, index):
    command = ["bench", "narrations", "--gold", "g.jsonl", "--json"]
    for table in ("lake/rivers", "rivers"):
        lines = [{"table": table, "column": one, "gold": one} for one in ("river", "km", "year")]
        (here / "g.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        if table == "rivers":
            assert "no indexed table has the id 'rivers'" in fails(2, *command)
        else:
            assert json.loads(succeeds(*command))["name"] == 1
