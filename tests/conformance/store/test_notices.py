"""What others say of tables stays until a listing that began later, and is never doubled."""

import pytest

from pneuma_assets.core.store import listings
from pneuma_assets.core.store.queue import Finished
from pneuma_assets.core.store.tables import TableState
from pneuma_assets.core.tables import TableRef

A, B = (TableRef(f"lake/{name}", "lake", f"/{name}.csv", "csv", "1") for name in ("a", "b"))


def index(store, run_id="run") -> None:
    store.queue.claim(run_id, 100, 3, ["lake"])
    found = store.queue.claimed(run_id)
    store.queue.finish(run_id, [Finished(item.ref.table_id, "h", 1) for item in found])


@pytest.fixture
def indexed(store):
    store.listings.sync("lake", [A, B])
    index(store)
    return store


def states(store) -> dict[str, str]:
    return {record.table_id: str(record.state) for record in store.tables.records()}


def test_a_known_table_waits_though_its_version_did_not_move(indexed):
    for _ in range(2):
        indexed.mark_changed({"lake": ["lake/a"]}, {}, "a nightly job")
    assert states(indexed) == {"lake/a": "pending", "lake/b": "indexed"}
    (noticed,) = indexed.listings.notices().values()
    assert (noticed.subjects, noticed.reason) == (1, "a nightly job")
    indexed.listings.sync("lake", [A, B], began=indexed.now() + 1)
    assert states(indexed) == {"lake/a": "pending", "lake/b": "indexed"}
    index(indexed, "next")
    assert states(indexed) == {"lake/a": "indexed", "lake/b": "indexed"}


def test_a_notice_stays_until_a_listing_that_began_later(indexed):
    began = indexed.now() - 0.01
    indexed.mark_changed({}, {"lake": ["lake/new"], "hill": []}, "")
    indexed.listings.sync("lake", [A, B], began=began)
    assert indexed.listings.notices().keys() == {"lake", "hill"}
    indexed.listings.sync("lake", [A, B], began=indexed.now() + 1)
    assert indexed.listings.notices().keys() == {"hill"}


def test_a_table_that_changes_while_a_run_holds_it_waits_again(indexed):
    indexed.mark_changed({"lake": ["lake/a"]}, {}, "")
    indexed.queue.claim("run 2", 10, 3, ["lake"])
    indexed.mark_changed({"lake": ["lake/a"]}, {}, "")
    indexed.queue.finish("run 2", [Finished("lake/a", "h", 1)])
    assert indexed.tables.record("lake/a").state == TableState.PENDING


def test_what_was_said_survives_the_process_that_heard_it(open_store):
    with open_store() as store:
        store.mark_changed({}, {"lake": ["lake/new"]}, "said before a crash")
    with open_store() as store:
        assert store.listings.notices()["lake"].reason == "said before a crash"


def test_notices_are_bounded(store, monkeypatch):
    monkeypatch.setattr(listings, "MOST_NOTICES", 3)
    store.listings.mark_changed("lake", ["a", "b", "c"], "")
    assert store.listings.notices()["lake"].subjects == 3
    store.listings.mark_changed("lake", ["b", "c"], "")
    assert store.listings.notices()["lake"].subjects == 3
    store.listings.mark_changed("lake", ["d"], "")
    assert store.listings.notices()["lake"].subjects == 1, "the source stands for all"


def test_sources_that_are_no_longer_configured_are_forgotten(store):
    store.mark_changed({}, {"lake": [], "hill": []}, "")
    store.listings.drop_sources(["hill"])
    assert store.listings.notices().keys() == {"hill"}


def test_names_of_any_length_and_kind_are_kept(store):
    store.mark_changed({}, {"lake": ["lake/" + "x" * 100_000, "lake/\ud800\0"]}, "")
    assert store.listings.notices()["lake"].subjects == 2
