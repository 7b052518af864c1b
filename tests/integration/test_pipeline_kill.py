"""Killed with -9 at any moment, the next run completes, and nothing is lost or doubled.

PNEUMA_PIPELINE_KILLS=20 does so more often than every run.
"""

import os
import random
import signal
import subprocess
import sys
import time

import dagster as dg
import pytest
from sqlalchemy import select

from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.core.store import schema
from tests.support.fake_model import FakeLanguageModel
from tests.support.pipeline_support import deployment, run_job, small_lake
from tests.support.waiting import LONGEST

pytestmark = [pytest.mark.integration, pytest.mark.slow]

TABLES = 30
KILLS = int(os.environ.get("PNEUMA_PIPELINE_KILLS", "6"))


def contents(loaded) -> dict[str, list[str]]:
    with Workspace(loaded, {}) as workspace:
        found: dict[str, list[str]] = {}
        for embedded in workspace.search_index.blocks():
            found.setdefault(embedded.block.table_id, []).append(embedded.block.block_id)
        return {table_id: sorted(ids) for table_id, ids in found.items()}


def narrations(loaded) -> int:
    with Workspace(loaded, {}) as workspace:
        return len(workspace.store._db.read(select(schema.narrations.c.position)))


def limit_pools(loaded) -> None:
    """Set limits as an operator does, so that the killed runs hold slots when they die."""
    folder = loaded.home / "dagster"
    folder.mkdir(parents=True)
    (folder / "dagster.yaml").touch()
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        for pool in ("gpu", "index_writer"):
            instance.event_log_storage.set_concurrency_slots(pool, 1)


def test_killed_at_random_moments(tmp_path):
    lake = small_lake(tmp_path, TABLES)
    (tmp_path / "clean").mkdir()
    clean, killed = deployment(tmp_path / "clean", lake), deployment(tmp_path, lake)
    with dg.DagsterInstance.ephemeral() as instance:
        run_job(clean, instance)
    chance = random.Random(7)
    limit_pools(killed)
    command = [sys.executable, "-m", "tests.support.pipeline_support", str(killed.file)]
    for _ in range(KILLS):
        steps = chance.randint(1, TABLES * 5)  # two a table to read it, three to narrate it
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            for _ in range(steps):
                process.stdout.readline()
            time.sleep(chance.uniform(0, 0.1))
            process.send_signal(signal.SIGKILL)
    assert narrations(killed) > 0, "the killed runs kept no narration"
    # Had a dead run kept its slot in a pool, this one would wait for it for ever.
    subprocess.run(command, check=True, timeout=LONGEST, stdout=subprocess.DEVNULL)
    model = FakeLanguageModel()
    with dg.DagsterInstance.ephemeral() as instance:
        run_job(killed, instance, model)
    assert model.prompts == []
    assert contents(killed) == contents(clean)
    with Workspace(killed, {}) as workspace:
        assert workspace.status().counts() == {"indexed": TABLES}
        assert not workspace.status().problems
