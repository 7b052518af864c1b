"""What a tick asks a store for, the same in a file and on a server."""

from dataclasses import replace

from pneuma_assets.core.store.listings import ListingTime
from pneuma_assets.core.store.queue import Finished, QueueCounts
from pneuma_assets.core.store.schema import listings, upsert
from pneuma_assets.core.tables import Problem
from tests.conformance.store.lake import ref


def test_what_there_is_to_do_is_counted_as_a_run_would_claim_it(store):
    refs = [ref(f"t{n}") for n in range(5)]
    store.listings.sync("lake", refs)
    assert store.queue.counts(3, ["lake"]) == QueueCounts(waiting=5)
    assert store.queue.counts(3, ["other"]) == QueueCounts()
    store.queue.claim("run", 4, 3, ["lake"])
    assert store.queue.counts(3, ["lake"]) == QueueCounts(waiting=1, claimed=4)
    store.queue.finish("run", [Finished("lake/t0", "h", 2), Finished("lake/t1", "h", 0)])
    store.queue.fail(Problem("lake/t2", "profile", "torn"))
    expected = QueueCounts(
        1, failed=1, taken_back=1, claimed=1, indexed=2, with_blocks=1, unpublished=2
    )
    assert store.queue.counts(3, ["lake"]) == expected
    store.access.mark_published(store.access.of_tables())
    assert store.queue.counts(3, ["lake"]) == replace(expected, unpublished=0)
    assert store.queue.counts(1, ["lake"]).failed == 0
    store.listings.sync("lake", refs[1:])
    assert store.queue.counts(3, ["lake"]).gone == 1


def test_a_source_that_is_being_listed_is_known_and_how_long_it_took(store):
    before = store.now()
    store.listings.begin("lake", ["lake", "hill"])
    (begun,) = store.listings.times().values()
    assert (begun.seconds, begun.begun_at >= before - 1) == (None, True)
    store.listings.end("lake", 2.5)
    store.listings.begin("hill", ["lake", "hill"])
    assert store.listings.times()["lake"] == ListingTime(begun.begun_at, 2.5)
    store.listings.begin("lake", ["lake"])
    assert store.listings.times().keys() == {"lake"}
    assert store.listings.times()["lake"].seconds == 2.5
    store.listings.end("hill", 1.0)
    assert store.listings.times().keys() == {"lake"}, "it left the configuration meanwhile"


def test_a_listing_that_was_overtaken_changes_nothing(store):
    one, two = ref("a"), ref("b")
    store.listings.sync("lake", [one])
    began = store.now() - 0.01
    store.listings.sync("lake", [one, two])  # another process listed later, and was sooner done
    older = store.listings.sync("lake", [one], began=began)
    assert (older.gone, older.unchanged, store.removals.gone()) == (0, 1, [])
    assert store.listings.sync("lake", [one], began=store.now() + 1).gone == 1
    assert store.listings.sync("lake", [], rule=None, began=began).gone == 1, "a person may"
    with store._db.write() as connection:  # the clock was set back since
        row = {"source": "lake", "unlisted": "[]", "listed_at": store.now() + 3600}
        upsert(connection, listings, [row])
    assert store.listings.sync("lake", [one], began=store.now()).changed == 1
