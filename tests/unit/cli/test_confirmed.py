"""Answers are confirmed, listed, measured and forgotten by commands."""

import json

import pytest

from tests.support.doors import fails, run, succeeds
from tests.support.indexed_home import make_home

QUESTION = "how much rain fell each month"


@pytest.fixture
def indexed(here):
    lake = {"lake/rain.csv": "month,rain\nmay,3\n", "lake/snow.csv": "month,snow\nmay,0\n"}
    make_home(here, lake)


def test_an_answer_from_confirming_it_to_forgetting_it(here, indexed):
    assert "No answers confirmed" in succeeds("confirmed")
    assert fails(1, "bench", "run", "--confirmed").endswith("run: pneuma-assets confirm")
    (here / "q.sql").write_text("SELECT rain FROM rain")
    given = "confirm", QUESTION, "lake/rain", "--author", "ana", "--sql", "q.sql", "--json"
    answer_id = json.loads(succeeds(*given))["answer_id"]
    assert "rejected as" in succeeds("confirm", QUESTION, "lake/snow", "--wrong")
    listed = succeeds("confirmed", "how much rain each month fell")
    assert answer_id in listed
    assert "lake/rain, SQL" in listed
    both = json.loads(succeeds("confirmed", "--json"))
    assert {one["confirmed"] for one in both} == {True, False}
    assert "answers: 1 confirmed, 1 rejected" in succeeds("status")
    assert json.loads(succeeds("status", "--json"))["answers"] == {"confirmed": 1, "rejected": 1}
    found = succeeds("search", QUESTION)
    assert "rejected for such a question" in found
    assert "confirmed by ana" in found
    assert 'SELECT "rain"."rain" FROM "rain"' in found
    assert "confirmed by" not in succeeds("search", "penguins of the north")
    figures = json.loads(succeeds("bench", "run", "--confirmed", "--json"))
    assert (figures["questions"], figures["MRR"]) == (1, 1.0)
    assert figures["kinds"]["confirmed"]["MRR"] == 1.0
    assert "1 questions failed" in succeeds("confirmed", "--failing")
    assert json.loads(succeeds("confirmed", "--failing", "--json"))["total"] == 1
    assert "forgot 1 questions" in succeeds("confirmed", "--failing", "--clear")
    succeeds("confirmed", "--forget", answer_id)
    assert "unknown answer" in fails(1, "confirmed", "--forget", answer_id)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["confirmed", QUESTION, "--failing"], "give one of"),
        (["confirmed", "--clear"], "goes with --failing"),
        (["confirmed", "--failing", "--as", "ana"], "operators alone"),
        (["bench", "run"], "give --queries FILE, or --confirmed"),
        (["confirm", QUESTION, "lake/rain", "--sql", "absent.sql"], "cannot read"),
    ],
)
def test_options_that_do_not_go_together(here, given, told):
    assert told in fails(2, *given)


def test_a_table_that_is_not_there(indexed):
    done = run("confirm", QUESTION, "lake/rian")
    assert done.exit_code == 1
    assert "did you mean lake/rain" in done.stderr
