"""What a default installation does without, and a question: neither loads what only others need."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pneuma_assets.cli.app import app
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


HEAVY = {"alembic", "dagster", "elasticsearch", "sqlalchemy", "torch", "transformers"}
HEAVY |= {"duckdb", "pandas", "pyarrow", "sqlglot"}
PROBE = """
import sys
from pneuma_assets.cli.app import app
app(sys.argv[1:], standalone_mode=False)
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("searched")
    (folder / "lake").mkdir()
    (folder / "lake" / "penguins.csv").write_text("species,island\nAdelie,Dream\nGentoo,Biscoe\n")
    done = CliRunner().invoke(app, ["index", str(folder / "lake"), "--home", str(folder / "home")])
    assert done.exit_code == 0, done.output
    return Path(folder / "home")


@pytest.mark.parametrize(
    "options",
    [(), ("--table", "lake/penguins", "--source", "lake", "--kind", "schema")],
    ids=" ".join,
)
def test_a_question_loads_nothing_that_only_indexing_needs(home, options):
    asked = ("search", "--json", "--home", str(home), *options, "penguins on islands")
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *asked],
        cwd=home,
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["table_id"] == "lake/penguins"
    loaded = set(done.stderr.splitlines()[-1].split())
    assert "numpy" in loaded
    assert loaded & HEAVY == set()
