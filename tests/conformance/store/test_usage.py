"""What people say of answers is kept until they forget it; questions that failed, for some days."""

import json
import time

import numpy as np
import pytest

from pneuma_assets.core.answer_feedback import SavedAnswer
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store import usage
from pneuma_assets.core.store.renaming import move_tables
from tests.conformance.store.lake import ref

RAIN = SavedAnswer("", "How much rain fell?", ("lake/a",), "", True, "ana", "page")


def said(store) -> list[tuple]:
    return [(one.question, one.tables, one.confirmed, one.author) for one in store.usage.answers()]


def test_the_last_word_on_the_same_answer_counts(store):
    empty = store.usage.stamp()
    first = store.usage.say(RAIN)
    again = SavedAnswer("", "how much  RAIN fell?", ("lake/a",), "", False, "ben", "cli")
    assert store.usage.say(again) == first
    assert said(store) == [("how much  RAIN fell?", ("lake/a",), False, "ben")]
    before = store.usage.stamp()
    other = store.usage.say(
        SavedAnswer("", RAIN.question, ("lake/a",), "SELECT 1", True, "ana", "x")
    )
    assert other != first, "a statement is another answer than its tables"
    assert len({empty, before, store.usage.stamp()}) == 3
    assert store.usage.forget(first)
    assert not store.usage.forget(first)
    assert [one.sql for one in store.usage.answers()] == ["SELECT 1"]


def test_no_more_are_kept_than_each_question_can_be_compared_with(store, monkeypatch):
    monkeypatch.setattr(usage, "MOST_ANSWERS", 1)
    store.usage.say(RAIN)
    store.usage.say(RAIN)
    with pytest.raises(StateError, match="answers are kept, the most"):
        store.usage.say(SavedAnswer("", "another", ("lake/a",), "", True, "ana", "page"))


def test_an_answer_follows_its_tables_to_their_new_names(store):
    store.listings.sync("lake", [ref("a"), ref("b")])
    both = SavedAnswer("", "both", ("lake/a", "lake/b"), "", True, "ana", "page")
    first, second = store.usage.say(RAIN), store.usage.say(both)
    before = store.usage.stamp()
    with store._db.write() as connection:
        move_tables(connection, {"lake/a": "lake/b"})
    assert store.usage.stamp() != before
    kept = {one.answer_id: one.tables for one in store.usage.answers()}
    assert kept == {first: ("lake/b",), second: ("lake/b",)}


def test_the_embedding_of_a_question_goes_with_its_answer(store):
    answer_id, vector = store.usage.say(RAIN), np.array([0.6, 0.8], np.float32)
    store.usage.keep_vectors("words", {answer_id: (RAIN.question, vector)})
    assert store.usage.vectors("words", [RAIN.question])[RAIN.question].tolist() == vector.tolist()
    assert store.usage.vectors("others", [RAIN.question]) == {}
    assert store.embeddings.known("words", [RAIN.question]) == {}, "no document says this"
    assert store.embeddings.tables() == set()
    store.embeddings.prune([])
    assert store.usage.vectors("words", [RAIN.question]), "an answer has it"
    store.usage.forget(answer_id)
    assert store.usage.vectors("words", [RAIN.question]) == {}


def failed(store, days=90):
    total, some = store.usage.failed(days, 10, 0)
    assert total == len(some)
    return [(one.question, one.outcome, one.times, one.door) for one in some]


def test_questions_that_failed_are_counted_and_settled(store):
    store.usage.note("Who?\0", "refused", "page", 90)
    store.usage.note("who\0", "refused", "mcp", 90)
    store.usage.note("Who?\0", "rejected", "page", 90)
    assert sorted(failed(store)) == [
        ("Who?\ufffd", "rejected", 1, "page"), ("who\ufffd", "refused", 2, "mcp")
    ]  # fmt: skip
    store.usage.settle("WHO?\0", ["refused"])
    store.usage.settle("nobody asked this", ["refused"])
    assert [one[1] for one in failed(store)] == ["rejected"]
    assert store.usage.forget_failed() == 1
    assert failed(store) == []


def test_questions_that_failed_long_ago_are_forgotten(store, monkeypatch):
    monkeypatch.setattr(usage, "MOST_FAILED", 2)
    for question in ("one", "two", "three"):
        store.usage.note(question, "refused", "page", 90)
        time.sleep(0.003)  # SQLite's clock counts milliseconds
    assert [one[0] for one in failed(store)] == ["three", "two"]
    monkeypatch.setattr(usage, "_DAY", 0.5 / 90)
    time.sleep(0.6)  # longer than one statement after another takes on a busy machine
    assert failed(store) == []
    store.usage.note("four", "refused", "page", 90)
    monkeypatch.undo()
    assert [one[0] for one in failed(store)] == ["four"]
    store.usage.note("x" * 5_000, "refused", "page", 90)
    assert len(failed(store)[0][0]) == 1_000


def test_what_was_said_is_kept_beside_a_state_file(store, state):
    if not hasattr(state, "with_name"):
        pytest.skip("a server has no file of its own")
    answer_id = store.usage.say(RAIN)
    lines = state.with_name("said.jsonl").read_text().splitlines()
    (line,) = map(json.loads, lines)
    assert (line["said"], line["question"]) == ("answers", RAIN.question)
    store.usage.forget(answer_id)
    assert state.with_name("said.jsonl").read_text() == ""
