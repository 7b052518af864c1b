"""A kind of source that is no part of the project: with one registration it is indexed."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import dagster as dg
import pytest

from pneuma_assets.core.config import source_kinds
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.config.source_kinds import register_source
from pneuma_assets.core.service.workspace import Workspace
from tests.support.pipeline_support import run_job
from tests.support.sqlite_source import SQLiteSourceConfig

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[2]
PENGUINS = """
CREATE TABLE penguins (species TEXT, island TEXT, body_mass_g INTEGER);
INSERT INTO penguins VALUES ('Gentoo', 'Biscoe', 5000), ('Adelie', 'Torgersen', 3700);
CREATE VIEW heavy AS SELECT * FROM penguins WHERE body_mass_g > 4000;
CREATE VIEW broken AS SELECT * FROM absent;
CREATE TABLE about (name TEXT, text TEXT);
INSERT INTO about VALUES ('penguins', 'Measured in the Palmer archipelago.');
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A deployment file with a source of that kind, its path relative to the file."""
    with closing(sqlite3.connect(tmp_path / "birds.sqlite")) as connection:
        connection.executescript(PENGUINS)
    source = {"type": "sqlite", "name": "birds", "path": "birds.sqlite"}
    (tmp_path / "pneuma.yaml").write_text(json.dumps({"home": "home", "sources": [source]}))
    return tmp_path / "pneuma.yaml"


def test_the_job_indexes_it_and_questions_find_it(file, tmp_path, monkeypatch):
    monkeypatch.setattr(source_kinds.KINDS, "known", {})
    register_source(SQLiteSourceConfig)
    loaded = load_deployment(config=file, environ={}, cwd=tmp_path)
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        assert run_job(loaded, instance).success
    with Workspace(loaded) as workspace:
        texts = [one.block.text for one in workspace.search_index.blocks()]
        problems = workspace.store.problems.all()
        answer = workspace.query_engine().ask("weight of penguins on Biscoe island")
    assert any("species: Gentoo | island: Biscoe | body_mass_g: 5000" in text for text in texts)
    assert any("Measured in the Palmer archipelago." in text for text in texts)
    assert [problem.subject for problem in problems] == ["birds/broken"]
    assert "no such table: main.absent" in problems[0].cause
    assert {result.table_id for result in answer} == {"birds/penguins", "birds/heavy"}


@pytest.mark.slow
def test_every_process_finds_the_kind_of_an_installed_package(file, tmp_path):
    information = tmp_path / "site" / "their_sqlite-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Name: their-sqlite\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        f"[{source_kinds.GROUP}]\nsqlite = tests.support.sqlite_source:SQLiteSourceConfig\n"
    )
    command = [
        sys.executable,
        "-m",
        "pneuma_assets.cli",
        "sources",
        "--json",
        "--config",
        str(file),
    ]

    def asked(*paths: Path) -> subprocess.CompletedProcess[str]:
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
        return subprocess.run(
            command, env=environ, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    (found,) = json.loads(asked(ROOT, information.parent).stdout)
    assert (found["type"], found["where"]) == ("sqlite", str(tmp_path / "birds.sqlite"))
    assert (found["tables"], found["reachable"]) == (3, True)
    without = asked(ROOT)
    assert without.returncode != 0
    assert "sources[0].type: 'sqlite' is not known;" in without.stderr
