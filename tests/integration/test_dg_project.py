"""A project made by Dagster's public tool, and four lines of YAML in it."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import dagster as dg
import pytest

from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.service.workspace import Workspace
from tests.support.pipeline_support import small_lake
from tests.support.waiting import LONGEST

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
UNSET = ("PNEUMA_", "DAGSTER_", "PYTHON", "VIRTUAL_ENV")
FOUR_LINES = """\
type: pneuma_assets.PneumaComponent

attributes:
  folder: "{{ project_root }}/lake"
"""
THEIRS = """\
import dagster as dg
from tests.support import merged_location

@dg.definitions
def theirs() -> dg.Definitions:
    return merged_location.theirs()
"""

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.skipif(
        not all((BIN / tool).exists() for tool in ("dg", "create-dagster")),
        reason="dagster-dg-cli and create-dagster are not installed",
    ),
]


class Project:
    """A new project, and the tools as its people call them."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "lakes"
        self.defs = self.root / "src/lakes/defs"
        self.home = folder / "dagster"
        self.home.mkdir()
        (self.home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
        self._installed = folder / "installed"
        declare_entry_points(self._installed)

    def run(self, *command: str, cwd: Path | None = None) -> str:
        """Run a tool of the virtual environment; return all that it prints."""
        path = [self.root / "src", ROOT, self._installed]
        more = {"PYTHONPATH": os.pathsep.join(map(str, path)), "DAGSTER_HOME": str(self.home)}
        kept = {key: value for key, value in os.environ.items() if not key.startswith(UNSET)}
        tools = {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "200"}
        done = subprocess.run(
            [str(BIN / command[0]), *command[1:]],
            cwd=cwd or self.root,
            env={**kept, **more, **tools},
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stdout} {done.stderr}"
        return done.stdout + done.stderr


def declare_entry_points(folder: Path) -> None:
    """Install what pyproject.toml declares; how the checkout was installed may be older."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    info = folder / "pneuma_assets_entry_points-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: x\nVersion: 1\n")
    lines = [
        line
        for group, entries in declared.items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dg")
    made = Project(folder)
    made.run("create-dagster", "project", "lakes", "--no-uv-sync", cwd=folder)
    shutil.move(small_lake(folder, 2), made.root)
    (made.defs / "search").mkdir()
    (made.defs / "search/defs.yaml").write_text(FOUR_LINES)
    return made


def test_four_lines_pass_the_checks_of_the_tool(project):
    told = project.run("dg", "check", "defs")
    assert "All component YAML validated" in told
    assert "All definitions loaded" in told
    assert "pneuma_assets.PneumaComponent" in project.run("dg", "list", "components")


def test_deployments_work_in_a_project_with_executor_and_names_of_its_own(project):
    scaffold = ["dg", "scaffold", "defs", "pneuma_assets.PneumaComponent", "sales"]
    project.run(*scaffold, "--folder", "lake")
    assert "path: ../../../../lake" in (project.defs / "sales/pneuma.yaml").read_text()
    (project.defs / "theirs.py").write_text(THEIRS)
    project.run("dg", "launch", "--job", "pneuma_index_tables")
    loaded = load_deployment(home=project.root / ".pneuma/pneuma", environ={})
    with Workspace(loaded, {}) as workspace:
        assert workspace.search_index.list_tables().keys() == {"lake/deep/t0", "lake/t1"}
    with dg.DagsterInstance.from_config(str(project.home)) as instance:
        (run,) = instance.get_runs()
        assert (run.job_name, run.status) == ("pneuma_index_tables", dg.DagsterRunStatus.SUCCESS)
        assert instance.get_latest_materialization_event(dg.AssetKey("raw_tables")) is None
