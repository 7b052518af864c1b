"""Most of a source gone at once is held: searchable, read by nobody, until it is back or accepted.

An empty mount point and a lost grant are listings that succeed.
"""

import pytest

from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Finished, Stage
from pneuma_assets.core.store.removals import RemovalRule
from pneuma_assets.core.tables import Problem
from tests.conformance.store.lake import claim, finish, ref, table

ALL = [f"{number:03}" for number in range(100)]


def listing(store: Store, names, unlisted=(), rule=RemovalRule(), source: str = "lake"):  # noqa: B008
    return store.listings.sync(source, [ref(n, source=source) for n in names], unlisted, rule)


def held(store: Store) -> list[str]:
    return [r.table_id for r in store.tables.records() if r.held_since is not None]


def removals(store: Store) -> list[Problem]:
    return [problem for problem in store.problems.all() if problem.stage == "removals"]


@pytest.fixture
def indexed(store) -> Store:
    """A hundred tables of one source, and twenty of another."""
    listing(store, ALL)
    listing(store, ALL[:20], source="hill")
    store.queue.claim("first", 1000, 3, ["lake", "hill"])
    items = store.queue.claimed("first")
    store.queue.finish("first", [Finished(item.ref.table_id, "hash", 2) for item in items])
    return store


def test_an_emptied_source_keeps_its_tables(indexed):
    found = listing(indexed, [])
    assert (found.gone, found.held) == (0, 100)
    assert indexed.removals.gone() == []
    assert len(indexed.tables.indexed()) == len(indexed.tables.listed()) == 120
    assert len(held(indexed)) == 100, "the other source is as it was"
    (problem,) = removals(indexed)
    assert problem.subject == "lake"
    assert problem.cause.startswith(
        "100 of 100 tables are gone at once (lake/000, lake/001, lake/002, …)"
    )
    assert "index --source lake --accept-removals" in problem.cause


def test_tables_that_come_back_are_as_they_were(indexed):
    listing(indexed, [])
    found = listing(indexed, ALL)
    assert (found.changed, found.unchanged, found.held) == (0, 100, 0)
    assert removals(indexed) == []
    assert held(indexed) == []
    assert len(indexed.queue.pending()) == 0, "nothing is read again"
    listing(indexed, [])
    indexed.listings.sync("lake", [ref(name, "2") for name in ALL])
    assert indexed.queue.waiting(["lake"]) == 100, "they came back changed"


def test_some_come_back_and_the_others_stay_held(indexed):
    listing(indexed, [])
    assert listing(indexed, ALL[:95]).held == 5
    (problem,) = removals(indexed)
    assert problem.cause.startswith("5 of 100 tables are gone")
    assert listing(indexed, ALL[:90]).held == 5, "five more in a hundred are no accident"
    assert len(indexed.removals.gone()) == 5
    more = [f"new{number}" for number in range(50)]
    found = listing(indexed, more, unlisted=["lake/00"])
    assert (found.new, found.gone, found.held) == (50, 0, 85), "ten are out of sight, five gone"
    assert indexed.queue.waiting(["lake"]) == 50


def test_what_was_accepted_is_gone_and_comes_back_as_any_table(indexed):
    listing(indexed, [])
    assert listing(indexed, [], rule=None).gone == 100
    assert removals(indexed) == []
    assert len(indexed.removals.gone()) == 100
    assert listing(indexed, ALL).changed == 100
    assert indexed.queue.waiting(["lake"]) == 100


def test_held_tables_are_read_by_nobody(indexed):
    indexed.queue.use_recipe("one")
    indexed.queue.use_recipe("another")
    listing(indexed, [])
    assert indexed.queue.waiting(["lake", "hill"]) == 20
    assert indexed.queue.claim("run", 1000, 3, ["lake", "hill"]) == 20
    assert indexed.queue.counts(3, ["lake", "hill"]).waiting == 0
    assert len(indexed.queue.pending()) == 120, "an index that lacks them is not complete"
    listing(indexed, ALL)
    assert indexed.queue.claim("next", 1000, 3, ["lake"]) == 100


def test_no_run_is_asked_for_what_the_index_has_lost_of_held_tables(indexed):
    listing(indexed, [])
    assert indexed.queue.counts(3, ["lake"]).with_blocks == 120
    indexed.queue.mark_pending([f"lake/{name}" for name in ALL])
    todo = indexed.queue.counts(3, ["lake"])
    assert (todo.waiting, todo.with_blocks, todo.indexed) == (0, 20, 120)


def test_a_table_that_was_being_read_is_no_failure_when_it_is_held(store):
    claim(store, *ALL)
    store.queue.save_profiles("run", [table(name, "a") for name in ALL[:50]])
    listing(store, [])
    for name in ALL:
        assert not store.queue.fail(Problem(f"lake/{name}", "profile", "no such file"), "run")
    assert [problem.stage for problem in store.problems.all()] == ["removals"]
    assert store.queue.claimed("run") == []
    assert store.queue.take("next", Stage.PROFILED) == []
    assert store.queue.claim("next", 1000, 3, ["lake"]) == 0
    listing(store, ALL)
    assert len(store.queue.take("next", Stage.PROFILED)) == 50, "it goes on where it stopped"


def test_a_table_that_was_embedded_when_it_was_held_is_searchable_all_the_same(store):
    claim(store, *ALL)
    listing(store, [])
    finish(store, *ALL)
    assert len(store.tables.indexed()) == len(held(store)) == 100


def test_a_source_that_is_taken_out_of_the_file_is_a_persons_act(indexed):
    listing(indexed, [])
    assert indexed.listings.drop_sources(["hill"]) == 100
    assert removals(indexed) == []
    assert len(indexed.removals.gone()) == 100
    listing(indexed, ALL)
    assert indexed.queue.waiting(["lake"]) == 100, "it was put back before a run forgot it"


def test_machines_that_see_different_things_lose_nothing(indexed, open_store):
    with open_store() as other:
        for _ in range(3):
            assert listing(indexed, []).held == 100
            assert listing(other, ALL).unchanged == 100
        assert other.removals.gone() == []
        assert removals(other) == []


def test_names_in_the_problem_are_those_of_strangers(store):
    names = [f"\x1b[2J\u202e\n{number}" + "x" * 300 for number in range(20)]
    listing(store, names)
    listing(store, [])
    (problem,) = removals(store)
    assert problem.cause.isprintable()
    assert len(problem.cause) < 700


def test_when_a_source_was_listed_is_known(store):
    assert store.listings.listed_at() == {}
    before = store.now()
    listing(store, ALL)
    listing(store, [], source="hill")
    listed_at = store.listings.listed_at()
    assert sorted(listed_at) == ["hill", "lake"]
    assert all(before <= at <= store.now() for at in listed_at.values())
    store.listings.drop_sources(["hill"])
    assert sorted(store.listings.listed_at()) == ["hill"]
