"""A question is answered by encoder and index: nothing that only indexing needs is loaded for it.

Each search is a process of its own, as from a shell.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pneuma_assets.cli.app import app
from tests.support.waiting import LONGEST

pytestmark = pytest.mark.integration
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
