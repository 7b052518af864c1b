"""What people say of answers: found for the same question in other words, for who may see it."""

import shutil
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from pneuma_assets import ConfigError, IndexFilter, QueryError, open_workspace
from pneuma_assets.core.errors import StateError
from pneuma_assets.index_run import run_indexing
from tests.support.indexed_home import make_home
from tests.support.stages import run_stages
from tests.support.word_encoder import DOORS, WordEncoder

TABLES = {
    "open/rain.csv": "month,millimetres rain\nmay,3\njune,4\n",
    "open/snow.csv": "month,centimetres snow\nmay,0\njune,1\n",
    "pay/salaries.csv": "employee,salary euros\nann,5\nbob,6\n",
}
QUESTION = "How many millimetres of rain fell each month?"
PARAPHRASE = "how many millimetres of rain each month fell"
ANA, NOBODY = ("finance",), ()


FILE = """
home: home
sources:
  - {type: folder, name: open, path: open}
  - {type: folder, name: pay, path: pay, readers: [finance]}
"""


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Path:
    return make_home(tmp_path_factory.mktemp("lake"), TABLES, FILE).parent


@pytest.fixture
def workspace(here, lake):
    shutil.copytree(lake, here, dirs_exist_ok=True)
    with open_workspace() as opened:
        yield opened


def test_a_paraphrase_finds_what_was_confirmed(workspace):
    answer_id = workspace.confirm_answer(
        QUESTION, ["open/rain"], sql="SELECT 1", author="ana", door="page"
    )
    (found,) = workspace.confirmed_answers(PARAPHRASE)
    assert found.similarity > 0.9
    told = (found.answer_id, found.question, found.tables, found.sql, found.author, found.door)
    assert told == (answer_id, QUESTION, ("open/rain",), "SELECT 1", "ana", "page")
    assert found.said_at.endswith("+00:00")
    searched = workspace.search(PARAPHRASE)
    assert searched.confirmed == (found,)
    assert workspace.search(QUESTION, words_only=True).confirmed[0].similarity == 1.0
    assert workspace.search("what do employees earn").confirmed == ()
    assert workspace.table("open/rain").questions == (QUESTION,)
    workspace.forget_answer(answer_id)
    assert workspace.confirmed_answers() == workspace.confirmed_answers(QUESTION) == []
    assert workspace.search(PARAPHRASE).confirmed == ()


def test_an_answer_is_there_for_those_alone_who_may_see_all_of_its_tables(workspace):
    both = workspace.confirm_answer(
        "rain and salaries", ["open/rain", "pay/salaries"], author="secret ann"
    )
    for readers, seen in ((None, [both]), (ANA, [both]), (NOBODY, [])):
        where = IndexFilter(readers=readers)
        found = workspace.confirmed_answers(readers=readers)
        assert [one.answer_id for one in found] == seen
        asked = workspace.confirmed_answers("rain and salaries", readers=readers)
        assert [one.answer_id for one in asked] == seen
        searched = workspace.search("rain and salaries", where=where)
        assert [one.answer_id for one in searched.confirmed] == seen
        assert ("secret ann" in str(searched)) is bool(seen)
        assert len(workspace.table("open/rain", readers=readers).questions) == len(seen)
    hidden, absent = "pay/salaries", "pay/nothing"
    told = []
    for table in (hidden, absent):
        with pytest.raises(ConfigError) as refused:
            workspace.confirm_answer("q w", [table], readers=NOBODY)
        told.append(str(refused.value).replace(table, "X"))
    assert told[0] == told[1]
    with pytest.raises(ConfigError, match="unknown answer"):
        workspace.forget_answer(both, readers=NOBODY)
    with pytest.raises(ConfigError, match="unknown answer"):
        workspace.forget_answer(both, author="ben")
    workspace.forget_answer(both, author="secret ann", readers=ANA)


def test_a_rejected_table_stands_behind_for_all_and_its_question_is_one_that_fails(workspace):
    assert workspace.ask(QUESTION)[0].table_id == "open/rain"
    wrong = workspace.confirm_answer(QUESTION, ["open/rain"], confirmed=False, author="ana")
    last = workspace.ask(PARAPHRASE)[-1]
    assert (last.table_id, last.rejected) == ("open/rain", True)
    assert not any(one.rejected for one in workspace.ask("rain"))
    assert workspace.search(PARAPHRASE).confirmed == ()
    total, (failed,) = workspace.failing_questions()
    assert (total, failed.question, failed.outcome) == (1, QUESTION, "rejected")
    workspace.forget_answer(wrong)
    assert workspace.failing_questions() == (0, [])
    assert workspace.ask(PARAPHRASE)[0].table_id == "open/rain"


def test_a_table_that_left_is_shown_as_gone_and_one_that_was_renamed_is_followed(here, workspace):
    workspace.confirm_answer("rain", ["open/rain"])
    workspace.confirm_answer("snow", ["open/snow"])
    (here / "open/rain.csv").rename(here / "open/rainfall.csv")
    (here / "open/snow.csv").unlink()
    run_stages(workspace.loaded)
    found = {one.question: (one.tables, one.gone) for one in workspace.confirmed_answers()}
    assert found["rain"] == (("open/rainfall",), ())
    assert found["snow"] == (("open/snow",), ("open/snow",))
    assert [one.question for one in workspace.confirmed_answers(readers=NOBODY)] == ["rain"]


