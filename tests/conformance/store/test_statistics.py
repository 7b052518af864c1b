"""Profiles of columns, and how many rows tables had from when on."""

from itertools import count

import pytest

from pneuma_assets.core.store import profiles as module
from pneuma_assets.core.tables import ColumnProfile
from tests.conformance.store.lake import claim, finish, index, ref, table

WHOLE = ColumnProfile(0.25, 2, True, "1", "30", (("1", 0.5),), ((1.0, 31.0, 3),))
ODD = ColumnProfile(0.0, 10**12, False, "\0", 'é\ud800"', (("", 0.1), ("表\n", 0.05)))
BARE = ColumnProfile(1.0, 0, True)


@pytest.fixture
def indexed(store):
    index(store, "a", "b", "c")
    return store


def profiles(store, *names):
    return {name: dict(store.statistics.column_profiles(f"lake/{name}")) for name in names}


def test_profiles_come_back_as_they_were_and_in_order(indexed, open_store):
    many = {f"c{n}": WHOLE for n in range(1_000)}
    indexed.statistics.save_column_profiles({"lake/a": {"b": ODD, "a": BARE}, "lake/b": many})
    with open_store() as again:
        found = profiles(again, "a", "b", "c", "other")
        assert found == {"a": {"b": ODD, "a": BARE}, "b": many, "c": {}, "other": {}}
        assert list(found["a"]) == ["b", "a"]
        again.check()


def test_a_later_reading_replaces_them_or_leaves_none(indexed):
    indexed.statistics.save_column_profiles({f"lake/{n}": {"x": WHOLE} for n in "abc"})
    indexed.statistics.save_column_profiles({"lake/a": {"y": BARE}, "lake/b": {}})
    assert profiles(indexed, "a", "b", "c") == {"a": {"y": BARE}, "b": {}, "c": {"x": WHOLE}}


LEAVES = {
    "hidden": (lambda store: store.privacy.forget(["lake/a"]), False),
    "rows hidden": (lambda store: store.privacy.forget_rows(["lake/a"]), False),
    "refused": (lambda store: store.removals.retract("lake/a"), True),
}


@pytest.mark.parametrize(("leave", "counts_too"), LEAVES.values(), ids=LEAVES)
def test_what_may_not_be_kept_goes_at_once(indexed, leave, counts_too):
    indexed.statistics.save_column_profiles({"lake/a": {"x": WHOLE}, "lake/b": {"x": WHOLE}})
    indexed.statistics.note_row_counts({"lake/a": 3, "lake/b": 3})
    leave(indexed)
    assert profiles(indexed, "a", "b") == {"a": {}, "b": {"x": WHOLE}}
    assert [n for _, n in indexed.statistics.row_counts("lake/a")] == ([] if counts_too else [3])
    assert [n for _, n in indexed.statistics.row_counts("lake/b")] == [3]


def test_a_table_that_is_gone_leaves_nothing(indexed):
    indexed.statistics.save_column_profiles({"lake/a": {"x": WHOLE}, "lake/b": {"x": WHOLE}})
    indexed.statistics.note_row_counts({"lake/a": 3, "lake/b": 3})
    indexed.listings.sync("lake", [ref("b"), ref("c")], rule=None)
    indexed.removals.forget(["lake/a"])
    assert profiles(indexed, "a", "b") == {"a": {}, "b": {"x": WHOLE}}
    assert indexed.statistics.row_counts("lake/a") == ()


def test_a_renamed_table_keeps_both(store):
    listed = [ref("old", identity="1"), ref("other", identity="2")]
    store.listings.sync("lake", listed, rule=None)
    store.queue.claim("run", 10, 3, ["lake"])
    finish(store, "old", "other")
    store.statistics.save_column_profiles({"lake/old": {"x": WHOLE}})
    store.statistics.note_row_counts({"lake/old": 3})
    before = store.statistics.row_counts("lake/old")
    store.listings.sync("lake", [ref("new", identity="1"), listed[1]], rule=None)
    assert profiles(store, "old", "new") == {"old": {}, "new": {"x": WHOLE}}
    assert store.statistics.row_counts("lake/new") == before
    assert store.statistics.row_counts("lake/old") == ()


def test_a_table_recognised_by_its_rows_keeps_its_row_counts(indexed, monkeypatch):
    monkeypatch.setattr(indexed._db, "now", count().__next__)
    indexed.statistics.note_row_counts({"lake/a": 3})
    indexed.statistics.note_row_counts({"lake/b": 4})
    indexed.renaming.take_over("lake/a", "lake/b")
    assert [n for _, n in indexed.statistics.row_counts("lake/b")] == [3, 4]
    assert indexed.statistics.row_counts("lake/a") == ()


def test_a_row_count_is_noted_when_it_is_another_one(store, monkeypatch):
    claim(store, "a", "b")
    now = store.now()
    monkeypatch.setattr(store._db, "now", count(now).__next__)
    for rows in (10, 10, 7, 7, 10):
        store.queue.save_profiles("run", [table("a", "x", rows=rows), table("b", "x")])
        store.queue.save_profiles("another", [table("b", "x", rows=99)])  # which does not hold it
    at, counts = zip(*store.statistics.row_counts("lake/a"), strict=True)
    assert counts == (10, 7, 10)
    assert at == (now, now + 1, now + 2)
    assert [rows for _, rows in store.statistics.row_counts("lake/b")] == [10]


def test_old_row_counts_grow_thin(indexed, monkeypatch):
    monkeypatch.setattr(module, "COUNTS_KEPT", 8)
    monkeypatch.setattr(indexed._db, "now", count().__next__)
    for rows in range(100):
        indexed.statistics.note_row_counts({"lake/a": rows, "lake/b": rows % 2 if rows < 5 else 1})
        assert len(indexed.statistics.row_counts("lake/a")) <= 8
    counts = [rows for _, rows in indexed.statistics.row_counts("lake/a")]
    assert counts[0] == 0, "the first one stays"
    assert counts[-3:] == [97, 98, 99]
    assert counts == sorted(counts)
    assert [rows for _, rows in indexed.statistics.row_counts("lake/b")] == [0, 1, 0, 1, 0, 1]
