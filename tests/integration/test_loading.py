"""Definitions load whatever has become of the state, and open nothing for writing."""

import logging
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import dagster as dg
import pytest
from sqlalchemy import make_url, text

from pneuma_assets.core.service.state import open_store
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.asset_keys import PublishedPage
from pneuma_assets.core.store.manifest import read_manifest
from pneuma_assets.core.store.manifest_write import keep_manifest
from pneuma_assets.core.store.postgresql_database import PostgreSQL
from pneuma_assets.core.tables import Problem, TableRef
from pneuma_assets.definitions import build_definitions
from pneuma_assets.sensors.tick import Ticks
from tests.support.pipeline_support import deployment, run_job, small_lake
from tests.support.postgresql_process import autocommitting

pytestmark = pytest.mark.integration


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
    """A deployment that is indexed once for all tests."""
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


def test_it_loads_from_a_home_that_nobody_may_write(indexed):
    before = {path.name: path.stat().st_mtime_ns for path in indexed.home.iterdir()}
    indexed.home.chmod(0o555)
    try:
        assert loads(indexed) == TABLES
    finally:
        indexed.home.chmod(0o755)
    assert {path.name: path.stat().st_mtime_ns for path in indexed.home.iterdir()} == before


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


@pytest.mark.slow
def test_a_manifest_that_was_lost_comes_back_without_a_table_to_index(indexed):
    (indexed.home / "tables.manifest").unlink()
    with open_store(indexed, os.environ) as store:
        assert keep_manifest(store, indexed.deployment)
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


class OnServer:
    """A deployment whose state is on a server, and which has one table."""

    def __init__(self, folder: Path, url: str) -> None:
        address = make_url(url)
        self.at = PostgreSQL(address, "pneuma", address.password)
        shown = address.set(drivername="postgresql")._replace(password=None)
        self.loaded = deployment(
            folder,
            folder / "lake",
            state={"url": shown.render_as_string(), "password_env": "STATE_PASSWORD"},
            index={"engine": "elasticsearch", "elasticsearch": {"urls": ["http://localhost:9200"]}},
        )
        self.environ = {"STATE_PASSWORD": address.password or "none"}

    def fill(self) -> None:
        with Store(self.at) as store:
            store.listings.sync("lake", [TableRef("lake/a", "lake", "/lake/a.csv", "csv", "1")])
            store.queue.fail(Problem("lake/a", "profile", "empty"))
            store.asset_keys.record(
                store.asset_keys.deployment(), {"pneuma/lake/a": PublishedPage("lake/a")}
            )
            assert keep_manifest(store, self.loaded.deployment)

    def read(self):
        return read_manifest(self.loaded, self.environ)


@pytest.fixture
def on_server(tmp_path, postgresql_database):
    return OnServer(tmp_path, postgresql_database)


@pytest.mark.slow
def test_a_manifest_on_a_server_is_read_by_other_machines(on_server):
    assert (list(on_server.read().tables), on_server.read().trouble) == ([], None)
    on_server.fill()
    (page,) = on_server.read().tables
    assert (page.key, page.indexed) == ("pneuma/lake/a", False)
    assert page.problem == "could not be read: empty"


@pytest.mark.slow
def test_a_locked_table_and_no_server_are_told_of(on_server):
    on_server.fill()
    with (
        autocommitting(on_server.at.url) as other,
        other.execution_options(isolation_level="READ COMMITTED").begin(),
    ):
        other.execute(text("LOCK TABLE pneuma.manifests IN ACCESS EXCLUSIVE MODE"))
        assert "in use by others" in on_server.read().trouble
    on_server.environ = {}
    assert "STATE_PASSWORD is not set" in on_server.read().trouble


@pytest.mark.slow
def test_a_tick_brings_a_lost_manifest_back_without_a_run(indexed):
    (indexed.home / "tables.manifest").unlink()
    with dg.DagsterInstance.ephemeral() as instance:
        Ticks(indexed, "pneuma_index_tables").decide(instance)
        assert instance.get_runs_count() == 0
    assert loads(indexed) == TABLES
