"""Questions about tables go with what they were made of; how they were answered is kept."""

from dataclasses import replace

import pytest

from pneuma_assets.core.store import questions
from pneuma_assets.core.store.questions import MinedQuestion, Tried
from pneuma_assets.core.store.queue import Finished
from pneuma_assets.core.tables import Column, Table, TableRef

A, B = (
    TableRef(f"lake/{name}", "lake", f"/{name}.csv", "csv", "1", identity=name)
    for name in ("a", "b")
)
QUESTIONS = [
    MinedQuestion("2", "name", "lake/a", "Which table has a?", {"needs": {"names": ["a"]}}, "1"),
    MinedQuestion("1", "value", "lake/b", "Which table has x\0 and \ud800?", {}, "1"),
]


@pytest.fixture
def indexed(store):
    store.listings.sync("lake", [A, B])
    store.queue.claim("run", 100, 3, ["lake"])
    for ref in (A, B):
        store.queue.save_profiles("run", [Table(ref.table_id, (Column("x", "TEXT"),), 1, "")])
    store.queue.finish("run", [Finished(ref.table_id, "h", 1) for ref in (A, B)])
    store.questions.replace(QUESTIONS, seen(store))
    return store


def test_when_tables_came_is_counted_in_measurements(store):
    assert store.questions.arrivals(["a", "b"]) == {"a": 0, "b": 0}
    first = store.questions.add(
        "k", {}, {"1": 2, "2": None, "3": 1}, {"1": [1], "2": [1, 1], "3": []}
    )
    assert store.questions.arrivals(["a", "b", "c"]) == {"a": 0, "b": 0, "c": 2}
    store.questions.add("k", {}, {"1": 1})
    assert store.questions.arrivals(["a", "c", "d"]) == {"a": 0, "c": 2, "d": 3}
    assert store.questions.arrivals(["b"]) == {"b": 3}, "it left, and came again"
    kept = store.questions.measurements()
    assert kept[0] == first
    assert (kept[0].newer, kept[1].newer) == ({"1": [1], "2": [1, 1]}, {})
    assert kept[0].places == {"1": 2, "2": None, "3": 1}


def test_what_was_measured_before_anybody_noted_it_was_there(store):
    store.questions.add("k", {}, {"1": 1})
    assert store.questions.arrivals(["a"]) == {"a": 0}


def seen(store) -> dict[str, float]:
    return store.questions.seen(["lake/a", "lake/b"])


def asked_about(store) -> list[str]:
    return [one.table_id for one in store.questions.all()]


def test_questions_are_kept_in_order_until_others_replace_them(indexed):
    assert indexed.questions.all()[0] == QUESTIONS[0]
    assert indexed.questions.all()[1].question == "Which table has x\ufffd and ??"
    indexed.questions.drop(["2", "unknown"])
    assert asked_about(indexed) == ["lake/b"]
    indexed.questions.replace([replace(QUESTIONS[0], question_id="3")], seen(indexed))
    assert [one.question_id for one in indexed.questions.all()] == ["3"]
    indexed.check()


def test_questions_made_of_what_was_hidden_meanwhile_are_not_kept(indexed):
    for waits in (False, True):  # what waits to be made anew has no version either
        if waits:
            indexed.queue.mark_pending(["lake/a", "lake/b"])
        before = seen(indexed)
        made = [replace(one, version=None if waits else "1") for one in QUESTIONS]
        indexed.questions.replace(made, before)
        assert asked_about(indexed) == ["lake/a", "lake/b"]
        indexed.privacy.forget(["lake/a"])
        indexed.questions.replace(made, before)
        assert asked_about(indexed) == ["lake/b"]
        index_again(indexed)
        indexed.questions.replace(made, before)
        assert "lake/a" not in asked_about(indexed), "it was read by another rule"


def index_again(store) -> None:
    store.listings.sync("lake", [A, B])
    store.queue.claim("again", 100, 3, ["lake"])
    held = [item.ref.table_id for item in store.queue.claimed("again")]
    store.queue.finish("again", [Finished(one, "h", 1) for one in held])


@pytest.mark.parametrize(
    "forget",
    [
        lambda store: store.privacy.forget(["lake/a"]),
        lambda store: store.privacy.forget_rows(["lake/a"]),
        lambda store: store.removals.retract("lake/a"),
        lambda store: store.renaming.columns("lake/a", {"x": "y"}),
        lambda store: store.renaming.take_over("lake/a", "lake/c"),
        lambda store: store.listings.sync(
            "lake", [replace(A, table_id="lake/c", location="/c.csv"), B]
        ),
    ],
    ids=["rules", "rows", "refused", "column renamed", "seen as renamed", "listed as renamed"],
)
def test_what_may_not_be_kept_of_a_table_takes_its_questions_along(indexed, forget):
    forget(indexed)
    assert asked_about(indexed) == ["lake/b"]
    indexed.check()


def test_a_table_that_left_takes_its_questions_along(indexed):
    indexed.listings.sync("lake", [B], rule=None)
    assert asked_about(indexed) == ["lake/a", "lake/b"], "the index may still find it"
    indexed.removals.forget(indexed.removals.gone())
    assert asked_about(indexed) == ["lake/b"]


def test_columns_that_keep_their_names_keep_their_questions(indexed):
    indexed.renaming.columns("lake/a", {})
    assert asked_about(indexed) == ["lake/a", "lake/b"]


def test_the_history_is_bounded_and_counts_on(store, monkeypatch):
    monkeypatch.setattr(questions, "MOST_KEPT", 3)
    assert store.questions.accept() is False
    for number in range(5):
        added = store.questions.add(f"key {number}", {"R@1": number / 5}, {"q": None, "p": number})
        assert store.questions.measurements()[-1] == added
    kept = store.questions.measurements()
    assert [one.number for one in kept] == [3, 4, 5]
    assert kept[-1].places == {"q": None, "p": 4}
    assert kept[0].measured_at <= kept[-1].measured_at
    assert store.questions.accept() is True
    assert [one.accepted for one in store.questions.measurements()] == [False, False, True]
    store.check()


def test_what_was_tried_is_known(store):
    assert store.questions.tried() == Tried()
    store.questions.mark_tried("one")
    store.questions.mark_tried("another", "no model")
    assert store.questions.tried() == Tried("another", "no model")
