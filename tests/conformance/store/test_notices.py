"""What others say of tables stays until a listing that began later, and is never doubled."""

import pytest

from pneuma_assets.core.store import notices
from pneuma_assets.core.store.worklist.items import Finished
from pneuma_assets.core.store.worklist.records import TableState
from pneuma_assets.core.tables import TableRef

A, B = (TableRef(f"lake/{name}", "lake", f"/{name}.csv", "csv", "1") for name in ("a", "b"))


def index(store, run_id="run") -> None:
    store.work.claim(run_id, 100, 3, ["lake"])
    found = store.work.claimed(run_id)
    store.results.finish(run_id, [Finished(item.ref.table_id, "h", 1) for item in found])


@pytest.fixture
def indexed(store):
    store.inventory.reconcile("lake", [A, B])
    index(store)
    return store


def states(store) -> dict[str, str]:
    return {record.table_id: str(record.state) for record in store.tables.records()}


def test_a_known_table_waits_though_its_version_did_not_move(indexed):
    for _ in range(2):
        indexed.note_changed({"lake": ["lake/a"]}, {}, "a nightly job")
    assert states(indexed) == {"lake/a": "pending", "lake/b": "indexed"}
    (noticed,) = indexed.notices.waiting().values()
    assert (noticed.subjects, noticed.reason) == (1, "a nightly job")
    indexed.inventory.reconcile("lake", [A, B], began=indexed.now() + 1)
    assert states(indexed) == {"lake/a": "pending", "lake/b": "indexed"}
    index(indexed, "next")
    assert states(indexed) == {"lake/a": "indexed", "lake/b": "indexed"}


def test_a_notice_stays_until_a_listing_that_began_later(indexed):
    began = indexed.now() - 0.01
    indexed.note_changed({}, {"lake": ["lake/new"], "hill": []}, "")
    indexed.inventory.reconcile("lake", [A, B], began=began)
    assert indexed.notices.waiting().keys() == {"lake", "hill"}
    indexed.inventory.reconcile("lake", [A, B], began=indexed.now() + 1)
    assert indexed.notices.waiting().keys() == {"hill"}


def test_a_table_that_changes_while_a_run_holds_it_waits_again(indexed):
    indexed.note_changed({"lake": ["lake/a"]}, {}, "")
    indexed.work.claim("run 2", 10, 3, ["lake"])
    indexed.note_changed({"lake": ["lake/a"]}, {}, "")
    indexed.results.finish("run 2", [Finished("lake/a", "h", 1)])
    assert indexed.tables.record("lake/a").state == TableState.PENDING


def test_what_was_said_survives_the_process_that_heard_it(open_store):
    with open_store() as store:
        store.note_changed({}, {"lake": ["lake/new"]}, "said before a crash")
    with open_store() as store:
        assert store.notices.waiting()["lake"].reason == "said before a crash"


def test_notices_are_bounded(store, monkeypatch):
    monkeypatch.setattr(notices, "MOST", 3)
    store.notices.note("lake", ["a", "b", "c"], "")
    assert store.notices.waiting()["lake"].subjects == 3
    store.notices.note("lake", ["b", "c"], "")
    assert store.notices.waiting()["lake"].subjects == 3
    store.notices.note("lake", ["d"], "")
    assert store.notices.waiting()["lake"].subjects == 1, "the source stands for all"


def test_sources_that_are_no_longer_configured_are_forgotten(store):
    store.note_changed({}, {"lake": [], "hill": []}, "")
    store.inventory.drop_sources(["hill"])
    assert store.notices.waiting().keys() == {"hill"}


def test_names_of_any_length_and_kind_are_kept(store):
    store.note_changed({}, {"lake": ["lake/" + "x" * 100_000, "lake/\ud800\0"]}, "")
    assert store.notices.waiting()["lake"].subjects == 2
