"""What the state knows of tables as a whole, and that changed grants make no table wait."""

from dataclasses import replace

import pytest

from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Finished, Stage
from pneuma_assets.core.tables import MOST_JOINS, TableFacts, TableRef

OPEN = TableRef("w/open", "w", "public.open", "table", "1")
OURS = TableRef("w/ours", "w", "public.ours", "table", "1", updated_at=5.5, readers=("w/b", "ana"))


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "state.db") as store:
        store.listings.sync("w", [OPEN, OURS])
        with store.runs.alive("r"):
            store.queue.claim("r", 9, 3, ["w"])
            store.queue.advance("r", Stage.EMBEDDED, ["w/open", "w/ours"])
            store.queue.finish("r", [Finished("w/open", "", 1), Finished("w/ours", "", 1)])
        yield store


def untold(store: Store) -> int:
    return store.queue.counts(3, ["w"]).unpublished


def test_facts_are_of_searchable_tables(store):
    expected = {"w/open": TableFacts(), "w/ours": TableFacts(("w/b", "ana"), 5.5)}
    assert store.access.of_tables() == expected
    assert store.access.of_tables(["w/ours", "w/unknown"]) == {"w/ours": expected["w/ours"]}
    store.listings.sync("w", [OPEN, OURS, replace(OPEN, table_id="w/new")])
    assert store.access.of_tables().keys() == expected.keys()
    assert store.access.of_tables(["w/new"]) == {"w/new": TableFacts()}
    store.listings.sync("w", [OPEN], rule=None)
    assert (store.access.of_tables().keys(), untold(store)) == ({"w/open"}, 1), "the other left"


def test_facts_name_what_a_table_can_be_joined_with(store):
    join = JoinEdge("w/open", ("x",), "w/ours", ("id",), JoinKind.INFERRED, 0.8)
    store.joins.replace([join], [])
    assert {i: one.joins for i, one in store.access.of_tables().items()} == {
        "w/open": ("w/ours",), "w/ours": ("w/open",)}  # fmt: skip
    many = [replace(join, table=f"w/t{n:03}") for n in range(2 * MOST_JOINS)]
    store.joins.replace(many, [])
    assert store.access.of_tables()["w/ours"].joins == tuple(
        f"w/t{n:03}" for n in range(MOST_JOINS)
    )


def test_what_the_index_was_told_is_compared_with_the_readers_alone(store):
    assert untold(store) == 2
    store.access.mark_published(store.access.of_tables())
    assert untold(store) == 0
    store.listings.sync("w", [OPEN, replace(OURS, updated_at=6.5)])
    assert untold(store) == 0
    assert store.access.of_tables()["w/ours"].updated_at == 6.5
    for readers in ((), None, ("w/b",)):
        store.listings.sync("w", [OPEN, replace(OURS, readers=readers)])
        assert untold(store) == 1
        store.access.mark_published(store.access.of_tables())
        assert untold(store) == 0


def test_what_is_told_of_an_unchanged_table_is_kept_and_lets_nothing_wait(store):
    told = replace(OURS, identity="17", readers=("w/c",))
    found = store.listings.sync("w", [OPEN, told])
    assert (found.unchanged, found.changed) == (2, 0)
    assert store.queue.waiting(["w"]) == 0
    assert store.tables.refs(["w/ours"]) == {"w/ours": told}
