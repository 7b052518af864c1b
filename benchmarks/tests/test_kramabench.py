"""KramaBench's tasks are read as they are, asked in two ways, and scored by its rules."""

import json

import pytest

from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.experiments import kramabench
from pneuma_bench.models import ENDPOINT, PERSON
from pneuma_bench.seek.kramabench import Task, is_right, read_workload, score_of
from tests.support import seek_lake
from tests.support.scripted_model import act, say, scripted_model


def task(kind, answer, **more):
    return Task(id="t-1", query="q", answer=answer, answer_type=kind, **more)


@pytest.mark.parametrize(
    ("kind", "gold", "rows", "score"),
    [
        ("numeric_exact", 8577.5298, [["Malta", 8577.53]], 1),
        ("numeric_exact", 8577.5298, [[8615.3619]], 0),
        ("numeric_exact", 100_000, [[100_001]], 0),
        ("numeric_exact", 100_000, [[100_001.0]], 1),
        ("numeric_exact", 75, [["75%"]], 1),
        ("numeric_exact", 4, [[4], [5]], 0),
        ("numeric_approximate", 100, [[150]], 1 / 1.5),
        ("numeric_approximate", 0.5, [["50%"]], 1),
        ("numeric_approximate", 0.5, [["many"]], 0),
        ("string_exact", "Malta", [[" MALTA "]], 1),
        ("string_exact", "Malta", [["Gozo"]], 0),
        ("string_exact", "Malta", [], 0),
        ("string_approximate", "in Malta", [["alike"]], 1),
        ("string_approximate", "in Malta", [["other"]], 0),
        ("string_approximate", "in Malta", [["unheard"]], None),
        ("list_exact", ["a", "b"], [["A", 1], ["c", 2]], 0.5),
        ("list_exact", [1, 2.0], [[2], [1.01]], 0.5),
        ("list_approximate", [1, 2.0], [[2], [1.009]], 1),
        ("list_approximate", ["x"], [["alike"], ["other"]], 2 / 3),
        ("list_approximate", ["x"], [["unheard"]], None),
    ],
)
def test_an_answer_is_worth_what_its_type_says(kind, gold, rows, score):
    heard = {"alike": True, "other": False}
    found = score_of(rows, task(kind, gold), lambda mine, _: heard.get(mine))
    assert found == (score if score is None else pytest.approx(score))


def test_of_several_accepted_answers_the_best_counts():
    either = task("numeric_exact", 1, accepted_answers=[2])
    assert score_of([[2]], either, lambda *_: None) == 1


def test_an_approximate_number_is_right_within_a_hundredth():
    about = task("numeric_approximate", 100)
    assert [is_right(score_of([[n]], about, lambda *_: None), about) for n in (101, 102)] == [
        True, False
    ]  # fmt: skip


COST = task("numeric_exact", seek_lake.EXPECTED).model_dump() | {
    "query": "What do new tariffs cost us in all?", "data_sources": ["trade/tariffs.csv"],
    "subtasks": [{"id": "t-1-1", "step": "Read both."}],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A checkout's form: a domain of four tasks, of which one has no table."""
    seek_lake.write_lake(tmp_path / "data/trade/input", seek_lake.LAKE)
    tasks = [COST | {"id": f"t-{n}"} for n in range(1, 4)]
    (tmp_path / "workload").mkdir()
    (tmp_path / "workload/trade.json").write_text(json.dumps(tasks))
    return tmp_path


def test_what_is_no_workload_is_refused(folder):
    assert [one.id for one in read_workload(folder, "trade")] == ["t-1", "t-2", "t-3"]
    (folder / "workload/odd.json").write_text('[{"id": "x"}]')
    for name in ("odd", "none"):
        with pytest.raises(BenchmarkError, match="no workload"):
            read_workload(folder, name)


def written(sql):
    """Return a statement as the model of `answers` gives it."""
    return {"plan": "", "set": 1, "sql": sql, "missing": None, "other_reading": None}


@pytest.mark.integration
@pytest.mark.usefixtures("small_encoder", "read_here")
def test_a_folder_is_indexed_and_asked_in_both_ways(folder, monkeypatch, capsys):
    cost = f"SELECT {seek_lake.EXPECTED} + 0 * count(country) FROM tariffs"
    none = written(None) | {"missing": "all of it"}
    answers = [written(cost), none, "no idea", "no idea"]
    made = [act("materialize"), seek_lake.STEPS, act("run"), say()]
    talk = [seek_lake.FOUND, seek_lake.CHANGE, say("Shall I?"), *made]
    opens = {"thought": "", "is_goal": False, "is_answered": False, "agrees": False, "text": "Hm."}
    agrees, done = opens | {"agrees": True}, opens | {"is_goal": True, "is_answered": True}
    person = [opens, agrees, done, "no idea"]
    asked = [str(folder), "trade", "--keep", str(folder / "kept")]
    with scripted_model(*answers) as (here, _), scripted_model() as (there, _):
        monkeypatch.setenv(ENDPOINT, here.url)
        monkeypatch.setenv(PERSON, there.url)
        kramabench.main([*asked, "--ways", "answer"])
    told = capsys.readouterr().out
    assert "answer: score 0.500, 1 of 2 right, 0 wrong, 1 not answered" in told
    assert "not counted: 1 no reply, 0 not judged" in told
    with (
        scripted_model(*talk) as (here, _),
        scripted_model(*map(json.dumps, person[:3]), *person[3:]) as (there, _),
    ):
        monkeypatch.setenv(ENDPOINT, here.url)
        monkeypatch.setenv(PERSON, there.url)
        kramabench.main([*asked, "--ways", "conversation", "--tasks", "2"])
    told = capsys.readouterr().out
    assert "conversations: 1 of 1 converged within 15 turns (median 2)" in told
    assert "conversation: score 1.000, 1 of 1 right" in told
    assert "not counted: 1 no reply" in told
