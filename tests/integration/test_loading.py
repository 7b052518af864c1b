"""Definitions load whatever has become of the state, and open nothing for writing."""

import logging
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import dagster as dg
import pytest

from pneuma_assets.core.service.state import open_store
from pneuma_assets.core.store.dagster_manifest import read_manifest
from pneuma_assets.core.store.dagster_manifest_write import keep_manifest
from pneuma_assets.core.tables import Problem
from pneuma_assets.definitions import build_definitions
from tests.support.pipeline_support import deployment, run_job, small_lake

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("small_encoder")]


def loads(loaded, caplog=None) -> set[str]:
    """Whatever the state, stages, job and schedule are there; returns the tables' keys."""
    if caplog is not None:
        caplog.clear()
    definitions = build_definitions(loaded)
    assert definitions.resolve_job_def("pneuma_index_tables")
    assert definitions.schedules
    keys = {k.to_user_string() for k in definitions.resolve_asset_graph().get_all_asset_keys()}
    assert "pneuma/search_index" in keys
    return {key for key in keys if key.count("/") > 1}


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("once")
    with dg.DagsterInstance.ephemeral() as instance:
        run_job(deployment(folder, small_lake(folder, 3)), instance)
    return folder


@pytest.fixture
def indexed(tmp_path, once):
    shutil.copytree(once / "home", tmp_path / "home")
    return deployment(tmp_path, once / "lake")


TABLES = {"pneuma/lake/deep/t0", "pneuma/lake/t1", "pneuma/lake/t2"}

TRACED = """
import os, sys
opened = []
def trace(event, arguments):
    if event == "sqlite3.connect":
        opened.append(str(arguments[0]))
    if event == "open":
        path, mode, flags = arguments
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            opened.append(str(path))
from pathlib import Path
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.definitions import build_definitions
sys.addaudithook(trace)
definitions = build_definitions(load_deployment(config=Path(sys.argv[1])))
print(len(definitions.resolve_asset_graph().get_all_asset_keys()))
print([one for one in opened if not one.endswith(".pyc") and "__pycache__" not in one])
"""


def test_loading_opens_nothing_for_writing(indexed):
    done = subprocess.run(
        [sys.executable, "-c", TRACED, str(indexed.file)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert done.stdout.split("\n")[:2] == ["8", "[]"]


def test_it_loads_beside_a_store_that_is_locked_damaged_or_gone(indexed):
    state = indexed.home / "state.db"
    with closing(sqlite3.connect(state)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert loads(indexed) == TABLES
    state.write_bytes(b"not a database" * 1000)
    assert loads(indexed) == TABLES
    state.unlink()
    assert loads(indexed) == TABLES


def test_a_damaged_manifest_is_told_of_and_made_anew_by_the_next_run(indexed, caplog):
    (indexed.home / "tables.manifest").write_bytes(b"\x00" * 100)
    with caplog.at_level(logging.WARNING):
        assert loads(indexed) == set()
    assert "is damaged" in caplog.text
    with dg.DagsterInstance.ephemeral() as instance:
        run_job(indexed, instance)
    assert loads(indexed) == TABLES


def test_pages_say_what_the_store_has_come_to_know(indexed):
    with open_store(indexed, os.environ) as store:
        store.problems.record_of_tables("values", {"lake/t1": "too wide"})
        assert keep_manifest(store, indexed.deployment)
    by_id = {page.table_id: page for page in read_manifest(indexed, {}).tables}
    assert by_id["lake/t1"].problem == "values: too wide"
    for subject, cause in (("lake/t2", "too wide"), ("lake/t2", "too long")):
        with open_store(indexed, os.environ) as store:
            store.problems.record("lake", "values", [Problem(subject, "values", cause)])
            assert keep_manifest(store, indexed.deployment), "as many problems, as long a cause"
        problems = {page.table_id: page.problem for page in read_manifest(indexed, {}).tables}
        assert {k: v for k, v in problems.items() if v} == {subject: f"values: {cause}"}
    assert by_id["lake/t2"].description == "Collected on island 2."
    assert by_id["lake/t1"].description == "Columns: id, label\\_1, amount\\_1.".replace("\\", "")
