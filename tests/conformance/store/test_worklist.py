"""The work list decides what is indexed, so its rules are tested one by one."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import update

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Finished, Sampled, Stage
from pneuma_assets.core.store.schema import meta
from pneuma_assets.core.store.tables import TableState
from pneuma_assets.core.tables import Problem, RowMark
from tests.conformance.store.lake import claim, finish, held, index, ref, states, table

PROFILED, SAMPLED, NARRATED = Stage.PROFILED, Stage.SAMPLED, Stage.NARRATED


def test_new_tables_wait_and_are_claimed_once(store):
    listed = store.listings.sync("lake", [ref("a"), ref("b")])
    assert (listed.new, listed.changed, listed.unchanged, listed.gone) == (2, 0, 0, 0)
    assert store.queue.claim("run", 10, 3, ["warehouse"]) == 0, "of another source"
    assert store.queue.claim("run1", 1, 3, ["lake"]) == 1
    assert store.queue.claim("run2", 10, 3, ["lake"]) == 1
    assert store.queue.claim("run3", 10, 3, ["lake"]) == 0
    assert held(store, "run2") == {"lake/b": "listed"}


def test_a_table_waits_when_its_version_is_another_also_while_it_is_indexed(store):
    index(store, "a")
    store.listings.sync("lake", [ref("a")])
    assert states(store) == {"lake/a": "indexed"}
    for version in "23":
        store.queue.claim("run", 10, 3, ["lake"])
        store.listings.sync("lake", [ref("a", version)])
        finish(store, "a")
        assert states(store) == {"lake/a": "pending"}
    assert store.queue.claim("next", 10, 3, ["lake"]) == 1


def test_absent_tables_are_gone_and_come_back(store):
    store.listings.sync("lake", [ref("a"), ref("b")])
    assert store.listings.sync("lake", [ref("a")]).gone == 1
    assert store.removals.gone() == ["lake/b"]
    assert store.listings.sync("lake", [ref("a"), ref("b")]).changed == 1
    assert states(store) == {"lake/a": "pending", "lake/b": "pending"}
    assert store.listings.sync("lake", [], ["lake/b"]).gone == 1, "b was out of sight"
    assert store.removals.gone() == ["lake/a"]


def test_a_table_that_goes_while_claimed_is_removed_after_the_run(store):
    claim(store, "a")
    store.listings.sync("lake", [])
    assert store.removals.gone() == []
    finish(store, "a")
    assert store.removals.gone() == ["lake/a"]
    store.removals.forget(["lake/a"])
    assert store.removals.gone() == []


def test_failures_are_tried_again_a_bounded_number_of_times(store):
    store.listings.sync("lake", [ref("a")])
    for _ in range(3):
        assert store.queue.claim("run", 10, 3, ["lake"]) == 1
        store.queue.fail(Problem("lake/a", "profile", "truncated"))
    assert store.queue.claim("run", 10, 3, ["lake"]) == 0
    assert store.problems.all() == [Problem("lake/a", "profile", "truncated")]
    store.listings.sync("lake", [ref("a", "2")])
    assert store.queue.claim("run", 10, 3, ["lake"]) == 1
    finish(store, "a")
    assert store.problems.all() == []


def test_profiles_and_records_say_what_is_known_and_no_more(store):
    claim(store, "a", "b", "gone")
    store.listings.sync("lake", [ref("b"), ref("a")])
    profile = dataclasses.replace(table("a", 'we"ird', "\u2603", rows=7), comment="c", notes=("n",))
    store.queue.save_profiles("run", [profile])
    item = store.queue.claimed("run")[0]
    assert item.table is not None
    assert (item.table.columns, item.table.notes) == (profile.columns, ("n",))
    assert item.indexed_row_count is None
    store.queue.finish("run", [Finished("lake/a", profile.schema_hash, 3)])
    one, other = store.tables.records()
    assert (one.table_id, one.state, one.block_count) == ("lake/a", TableState.INDEXED, 3)
    assert (one.rows, one.columns, one.notes, one.comment) == (7, 2, ("n",), "c")
    assert (other.table_id, other.rows, other.columns, other.notes) == ("lake/b", None, None, ())
    assert store.tables.listed() == ["lake/a", "lake/b"]


def test_another_recipe_lets_every_table_wait(store):
    assert not store.queue.use_recipe("one"), "there was none before"
    index(store, "a")
    assert not store.queue.use_recipe("one")
    assert states(store) == {"lake/a": "indexed"}
    assert store.queue.use_recipe("two")
    assert states(store) == {"lake/a": "pending"}


def test_user_contexts_make_their_table_wait(store):
    index(store, "a")
    store.add_context("lake/a", "wiki", "Measured in Reykjav\u00edk \ud800.")
    assert states(store) == {"lake/a": "pending"}
    assert [c.name for c in store.documents.user_contexts(["lake/a"])["lake/a"]] == ["wiki"]
    index(store, "a")
    assert store.remove_context("lake/a", "wiki")
    assert states(store) == {"lake/a": "pending"}
    assert not store.remove_context("lake/a", "wiki")


def begin(store: Store, run: str = "run", *names: str) -> None:
    """List tables and take them to their profiles."""
    claim(store, *(names or "ab"), run=run)
    store.queue.save_profiles(run, [table(name, "id") for name in names or "ab"])


def test_each_stage_takes_what_is_ready(store):
    begin(store)
    assert [i.ref.table_id for i in store.queue.take("run", PROFILED)] == ["lake/a", "lake/b"]
    assert store.queue.take("run", SAMPLED) == []
    store.queue.save_samples("run", [Sampled("lake/a", 10, [RowMark(0, 7)], {})])
    store.queue.advance("run", SAMPLED, ["lake/b"])
    assert held(store, "run") == {"lake/a": "sampled", "lake/b": "sampled"}
    store.queue.save_samples("run", [Sampled("lake/a", None, [RowMark(1, 8)], {})])
    item = store.queue.claimed("run")[0]
    assert (item.sampled, item.sampled_row_count) == ((RowMark(1, 8),), 10), "some are older"


def test_what_a_dead_run_left_is_taken_up_where_it_stopped(store):
    with store.runs.alive("dead"):
        begin(store, "dead")
        store.queue.advance("dead", SAMPLED, ["lake/b"])
        assert store.queue.take("next", PROFILED) == []
    assert [i.ref.table_id for i in store.queue.take("next", SAMPLED)] == ["lake/b"]
    assert store.queue.claim("whole", 10, 3, ["lake"]) == 1
    assert held(store, "whole") == {"lake/a": "profiled"}


@pytest.mark.parametrize(
    "change",
    [
        lambda store: store.listings.sync("lake", [ref("a", "2"), ref("b")]),
        lambda store: store.queue.use_recipe("another"),
        lambda store: store.add_context("lake/a", "wiki", "new"),
        lambda store: store.queue.fail(Problem("lake/a", "sample", "odd")),
    ],
    ids=["its version", "the recipe", "a context", "it failed"],
)
def test_a_table_that_changed_starts_from_its_first_stage(store, change):
    store.queue.use_recipe("one")
    begin(store, "dead")
    change(store)
    assert "lake/a" not in [item.ref.table_id for item in store.queue.take("next", PROFILED)]
    store.queue.release_claims("third")
    store.queue.claim("third", 10, 3, ["lake"])
    assert held(store, "third")["lake/a"] == "listed"


def test_a_run_that_lost_its_tables_writes_nothing_of_them(store):
    begin(store, "lost", "a")
    store.queue.release_claims("next")
    store.queue.claim("next", 10, 3, ["lake"])
    assert not store.queue.fail(Problem("lake/a", "sample", "odd"), "lost")
    store.removals.forget(["lake/a"])
    store.queue.save_profiles("lost", [table("a", "id", "late")])
    store.queue.save_samples("lost", [Sampled("lake/a", 10, [RowMark(3, 7)], {})])
    store.queue.advance("lost", NARRATED, ["lake/a"])
    assert store.queue.finish("lost", [Finished("lake/a", "late", 2)]) == ["lake/a"]
    (item,) = store.queue.claimed("next")
    assert item.table is not None
    assert (item.stage, len(item.table.columns), item.sampled) == (PROFILED, 1, ())
    assert store.problems.all() == []
    # What it may have put into the index meanwhile is put right by the next who finishes.
    finish(store, "a", run="next")
    assert states(store) == {"lake/a": "pending"}
    store.queue.claim("next", 10, 3, ["lake"])
    assert store.queue.fail(Problem("lake/a", "sample", "odd"), "next")
    assert states(store) == {"lake/a": "failed"}


def test_writers_take_turns(open_store):
    """Listings of the same three hundred tables at once, again and again: none is lost."""
    refs = [ref(f"{number:03}") for number in range(300)]

    def work(name: str) -> int:
        with open_store() as store:
            for _ in range(3):
                store.listings.sync("lake", refs)
            return sum(store.queue.claim(f"{name} {turn}", 10, 3, ["lake"]) for turn in range(30))

    with ThreadPoolExecutor(3) as pool:
        assert sum(pool.map(work, ["one", "two", "three"])) == 300


def test_a_context_comes_and_goes_with_the_wait_it_means(store, monkeypatch):
    """Else a text that was taken back would stay searchable."""
    store.listings.sync("lake", [ref("a")])
    store.add_context("lake/a", "wiki", "old")
    monkeypatch.setattr(type(store.queue), "mark_pending", interrupt)
    for change in (
        lambda: store.remove_context("lake/a", "wiki"),
        lambda: store.add_context("lake/a", "wiki", "new"),
    ):
        with pytest.raises(KeyboardInterrupt):
            change()
        assert [c.text for c in store.documents.user_contexts(["lake/a"])["lake/a"]] == ["old"]


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_state_that_another_version_has_replaced_is_written_no_more(open_store):
    with open_store() as one, open_store() as other:
        with other._db.write() as connection:
            connection.execute(update(meta).where(meta.c.key == "format").values(value="99"))
        with pytest.raises(StateError, match=r"another version.*99.*move it away"):
            one.listings.sync("lake", [ref("a")])
        with pytest.raises(StateError, match="another version"):
            other.queue.mark_pending(["lake/a"])


@pytest.mark.parametrize("away", [True, False], ids=["came back", "moved"])
def test_an_indexed_table_that_is_elsewhere_now_starts_from_its_first_stage(store, away):
    """Its version is the same: a folder that was copied with its times, or hidden for a while."""
    index(store, "a")
    if away:
        store.listings.sync("lake", [])
    store.listings.sync("lake", [dataclasses.replace(ref("a"), location="/elsewhere/a.csv")])
    assert store.queue.claim("next", 10, 3, ["lake"]) == 1
    assert held(store, "next") == {"lake/a": "listed"}


def test_profiles_are_not_all_in_memory_at_once(store, monkeypatch):
    names = [f"t{number:03}" for number in range(250)]
    begin(store, "run", *names)
    read, sizes = store._db.read, []

    def counted(*given, **values):
        rows = read(*given, **values)
        sizes.append(len(rows))
        return rows

    monkeypatch.setattr(store._db, "read", counted)
    wanted = [f"lake/{name}" for name in reversed(names)]
    assert [one.table_id for one in store.tables.profiles(wanted)] == wanted
    assert max(sizes) <= 100
