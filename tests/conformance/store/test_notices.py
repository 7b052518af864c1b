"""What others say of tables stays until a listing that began later, and is never doubled."""

import pytest

from pneuma_assets.core.store import listings
from tests.conformance.store.lake import finish, index, ref, states

BOTH = [ref("a"), ref("b")]


@pytest.fixture
def indexed(store):
    index(store, "a", "b")
    return store


def test_a_known_table_waits_though_its_version_did_not_move(indexed):
    for _ in range(2):
        indexed.mark_changed({"lake": ["lake/a"]}, {}, "a nightly job")
    (noticed,) = indexed.listings.notices().values()
    assert (noticed.subjects, noticed.reason) == (1, "a nightly job")
    indexed.listings.sync("lake", BOTH, began=indexed.now() + 1)
    assert states(indexed) == {"lake/a": "pending", "lake/b": "indexed"}
    indexed.queue.claim("run", 10, 3, ["lake"])
    indexed.mark_changed({"lake": ["lake/a"]}, {}, "")
    finish(indexed, "a")
    assert states(indexed)["lake/a"] == "pending", "it changed again while a run held it"
    index(indexed, "a", "b")
    assert states(indexed) == {"lake/a": "indexed", "lake/b": "indexed"}


def test_a_notice_stays_until_a_listing_that_began_later_or_its_source_left(indexed):
    began = indexed.now() - 0.01
    indexed.mark_changed({}, {"lake": ["lake/new"], "hill": [], "sea": []}, "")
    indexed.listings.sync("lake", BOTH, began=began)
    assert indexed.listings.notices().keys() == {"lake", "hill", "sea"}
    indexed.listings.sync("lake", BOTH, began=indexed.now() + 1)
    assert indexed.listings.notices().keys() == {"hill", "sea"}
    indexed.listings.drop_sources(["hill"])
    assert indexed.listings.notices().keys() == {"hill"}


def test_what_was_said_survives_the_process_that_heard_it(open_store):
    with open_store() as store:
        store.mark_changed({}, {"lake": ["lake/new"]}, "said before a crash")
    with open_store() as store:
        assert store.listings.notices()["lake"].reason == "said before a crash"


def test_notices_are_bounded(store, monkeypatch):
    monkeypatch.setattr(listings, "MOST_NOTICES", 3)
    for subjects, kept in ((["a", "b", "c"], 3), (["b", "c"], 3), (["d"], 1)):
        store.listings.mark_changed("lake", subjects, "")
        assert store.listings.notices()["lake"].subjects == kept, "in the end one for all"


def test_names_of_any_length_and_kind_are_kept(store):
    store.mark_changed({}, {"lake": ["lake/" + "x" * 100_000, "lake/\ud800\0"]}, "")
    assert store.listings.notices()["lake"].subjects == 2