def test_questions_that_fail(workspace):
    for spelled in ("Unicorns in 3.5 m C++?", "unicorns, in  3.5 m  c++", "unicorns in 35 m C++"):
        workspace.note_question(spelled, "refused", door="page")
    total, some = workspace.failing_questions(limit=1)
    assert (total, len(some)) == (2, 1)
    _, both = workspace.failing_questions()
    assert sorted(one.times for one in both) == [1, 2]
    workspace.note_question("UNICORNS in 35 m (C++)", "answered", door="page")
    workspace.note_question("Unicorns in 3.5 m 'C++'!", "answered", door="page")
    assert workspace.failing_questions() == (0, [])
    workspace.note_question("a", "refused", door="page")
    workspace.note_question("b", "refused", door="page")
    _, both = workspace.failing_questions()
    assert {one.question for one in both} == {"a", "b"}
    assert workspace.forget_questions([both[0].question_id]) == 1
    assert workspace.failing_questions() == (1, [both[1]])
    assert workspace.forget_questions() == 1


def test_nothing_of_questions_that_fail_is_kept_with_the_switch_off(workspace, here, read_here):
    workspace.note_question("unicorns", "refused", door="page")
    workspace.close()
    file = here / "pneuma.yaml"
    file.write_text(file.read_text() + "web: {usage_days: 0}\n")
    with open_workspace() as opened:
        run_indexing(opened.loaded)
        for state in ("state.db", "state.db.backup"):
            assert b"unicorns" not in (here / "home" / state).read_bytes()
        opened.note_question("unicorns", "refused", door="page")
        opened.confirm_answer("rain", ["open/rain"], confirmed=False)
        assert opened.failing_questions() == (0, [])
        assert len(opened.confirmed_answers()) == 1


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"question": "?!"}, "no words"),
        ({"question": "q" * 1_001}, "more than 1,000 characters"),
        ({"question": 3}, "must be a str"),
        ({"tables": []}, "name the tables"),
        ({"tables": "open/rain"}, "must be a list"),
        ({"tables": [3]}, "must be a str"),
        ({"tables": [f"open/{n}" for n in range(30)]}, "1 to 20"),
        ({"tables": ["open/rian"]}, "did you mean open/rain"),
        ({"sql": "x" * 20_001}, "more than 20,000 characters"),
        ({"sql": "SELECT pay FROM wages"}, "reads 'wages'; name that table, too"),
        ({"sql": "SELECT * FROM rain, (SELECT * FROM hr.wages)"}, "reads 'wages'"),
        ({"sql": "DROP TABLE rain"}, "cannot be kept"),
        ({"author": "x" * 101}, "more than 100 characters"),
    ],
)
def test_what_cannot_be_kept_is_refused(workspace, given, told):
    wanted = {"question": QUESTION, "tables": ["open/rain"], "author": "ana", **given}
    with pytest.raises(ConfigError, match=told):
        workspace.confirm_answer(**wanted)
    assert workspace.confirmed_answers() == []


def test_one_thread_at_most_waits_to_note_a_question_while_the_state_is_written(workspace, here):
    def note(question):
        workspace.note_question(question, "refused", door="page")

    note("first")
    with closing(sqlite3.connect(here / "home" / "state.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        threads = [threading.Thread(target=note, args=(f"question {n}",)) for n in range(5)]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 20
        while sum(map(threading.Thread.is_alive, threads)) > 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert sum(map(threading.Thread.is_alive, threads)) == 1
        other.execute("ROLLBACK")
    for thread in threads:
        thread.join()
    assert workspace.failing_questions()[0] == 6


def test_an_answer_is_found_for_a_table_that_was_renamed_since(workspace):
    workspace.confirm_answer(QUESTION, ["open/rain"])
    assert workspace.search(PARAPHRASE).confirmed[0].tables == ("open/rain",)
    workspace.store.renaming.take_over("open/rain", "open/snow")
    (found,) = workspace.search(PARAPHRASE).confirmed
    assert (found.tables, found.gone) == (("open/snow",), ())


def test_other_arguments_that_are_refused(workspace):
    with pytest.raises(ConfigError, match="outcome must be one of"):
        workspace.note_question("q", "abandoned", door="page")
    for limit in (0, True, 1_001, "1"):
        with pytest.raises(ConfigError, match="limit must be a whole number from 1 to 1,000"):
            workspace.confirmed_answers(limit=limit)
    with pytest.raises(ConfigError, match="offset must be a whole number from 0 to"):
        workspace.failing_questions(offset=-1)
    with pytest.raises(ConfigError, match="offset must be a whole number from 0 to"):
        workspace.failing_questions(offset=10**5_000)
    with pytest.raises(QueryError, match="no words"):
        workspace.confirmed_answers("?")


def test_questions_are_embedded_again_for_another_encoder(workspace):
    workspace.confirm_answer(QUESTION, ["open/rain"])

    class Other(WordEncoder):
        name = "other words"

    with pytest.MonkeyPatch.context() as patched:  # `here` has patched them, and ends first
        for door in DOORS:
            patched.setattr(door, lambda *_: Other())
        run_stages(workspace.loaded)
        with open_workspace() as opened:
            assert len(opened.confirmed_answers(PARAPHRASE)) == 1


def test_a_state_that_cannot_be_written_keeps_nobody_from_an_answer(workspace, monkeypatch, caplog):
    def locked(*_):
        raise StateError("the state is locked")

    monkeypatch.setattr("pneuma_assets.core.store.usage.Usage.note", locked)
    workspace.note_question("unicorns", "refused", door="page")
    assert "the state is locked" in caplog.text
