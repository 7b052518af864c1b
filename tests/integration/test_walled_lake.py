"""Nothing outside of a folder gets into an index by way of it, and no entry of it stops the rest.

The command line is the real one, with the packaged encoder.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pneuma_assets.core.sources.names import escape
from tests.support.canaries import contents
from tests.support.walled_lake import CANARY, WalledLake

pytestmark = [pytest.mark.integration, pytest.mark.slow]


def run(home: Path, *arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PNEUMA_")}
    command = [sys.executable, "-m", "pneuma_assets.cli", "--home", str(home), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False, env=kept)


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> WalledLake:
    return WalledLake(tmp_path_factory.mktemp("walls"))


def test_nothing_of_outside_and_all_that_is_good(lake, tmp_path):
    said = [run(tmp_path, "index", lake.root), status := run(tmp_path, "status", "--json")]
    said.append(run(tmp_path, "status"))
    told = json.loads(status.stdout)
    causes = {one["table"]: one["cause"] for one in told["problems"]}
    assert len(lake.expected) >= 60
    indexed = {one["table_id"] for one in told["tables"] if one["state"] == "indexed"}
    assert indexed == lake.good
    missed = {
        path: causes.get(f"lake/{escape(path)}")
        for path, says in lake.expected.items()
        if says is not None and says not in (causes.get(f"lake/{escape(path)}") or "\0")
    }
    assert not missed
    assert sum("file name too long" in cause for cause in causes.values()) == 2
    everything = [*contents(tmp_path), *(("output", one.stdout + one.stderr) for one in said)]
    assert {where for where, data in everything if CANARY.encode() in data} == set()
    assert any(b"good_within" in data for _, data in everything)
