"""State folders of earlier versions open with today's program, and nothing is asked twice.

`tests/homes` holds one of each format, indexed with the packaged models by the version that wrote
it; a context was added by hand.
"""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pneuma_assets.cli.app import app

pytestmark = [pytest.mark.integration, pytest.mark.slow]
HOMES = Path(__file__).parents[1] / "homes"
TABLES = ["lake/deep/stations", "lake/penguins"]
AS_BEFORE = """
sources: [{type: folder, name: lake, path: ../lake}]
narration: {enabled: true, prompt: paper, round_trip: false, facts: false}
"""
"""As columns were described when these were indexed."""
BARE = """
sources: [{type: folder, name: lake, path: ../lake}]
narration: {enabled: true}
"""
"""As a deployment file of then asked for a model; columns are described otherwise now."""
ADDED = "Asked for by the seabird group; body mass is in grams."


@pytest.fixture(params=[1, 2, 3], ids=["format 1", "format 2", "format 3"])
def home(request, tmp_path, monkeypatch) -> Path:
    """A copy beside a copy of the lake."""
    shutil.copytree(HOMES / "lake", tmp_path / "lake")
    home = Path(shutil.copytree(HOMES / f"format-{request.param}", tmp_path / "home"))
    (home / "pneuma.yaml").write_text(AS_BEFORE, encoding="utf-8")
    for name in ("PNEUMA_CONFIG", "PNEUMA_HOME", "DAGSTER_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(home)
    return home


def run(home: Path, *arguments: str) -> str:
    done = CliRunner().invoke(app, [*arguments, "--home", str(home)])
    assert done.exit_code == 0, done.output
    return done.stdout


def described(home: Path) -> list[str]:
    """What the index says of the penguins' columns."""
    asked = ("search", "--json", "--table", "lake/penguins", "--kind", "schema", "body mass")
    return [result["text"] for result in json.loads(run(home, *asked))]


def test_an_older_home_goes_on(home):
    status = json.loads(run(home, "status", "--json"))
    assert status["counts"] == {"indexed": 2}
    (first, *_) = json.loads(run(home, "search", "--json", "penguins on islands"))
    assert first["table_id"] == "lake/penguins"
    assert ADDED in run(home, "context", "list", "lake/penguins")
    said = described(home)
    assert any("body_mass_g" in text for text in said)

    report = json.loads(run(home, "index", "--json"))  # the files lie elsewhere now
    assert (report["indexed"], report["failed"]) == (2, 0)
    assert report["narrated_columns"] == 0
    assert ADDED in run(home, "context", "list", "lake/penguins")
    assert described(home) == [f"penguins: {text}" for text in said], "its name is before them now"

    report = json.loads(run(home, "index", "--json"))
    assert (report["indexed"], report["narrated_columns"]) == (0, 0)
    assert json.loads(run(home, "status", "--json"))["counts"] == {"indexed": 2}


def test_the_model_is_not_asked_again_by_a_deployment_file_of_then(home):
    (home / "pneuma.yaml").write_text(BARE, encoding="utf-8")
    report = json.loads(run(home, "index", "--json"))
    assert (report["indexed"], report["failed"]) == (2, 0)
    assert report["narrated_columns"] == 0
    assert any("body_mass_g" in text for text in described(home))
