"""Who still works on a run, after processes were killed."""

import os
import subprocess
import sys

import pytest
from sqlalchemy import insert, select

from pneuma_assets.core.store import Store
from pneuma_assets.core.store.database import BUSY_TIMEOUT_S
from pneuma_assets.core.store.postgresql_database import IDLE_S
from pneuma_assets.core.store.runs import BEAT_S, LEASE_S, born_at, this_machine
from pneuma_assets.core.store.schema import leases


def _dead_process() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def _lease(**other: object) -> dict[str, object]:
    mine = {"machine": this_machine(), "pid": os.getpid(), "born_at": born_at()}
    return {"process": "old", "run_id": "old", "expires_at": 0.0, **mine, **other}


@pytest.mark.parametrize(
    ("lease", "stays"),
    [
        ({"pid": _dead_process(), "expires_at": 1e12}, False),
        ({"machine": "elsewhere"}, False),
        ({"machine": "elsewhere", "expires_at": 1e12}, True),
        ({}, True),  # a process that was only stopped for long renews it when it goes on
    ],
    ids=["killed here", "silent elsewhere", "at work elsewhere", "stopped here"],
)
def test_the_next_process_ends_the_leases_of_the_dead(tmp_path, lease, stays):
    with Store(tmp_path / "state.db") as store:
        database = store.runs._db
        with database.write() as connection:
            connection.execute(insert(leases).values(**_lease(**lease)))
        with store.runs.alive("new"):
            held = {row.run_id for row in database.read(select(leases.c.run_id))}
    assert held == ({"old", "new"} if stays else {"new"})


def test_one_machine_that_stops_in_a_transaction_fails_no_other():
    """The server ends its transaction before others, who wait, give up or fall silent."""
    assert IDLE_S + BEAT_S < LEASE_S
    assert 2 * IDLE_S <= BUSY_TIMEOUT_S
