"""A sensor lets tables that are being written come to rest, and those that fail; a person not."""

import pytest

from pneuma_assets.core.store import queue
from pneuma_assets.core.store.problems import SLOW
from pneuma_assets.core.tables import Problem, TableRef
from tests.conformance.store import lake
from tests.conformance.store.lake import finish

QUIET_S = 100.0


def ref(name: str, version: str = "1", written: float | None = None) -> TableRef:
    return lake.ref(name, version, updated_at=written)


def ready(store, quiet_s: float = QUIET_S) -> list[str]:
    """What a sensor's run would take."""
    store.queue.claim("sensor's", 100, 3, ["lake"], quiet_s)
    taken = list(lake.held(store, "sensor's"))
    store.queue.release_claims("nobody")
    return taken


def test_a_file_that_was_written_just_now_rests_first_unless_a_person_asks(store):
    now = store.now()
    old, new = ref("old", written=now - 101), ref("new", written=now - 50)
    store.listings.sync("lake", [old, new, ref("untold")])
    done = store.queue.counts(3, ["lake"], QUIET_S)
    assert (done.waiting, done.settling) == (2, 1)
    assert store.queue.counts(3, ["lake"]).waiting == 3
    assert store.queue.waiting(["lake"], QUIET_S) == 2
    assert ready(store) == ["lake/old", "lake/untold"]
    assert store.queue.claim("a person's", 100, 3, ["lake"]) == 3


def test_a_table_that_changed_between_two_listings_rests_whatever_tells_the_time(store):
    ahead = store.now() + 3600  # the clock of another machine
    store.listings.sync("lake", [ref("a", written=ahead), ref("b")])
    assert ready(store) == ["lake/b"]
    store.queue.claim("run", 10, 3, ["lake"])
    finish(store, "a", "b")
    store.listings.sync("lake", [ref("a", "2", ahead), ref("b", "2")])
    assert ready(store) == []
    assert store.queue.counts(3, ["lake"], 0.0).waiting == 2, "seen for long enough, by this clock"


def test_one_that_never_rests_is_read_after_a_while(store, monkeypatch):
    for version in "1234":
        store.listings.sync("lake", [ref("a", version, store.now())])
    assert store.queue.counts(3, ["lake"], QUIET_S).settling == 1
    with monkeypatch.context() as impatient:
        impatient.setattr(queue, "LONGEST", 0)
        assert store.queue.counts(3, ["lake"], QUIET_S).waiting == 1
    store.queue.claim("run", 10, 3, ["lake"])
    store.listings.sync("lake", [ref("a", "5", store.now())])
    finish(store, "a")
    assert store.queue.counts(3, ["lake"], QUIET_S).settling == 1, "it waits anew, from now on"


def test_a_failed_table_rests_longer_each_time_and_not_when_it_changes(store, monkeypatch):
    store.listings.sync("lake", [ref("a")])
    rests = []
    for attempt in range(1, 4):
        assert store.queue.claim(f"run {attempt}", 10, 9, ["lake"]) == 1
        store.queue.fail(Problem("lake/a", "profile", "torn"))
        record = store.tables.record("lake/a")
        assert record.attempts == attempt
        rests.append(record.retry_at - store.now())
        done = store.queue.counts(9, ["lake"], QUIET_S)
        assert (done.failed, done.resting) == (0, 1)
        assert ready(store) == []
    assert rests == pytest.approx(queue.RETRY_AFTER_S, abs=30)
    store.queue.retry(["lake"])  # the source came back
    assert store.queue.counts(3, ["lake"], QUIET_S).failed == 1
    store.listings.sync("lake", [ref("a", "2")])
    assert store.tables.record("lake/a").retry_at is None
    store.queue.claim("run", 10, 9, ["lake"])
    monkeypatch.setattr(queue, "RETRY_AFTER_S", (-1.0,))
    store.queue.fail(Problem("lake/a", "profile", "torn"))
    assert store.queue.counts(9, ["lake"], QUIET_S).failed == 1
    assert ready(store) == ["lake/a"]


def test_a_slow_table_rests_longer_each_time_also_when_it_changes(store):
    rests = []
    for attempt in range(1, 5):
        store.listings.sync("lake", [ref("a", str(attempt))])
        if attempt > 1:
            assert ready(store, 0.0) == [], "a sensor lets it rest"
        assert store.queue.claim(f"run {attempt}", 10, 3, ["lake"]) == 1, "a person does not wait"
        store.queue.fail(Problem("lake/a", SLOW, "it took too long"))
        rests.append(store.tables.record("lake/a").retry_at - store.now())
    assert rests == pytest.approx([*queue.RETRY_AFTER_S, queue.RETRY_DAILY_S], abs=30)


def test_a_slow_table_is_tried_when_it_has_rested_and_then_is_as_any_other(store, monkeypatch):
    monkeypatch.setattr(queue, "RETRY_AFTER_S", (-1.0,))
    store.listings.sync("lake", [ref("a")])
    store.queue.claim("run", 10, 3, ["lake"])
    store.queue.fail(Problem("lake/a", SLOW, "it took too long"))
    store.listings.sync("lake", [ref("a", "2")])
    assert ready(store, 0.0) == ["lake/a"]
    store.queue.claim("run", 10, 3, ["lake"])
    finish(store, "a")
    record = store.tables.record("lake/a")
    assert (record.attempts, record.retry_at, store.problems.all()) == (0, None, [])
    monkeypatch.setattr(queue, "RETRY_AFTER_S", (1800.0,))
    store.listings.sync("lake", [ref("a", "3")])
    store.queue.claim("run", 10, 3, ["lake"])
    store.queue.fail(Problem("lake/a", "profile", "torn"))
    store.listings.sync("lake", [ref("a", "4")])
    assert ready(store, 0.0) == ["lake/a"]


def test_a_report_that_a_slow_table_changed_ends_its_rest(store):
    store.listings.sync("lake", [ref("a")])
    store.queue.claim("run", 10, 3, ["lake"])
    store.queue.fail(Problem("lake/a", SLOW, "it took too long"))
    store.queue.mark_pending(["lake/a"])
    assert ready(store, 0.0) == ["lake/a"]
