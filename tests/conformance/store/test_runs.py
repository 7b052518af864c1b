"""Leases: who is alive is known without a lock file, on this machine and elsewhere."""

import multiprocessing
import pickle
import subprocess
import sys

import pytest
from sqlalchemy import select, update

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store import Store
from pneuma_assets.core.store import runs as module
from pneuma_assets.core.store.queue import Stage
from pneuma_assets.core.store.schema import leases
from tests.conformance.store.lake import ref
from tests.support.waiting import wait_until


def test_claims_of_dead_runs_are_released(store):
    store.listings.sync("lake", [ref("a")])
    with store.runs.alive("run"):
        store.queue.claim("run", 10, 3, ["lake"])
        assert store.queue.release_claims("another") == 0
    assert store.queue.release_claims("another") == 1
    assert store.queue.claim("next", 10, 3, ["lake"]) == 1


def test_a_run_lives_until_its_last_process_ends(store):
    with store.runs.alive("run"):
        with store.runs.alive("run"), store.runs.alive("run-2"):
            assert "run" in store.runs.living()
            assert "run-2" in store.runs.living()
        assert "run" in store.runs.living()
        assert "run-2" not in store.runs.living()
    assert "run" not in store.runs.living()
    assert store._db.read(select(leases)) == []


def changed(store, **values) -> None:
    with store._db.write() as connection:
        connection.execute(update(leases).values(**values))


def elsewhere(store, **values) -> None:
    """Let the leases be those of another machine."""
    changed(store, machine="another", **values)


def test_here_the_process_decides_and_on_another_machine_the_lease(store):
    """A busy machine may be late with its heart beats, and its clock may be set.

    When a process began is told by the machine's clock: another time proves nothing.
    """
    with store.runs.alive("run"):
        for values, lives in (
            ({"expires_at": 0.0}, True),
            ({"born_at": 0.0, "expires_at": store._db.clock + 60}, True),
            ({"expires_at": 0.0}, False),
            ({"machine": "another", "pid": 2**22 + 1, "expires_at": store._db.clock + 60}, True),
            ({"expires_at": store._db.clock - 1}, False),
        ):
            changed(store, **values)
            assert ("run" in store.runs.living()) == lives


def test_a_heart_goes_on_whatever_it_meets(store, monkeypatch):
    monkeypatch.setattr(module, "BEAT_S", 0.01)
    met = []

    def failing(self, lease):
        if len(met) < 3:
            met.append(lease)
            raise OSError("Too many open files")
        taken(self, lease)

    taken = module.Runs._take
    with store.runs.alive("run"):
        monkeypatch.setattr(module.Runs, "_take", failing)
        elsewhere(store, expires_at=0.0)
        wait_until(lambda: "run" in store.runs.living(), "the fourth beat")
    assert len(met) == 3
    assert store._db.read(select(leases)) == []


def test_a_lease_that_could_not_be_ended_is_of_no_use(store, monkeypatch):
    """Its process lives on, in a notebook for days."""
    with store.runs.alive("run"):
        with monkeypatch.context() as away:

            def refused():
                raise StateError("the server is away")

            away.setattr(store._db, "write", refused)
            lease = {"process": store._db.read(select(leases.c.process))[0][0], "run_id": "run"}
            store.runs._end(lease)
        assert "run" not in store.runs.living()


def test_who_lives_is_asked_when_nobody_else_can_begin(store, monkeypatch):
    """Asked before, a run that begins meanwhile would lose its tables to the one that asked."""
    writing = []
    living = module.Runs.living

    def noting(self):
        writing.append(store._db._writing is not None)
        return living(self)

    monkeypatch.setattr(module.Runs, "living", noting)
    store.queue.release_claims("run")
    assert writing == [True]


HOLDING = """
import pickle, sys
from pneuma_assets.core.store import Store
with Store(pickle.load(sys.stdin.buffer)) as store, store.runs.alive("killed"):
    store.queue.claim("killed", 10, 3, ["lake"])
    print("holding", flush=True)
    sys.stdin.buffer.read()
    import time
    time.sleep(3600)
"""


def test_a_killed_process_is_seen_at_once(store, state):
    store.listings.sync("lake", [ref("a")])
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(pickle.dumps(state))
        process.stdin.close()
        assert process.stdout.readline() == b"holding\n"
        assert store.queue.take("next", Stage.LISTED) == []
        process.kill()
    assert [item.ref.table_id for item in store.queue.take("next", Stage.LISTED)] == ["lake/a"]


def test_only_runs_that_began_here_and_did_not_end_can_be_dead(store):
    """A run of another deployment in the same Dagster is nobody's to bury."""
    with store.runs.alive("never begun"):
        elsewhere(store, expires_at=0.0)
        assert store.runs.dead(["never begun"]) == []
    with store.runs.alive("run"):
        store.runs.begin("run")
        assert store.runs.dead(["run"]) == []
    assert store.runs.dead(["run"]) == [], "Dagster may still take it for working"
    with store.runs.alive("run"):  # the next step of a run that has a process for each
        elsewhere(store, expires_at=0.0)
        assert store.runs.dead(["run"]) == ["run"]


def test_a_run_that_ends_in_a_child_of_dagsters_ends_at_once(store, state):
    """Dagster's code server starts each run in a process of its own."""
    store.listings.sync("lake", [ref("a")])
    child = multiprocessing.get_context("spawn").Process(target=claim_and_end, args=(state,))
    child.start()
    child.join()
    assert child.exitcode == 0
    assert [item.ref.table_id for item in store.queue.take("next", Stage.LISTED)] == ["lake/a"]


def claim_and_end(state) -> None:
    with Store(state) as store, store.runs.alive("run"):
        store.queue.claim("run", 10, 3, ["lake"])


def read_until(store, run, end) -> None:
    with store.runs.alive(run):
        store.queue.release_claims(run)
        assert store.queue.claim(run, 10, 3, ["lake"]) == 1
        store.runs.begin(run)
        store.runs.reading(run, "lake/a")
        raise end


@pytest.mark.parametrize("end", [KeyboardInterrupt, StateError])
def test_a_run_that_is_interrupted_was_killed_by_no_table(store, end):
    store.listings.sync("lake", [ref("a")])
    for run in ("one", "two", "three"):
        with pytest.raises(end):
            read_until(store, run, end)
    store.queue.release_claims("next")
    assert store.queue.deadly(1) == []
