"""Leases: who is alive is known without a lock file, on this machine and elsewhere."""

import pickle
import subprocess
import sys
import time

import pytest
from sqlalchemy import select, update

from pneuma_assets.core.store import runs as module
from pneuma_assets.core.store.records import Stage
from pneuma_assets.core.store.schema import leases
from tests.conformance.store.test_worklist import ref


def test_claims_of_dead_runs_are_released(store):
    store.work.reconcile("lake", [ref("a")])
    with store.runs.alive("run"):
        store.work.claim("run", 10, 3, ["lake"])
        assert store.work.release_claims("another") == 0
    assert store.work.release_claims("another") == 1
    assert store.work.claim("next", 10, 3, ["lake"]) == 1


def test_a_run_lives_until_its_last_process_ends(store):
    with store.runs.alive("run"):
        with store.runs.alive("run"), store.runs.alive("run-2"):
            assert store.runs.is_alive("run")
            assert store.runs.is_alive("run-2")
        assert store.runs.is_alive("run")
        assert not store.runs.is_alive("run-2")
    assert not store.runs.is_alive("run")
    assert store._db.read(select(leases)) == []


def elsewhere(store, **changed) -> None:
    """Let the leases be those of another machine."""
    with store._db.write() as connection:
        connection.execute(update(leases).values(machine="another", **changed))


def test_on_another_machine_the_lease_decides(store):
    with store.runs.alive("run"):
        elsewhere(store, pid=2**22 + 1)
        assert store.runs.is_alive("run")
        elsewhere(store, expires_at=store._db.clock - 1)
        assert not store.runs.is_alive("run")


def test_here_the_process_decides(store):
    """A busy machine may be late with its heart beats; its process still works."""
    with store.runs.alive("run"):
        for changed in ({"expires_at": 0.0}, {}):
            with store._db.write() as connection:
                connection.execute(update(leases).values(**changed or {"born_at": 0.0}))
            assert store.runs.is_alive("run") == bool(changed)


def test_leases_are_renewed_while_a_run_lives(store, monkeypatch):
    monkeypatch.setattr(module, "BEAT_S", 0.02)
    with store.runs.alive("run"):
        elsewhere(store, expires_at=0.0)
        deadline = time.monotonic() + 600
        while not store.runs.is_alive("run"):
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert store._db.read(select(leases)) == []


HOLDING = """
import pickle, sys
from pneuma_assets.core.store import Store
with Store(pickle.load(sys.stdin.buffer)) as store, store.runs.alive("killed"):
    store.work.claim("killed", 10, 3, ["lake"])
    print("holding", flush=True)
    sys.stdin.buffer.read()
    import time
    time.sleep(3600)
"""


def test_a_killed_process_is_seen_at_once(store, state):
    store.work.reconcile("lake", [ref("a")])
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(pickle.dumps(state))
        process.stdin.close()
        assert process.stdout.readline() == b"holding\n"
        assert store.work.take("next", Stage.LISTED) == []
        process.kill()
    assert [item.ref.table_id for item in store.work.take("next", Stage.LISTED)] == ["lake/a"]


@pytest.mark.parametrize("run", ["begun", "never begun"])
def test_only_runs_that_began_here_can_be_dead(store, run):
    """A run of another deployment in the same Dagster is nobody's to bury."""
    if run == "begun":
        store.runs.begin(run)
    assert store.runs.dead([run]) == ([run] if run == "begun" else [])
    with store.runs.alive(run):
        assert store.runs.dead([run]) == []
