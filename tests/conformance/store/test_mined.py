"""Questions about tables go with what they were made of; how they were answered is kept."""

from dataclasses import replace

import pytest

from pneuma_assets.core.store import questions
from pneuma_assets.core.store.questions import MinedQuestion, Tried
from tests.conformance.store.lake import finish, index, ref, table

A, B = ref("a", identity="a"), ref("b", identity="b")
QUESTIONS = [
    MinedQuestion("2", "name", "lake/a", "Which table has a?", {"needs": {"names": ["a"]}}, "1"),
    MinedQuestion("1", "value", "lake/b", "Which table has x\0 and \ud800?", {}, "1"),
]


@pytest.fixture
def indexed(store):
    store.listings.sync("lake", [A, B])
    store.queue.claim("run", 100, 3, ["lake"])
    store.queue.save_profiles("run", [table("a", "x"), table("b", "x")])
    finish(store, "a", "b")
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


def seen(store) -> dict[str, float]:
    return store.questions.seen(["lake/a", "lake/b"])


def asked_about(store) -> list[str]:
    return [one.table_id for one in store.questions.all()]


def test_questions_are_kept_in_order_until_others_replace_them(indexed):
    assert indexed.questions.all()[0] == QUESTIONS[0]
    assert indexed.questions.all()[1].question == "Which table has x\ufffd and ??"
    indexed.renaming.columns("lake/a", {})
    assert asked_about(indexed) == ["lake/a", "lake/b"], "its columns keep their names"
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
        index(indexed, "a", "b")
        indexed.questions.replace(made, before)
        assert "lake/a" not in asked_about(indexed), "it was read by another rule"


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
    assert store.questions.arrivals(["a"]) == {"a": 0}, "it was measured before anybody noted it"
    assert store.questions.tried() == Tried()
    for tried in (("one",), ("another", "no model")):
        store.questions.mark_tried(*tried)
    assert store.questions.tried() == Tried("another", "no model")
    store.check()
