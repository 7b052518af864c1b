"""A transaction happens or it does not, whoever else reads or writes meanwhile."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select, text

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.asset_keys import PublishedPage
from pneuma_assets.core.store.schema import meta, upsert
from pneuma_assets.core.tables import Problem
from tests.conformance.store.lake import ref
from tests.support.waiting import LONGEST


def show(store: Store, *names: str) -> None:
    store.listings.sync("lake", [ref(name) for name in names])


def test_a_transaction_within_another_is_a_part_of_it(store):
    with store._db.write() as outer:
        show(store, "a")
        with store._db.write() as inner:
            assert inner is outer
            store.queue.use_recipe("one")
        assert store.tables.known() == {"lake/a"}  # it reads what it wrote
        assert store.queue.recipe() == "one"
    assert (store.tables.known(), store.queue.recipe()) == ({"lake/a"}, "one")


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, StateError])
@pytest.mark.parametrize("depth", ["outside", "inside"])
def test_an_exception_undoes_all_of_it(store, error, depth):
    show(store, "before")
    with pytest.raises(error), store._db.write():  # noqa: PT012
        show(store, "a")
        with store._db.write():
            store.queue.use_recipe("one")
            if depth == "inside":
                raise error
        raise error
    assert (store.tables.known(), store.queue.recipe()) == ({"lake/before"}, None)
    show(store, "before", "after")
    assert store.tables.known() == {"lake/before", "lake/after"}


def test_a_refused_statement_undoes_all_of_it(store):
    with pytest.raises(StateError), store._db.write() as connection:  # noqa: PT012
        show(store, "a")
        connection.execute(text("INSERT INTO no_such_table VALUES (1)"))
    assert store.tables.known() == set()
    show(store, "b")
    assert store.tables.known() == {"lake/b"}


def test_no_thread_sees_what_another_has_not_committed(store, open_store):
    """A thread of the same store may wait for the writer; another store reads what was there."""
    with ThreadPoolExecutor(2) as pool, open_store() as other:
        with pytest.raises(ZeroDivisionError), store._db.write():  # noqa: PT012
            show(store, "a")
            assert other.tables.known() == set()
            begun = threading.Event()
            found = pool.submit(lambda: (begun.set(), store.tables.known())[1])
            assert begun.wait(LONGEST)
            raise ZeroDivisionError
        assert found.result(LONGEST) == set()


def test_threads_of_one_store_write_in_turn(store):
    def count(_: int) -> None:
        for _ in range(20):
            with store._db.write() as connection:
                key = meta.c.key == "count"
                found = connection.execute(select(meta.c.value).where(key)).scalar() or "0"
                upsert(connection, meta, [{"key": "count", "value": str(int(found) + 1)}])
            assert store._db.read(select(meta.c.value).where(meta.c.key == "count"))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count, range(4)))
    (row,) = store._db.read(select(meta.c.value).where(meta.c.key == "count"))
    assert row.value == "80"


def test_the_clock_is_that_of_the_database(store, open_store):
    """In seconds, to their parts, and the same for all who share it."""
    times = []
    with open_store() as other:
        for asked in (store, other, store, other):
            (row,) = asked._db.read(select(asked._db.clock.label("now")))
            times.append(row.now)
    assert times == sorted(times)
    assert times[0] > 1.6e9
    assert any(time % 1 for time in times)


def test_a_state_is_there_when_opened_again(open_store):
    with open_store() as store:
        show(store, "a")
        store.add_context("lake/a", "wiki", "by hand")
        name = store.asset_keys.deployment()
    for _ in range(2):
        with open_store() as store:
            store.check()
            assert store.tables.known() == {"lake/a"}
            assert [c.text for c in store.documents.user_contexts(["lake/a"])["lake/a"]] == [
                "by hand"
            ]
            assert store.asset_keys.deployment() == name


def test_pages_are_those_that_this_deployment_made(store):
    store.asset_keys.record("the mark", {"pneuma/lake/old": PublishedPage("lake/old")})
    assert store.asset_keys.deployment() == "the mark", "a lost name is taken from its pages"
    store.asset_keys.forget(["pneuma/lake/old"])
    mark = store.asset_keys.deployment()
    assert store.asset_keys.keys() == {}
    store.asset_keys.record(mark, {"pneuma/lake/a": PublishedPage("lake/a")})
    store.asset_keys.record(mark, {"pneuma/lake/b": PublishedPage("lake/b")})
    store.asset_keys.record(mark, {"pneuma/lake/b": PublishedPage("lake/b2")})
    assert store.asset_keys.keys() == {"pneuma/lake/a": "lake/a", "pneuma/lake/b": "lake/b2"}
    store.asset_keys.forget(["pneuma/lake/a", "pneuma/lake/never"])
    assert store.asset_keys.keys() == {"pneuma/lake/b": "lake/b2"}
    assert store.asset_keys.deployment() == mark


def test_only_what_a_listing_could_see_is_in_sight(store):
    asked = ["lake/a", "lake/secret/b", "hill/c", "old/d"]
    assert store.listings.in_sight(asked) == set()
    store.listings.drop_sources(["lake", "hill"])
    assert store.listings.in_sight(asked) == {"old/d"}
    store.listings.sync("lake", [], ["lake/secret/"])
    assert store.listings.in_sight(asked) == {"old/d", "lake/a"}
    store.listings.sync("lake", [])
    assert store.listings.in_sight(asked) == {"old/d", "lake/a", "lake/secret/b"}
    store.listings.drop_sources([])
    assert store.listings.in_sight(asked) == set(asked)


def test_problems_are_solved_by_their_stage(store):
    store.problems.record("lake", "listing", [Problem("lake", "listing", "gone")])
    store.problems.record("hill", "listing", [Problem("hill/x", "listing", "odd")])
    store.problems.record_of_tables("narrations", {"lake/a": "too wide"})
    store.problems.record_of_tables("narrations", {"lake/a": "still too wide"})
    assert [(p.subject, p.cause) for p in store.problems.all()] == [
        ("hill/x", "odd"),
        ("lake", "gone"),
        ("lake/a", "still too wide"),
    ]
    assert store.problems.unlisted_sources() == ["lake"]
    store.problems.record("lake", "listing", [])
    store.problems.record_of_tables("narrations", {"lake/a": None})
    assert [p.subject for p in store.problems.all()] == ["hill/x"]
    store.listings.drop_sources(["lake"])
    assert store.problems.all() == []
