"""What a default installation does without: folders are indexed and asked, in all processes."""

import json
import os
import subprocess
import sys

import pytest

from tests.support.waiting import LONGEST
from tests.unit.test_extras import BLOCKING

pytestmark = pytest.mark.integration


@pytest.mark.slow
def test_a_default_installation_indexes_and_answers(tmp_path):
    (tmp_path / "lake").mkdir()
    table = tmp_path / "lake" / "penguins.csv"
    table.write_text("species,island\nAdelie,Dream\n")
    (tmp_path / "absent").mkdir()
    # Python imports this first in every process, those that read sources included.
    (tmp_path / "absent" / "sitecustomize.py").write_text(BLOCKING)
    paths = os.pathsep.join([str(tmp_path / "absent"), *filter(None, sys.path)])

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pneuma_assets.cli",
                "--home",
                str(tmp_path / "home"),
                *arguments,
            ],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": paths},
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("index", str(tmp_path / "lake"))
    table.write_text("species,island\nAdelie,Dream\nGentoo,Biscoe\n")
    run("index")
    assert (
        json.loads(run("search", "--json", "penguins on islands"))[0]["table_id"] == "lake/penguins"
    )
    run("status")
