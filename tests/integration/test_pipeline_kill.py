"""Killed with -9 at any moment, the next run completes, and nothing is lost or doubled."""

import random
import signal
import subprocess
import sys
import time

import dagster as dg
import pytest

from pneuma_assets.core.models.fake import FakeLanguageModel
from pneuma_assets.core.workspace import Workspace
from tests.pipeline_support import deployment, run_job, small_lake

pytestmark = [pytest.mark.integration, pytest.mark.slow]

TABLES = 30
KILLS = 6


def contents(loaded) -> dict[str, list[str]]:
    with Workspace(loaded, {}) as workspace:
        found: dict[str, list[str]] = {}
        for embedded in workspace.index.blocks():
            found.setdefault(embedded.block.table_id, []).append(embedded.block.block_id)
        return {table_id: sorted(ids) for table_id, ids in found.items()}


def test_killed_at_random_moments(tmp_path):
    lake = small_lake(tmp_path, TABLES)
    (tmp_path / "clean").mkdir()
    clean, killed = deployment(tmp_path / "clean", lake), deployment(tmp_path, lake)
    with dg.DagsterInstance.ephemeral() as instance:
        run_job(clean, instance)
    chance = random.Random(7)
    for _ in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.pipeline_support", str(killed.file)],
            stdout=subprocess.PIPE,
        )
        process.stdout.readline()
        time.sleep(chance.uniform(0.2, 4.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    model, again = FakeLanguageModel(), FakeLanguageModel()
    with dg.DagsterInstance.ephemeral() as instance:
        run_job(killed, instance, model)
        run_job(killed, instance, again)
    assert len(model.prompts) < TABLES * 3, "the killed runs kept no narration"
    assert again.prompts == []
    assert contents(killed) == contents(clean)
    with Workspace(killed, {}) as workspace:
        assert workspace.status().counts() == {"indexed": TABLES}
        assert not workspace.status().problems
