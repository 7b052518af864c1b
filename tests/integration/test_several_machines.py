"""Machines that share a PostgreSQL server and an Elasticsearch cluster, and no folder.

One of two is killed with -9 in each stage while both index the same tables. PNEUMA_MACHINE_KILLS=20
and PNEUMA_MACHINE_TABLES=1000 do so more often, and with more tables, than every run.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url, select

from pneuma_assets.core.config.load import LoadedDeployment, load_deployment
from pneuma_assets.core.describe.narrate import ACTIVITY
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.core.sources.files import s3
from pneuma_assets.core.store import schema
from pneuma_assets.core.tables import THE_TABLE
from tests.support.machine import LEASE_S
from tests.support.waiting import LONGEST

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.usefixtures("small_encoder")]

KILLS = int(os.environ.get("PNEUMA_MACHINE_KILLS", "5"))
TABLES = int(os.environ.get("PNEUMA_MACHINE_TABLES", "80"))
AT_ONCE = max(10, TABLES // 40)
"""Tables of one run, so that both machines have some."""
MORE = 2 * AT_ONCE
"""Tables that come when there is nothing left to be killed at."""
STAGES = {
    "raw_tables": "reading profiles",
    "sampled_rows": "sampling rows",
    "schema_narrations": ACTIVITY,
    "embedding_blocks": "embedding blocks",
    "search_index": "writing the index",
}
"""What each stage says when it works."""
SECRETS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}


class Lake:
    """Tables in a bucket; every third shares its columns with others."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.size = 0
        self._client = s3.connect(endpoint, None, "key", "secret", None)
        self._client.create_bucket(Bucket="lake")

    def grow(self, tables: int) -> None:
        for number in range(self.size, self.size + tables):
            own = "shared" if number % 3 == 0 else str(number)
            rows = "".join(f"{row},name {row} of {number},{row * number}\n" for row in range(12))
            text = f"id,label_{own},amount_{own}\n{rows}"
            self._client.put_object(Bucket="lake", Key=f"t{number:04}.csv", Body=text.encode())
        self.size += tables


@pytest.fixture
def lake(s3_endpoint: str) -> Lake:
    return Lake(s3_endpoint)


@pytest.fixture
def machine(
    tmp_path: Path,
    lake: Lake,
    postgresql_database: str,
    elasticsearch_url: str,
    index_name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[str], LoadedDeployment]:
    """Return what sets a machine up: its own folder, and addresses."""
    url = make_url(postgresql_database)
    for name, value in {**SECRETS, "STATE_PASSWORD": url.password or ""}.items():
        monkeypatch.setenv(name, value)
    address = f"postgresql://{url.username}@{url.host}:{url.port}/{url.database}"

    def make(name: str, index: str = "") -> LoadedDeployment:
        home = tmp_path / name
        home.mkdir(exist_ok=True)
        described: dict[str, Any] = {
            "home": "home",
            "state": {"url": address, "password_env": "STATE_PASSWORD"},
            "sources": [
                {"name": "lake", "type": "s3", "bucket": "lake", "endpoint_url": lake.endpoint}
            ],
            "index": {
                "engine": "elasticsearch",
                "elasticsearch": {"urls": [elasticsearch_url], "name": index_name, "replicas": 0},
            },
            "indexing": {"tables_per_run": AT_ONCE},
        }
        if index:  # a deployment of its own, beside the others
            described["state"]["schema_name"] = index
            described["index"]["elasticsearch"]["name"] = f"{index_name}-{index}"
        (home / "pneuma.yaml").write_text(json.dumps(described))
        (home / "asked.txt").touch()
        return load_deployment(config=home / "pneuma.yaml")

    return make


def started(loaded: LoadedDeployment, name: str) -> subprocess.Popen[str]:
    asked = loaded.base / "asked.txt"
    command = [sys.executable, "-m", "tests.support.machine", str(loaded.file), name, str(asked)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> None:
    process.communicate(timeout=LONGEST)
    assert process.returncode == 0


def killed_in(process: subprocess.Popen[str], stage: str, chance: random.Random) -> bool:
    """Kill a process when it is at a stage; False if it ended before."""
    lines = chance.randint(1, 6)
    assert process.stdout is not None
    for line in process.stdout:
        lines -= line.startswith(STAGES[stage])
        if not lines or (line.startswith(STAGES[stage]) and chance.random() < 0.5):
            time.sleep(chance.uniform(0, 0.1))
            process.send_signal(signal.SIGKILL)
            break
    process.communicate()
    return process.returncode == -signal.SIGKILL


def contents(loaded: LoadedDeployment) -> dict[str, list[str]]:
    with Workspace(loaded, os.environ) as workspace:
        found: dict[str, list[str]] = {}
        for embedded in workspace.search_index.blocks():
            found.setdefault(embedded.block.table_id, []).append(embedded.block.block_id)
        return {table_id: sorted(ids) for table_id, ids in found.items()}


def test_one_of_two_machines_is_killed_in_each_stage(lake, machine, request):
    lake.grow(TABLES)
    steady, killed = machine("steady"), machine("killed")
    chance = random.Random(11)
    kills: Counter[str] = Counter()
    while kills.total() < KILLS:
        stage = list(STAGES)[kills.total() % len(STAGES)]
        with started(steady, "steady") as one, started(killed, "killed") as other:
            if killed_in(other, stage, chance):
                kills[stage] += 1
                print(f"killed in {stage}", flush=True)
            else:
                lake.grow(MORE)
            finish(one)
    time.sleep(LEASE_S)  # what the last one held is free by then
    with started(steady, "steady") as last:
        finish(last)
    asked = Counter(
        line
        for loaded in (steady, killed)
        for line in (loaded.base / "asked.txt").read_text().splitlines()
    )
    print(f"{lake.size} tables, kills: {dict(kills)}, asked twice: {asked.total() - len(asked)}")
    alone = machine("alone", "alone")
    request.addfinalizer(lambda: forget(alone))
    with started(alone, "alone") as process:
        finish(process)
    assert contents(steady) == contents(alone)
    with Workspace(killed, os.environ) as workspace:
        assert workspace.status().counts() == {"indexed": lake.size}
        assert not workspace.status().problems
        narrations = schema.narrations.c
        of_tables = select(narrations.text).where(narrations.position == THE_TABLE)
        tables = workspace.store._db.read(of_tables)
    assert len(tables) == len(asked)
    shared = 1  # tables that both machines may ask about at once
    assert asked.total() - len(asked) <= shared + kills["schema_narrations"]


def forget(loaded: LoadedDeployment) -> None:
    from tests.support.elasticsearch_server import client_of, delete_indices

    config = loaded.deployment.index.elasticsearch
    with client_of(config.urls[0]) as client:
        delete_indices(client, config.name)
