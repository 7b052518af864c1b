"""What a tick asks a store for, the same in a file and on a server."""

from dataclasses import replace

from pneuma_assets.core.store.listing_times import ListingTime
from pneuma_assets.core.store.listings import note_listing
from pneuma_assets.core.store.worklist.backlog import ToDo
from pneuma_assets.core.store.worklist.items import Finished
from pneuma_assets.core.tables import Problem, TableRef


def test_what_there_is_to_do_is_counted_as_a_run_would_claim_it(store):
    refs = [TableRef(f"lake/t{n}", "lake", f"/t{n}.csv", "csv", "1") for n in range(5)]
    store.inventory.reconcile("lake", refs)
    assert store.backlog.to_do(3, ["lake"]) == ToDo(waiting=5)
    assert store.backlog.to_do(3, ["other"]) == ToDo()
    store.work.claim("run", 4, 3, ["lake"])
    assert store.backlog.to_do(3, ["lake"]) == ToDo(waiting=1, claimed=4)
    store.results.finish("run", [Finished("lake/t0", "h", 2), Finished("lake/t1", "h", 0)])
    store.results.fail(Problem("lake/t2", "profile", "torn"))
    expected = ToDo(1, failed=1, taken_back=1, claimed=1, indexed=2, with_blocks=1, untold=2)
    assert store.backlog.to_do(3, ["lake"]) == expected
    store.facts.note_told(store.facts.of_tables())
    assert store.backlog.to_do(3, ["lake"]) == replace(expected, untold=0)
    assert store.backlog.to_do(1, ["lake"]).failed == 0
    store.inventory.reconcile("lake", refs[1:])
    assert store.backlog.to_do(3, ["lake"]).gone == 1


def test_a_source_that_is_being_listed_is_known_and_how_long_it_took(store):
    before = store.now()
    store.listing_times.begin("lake", ["lake", "hill"])
    (begun,) = store.listing_times.read().values()
    assert (begun.seconds, begun.begun_at >= before - 1) == (None, True)
    store.listing_times.end("lake", 2.5)
    store.listing_times.begin("hill", ["lake", "hill"])
    assert store.listing_times.read()["lake"] == ListingTime(begun.begun_at, 2.5)
    store.listing_times.begin("lake", ["lake"])
    assert store.listing_times.read().keys() == {"lake"}
    assert store.listing_times.read()["lake"].seconds == 2.5
    store.listing_times.end("hill", 1.0)
    assert store.listing_times.read().keys() == {"lake"}, "it left the configuration meanwhile"


def test_a_listing_that_was_overtaken_changes_nothing(store):
    one, two = (TableRef(f"lake/{n}", "lake", f"/{n}.csv", "csv", "1") for n in ("a", "b"))
    store.inventory.reconcile("lake", [one])
    began = store.now() - 0.01
    store.inventory.reconcile(
        "lake", [one, two]
    )  # another process listed later, and was sooner done
    older = store.inventory.reconcile("lake", [one], began=began)
    assert (older.gone, older.unchanged, store.leaving.gone()) == (0, 1, [])
    assert store.inventory.reconcile("lake", [one], began=store.now() + 1).gone == 1


def test_a_clock_that_was_set_back_holds_no_listing_up(store):
    one = TableRef("lake/a", "lake", "/a.csv", "csv", "1")
    with store._db.write() as connection:
        note_listing(connection, "lake", [], store.now() + 3600)
    assert store.inventory.reconcile("lake", [one], began=store.now()).new == 1


def test_a_person_who_lets_tables_go_is_not_overtaken(store):
    one = TableRef("lake/a", "lake", "/a.csv", "csv", "1")
    began = store.now() - 0.01
    store.inventory.reconcile("lake", [one])
    assert store.inventory.reconcile("lake", [], rule=None, began=began).gone == 1
