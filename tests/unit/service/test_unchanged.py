"""Indexing where nothing has changed starts no run, and starts one for all that a run acts on."""

import random
import re
import shutil
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest

from pneuma_assets import index_run
from pneuma_assets.core.answer_feedback import SavedAnswer
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.index.registry import open_index
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.service.state import history_of, open_store
from pneuma_assets.core.service.unchanged import report_unchanged
from pneuma_assets.core.store.schema import runs
from pneuma_assets.core.tables import Problem
from pneuma_assets.workspace import Workspace
from tests.support.damage import garble
from tests.support.deployment_files import deploy, folder_source
from tests.support.index_blocks import file_of
from tests.support.stages import run_stages

pytestmark = pytest.mark.usefixtures("read_here")

PASSING = re.compile(r"INSERT INTO \"?(runs|leases|stages|listings)\"?|.*'listing times'")
LAKE, HILL = folder_source("lake"), folder_source("hill", "hill")


def deployed(folder, hill=(), **sections):
    """Write the deployment file of two folders, the second one with more keys."""
    return deploy(folder, *sections.pop("sources", [LAKE, HILL | dict(hill)]), **sections)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("indexed") / "here"
    for name in ("lake/rain.csv", "lake/snow.csv", "lake/wind.csv", "hill/trees.csv"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"id,{name[5:9]}\n1,Kiel\n2,Oslo\n")
    index_run.run_indexing(deployed(folder))
    shutil.copytree(folder, folder.with_name("kept"))
    return folder


@pytest.fixture
def folder(indexed, monkeypatch):
    """The folders and their home as they were indexed, whose history is held for the one it was."""
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    restore(indexed, "kept")
    with stored(indexed) as store:
        store.asset_keys.use_history(history_of(indexed / "home"))
    return indexed


def restore(folder, name):
    shutil.rmtree(folder)
    shutil.copytree(folder.with_name(name), folder)


def here(folder):
    return load_deployment(config=folder / "pneuma.yaml", environ={})


@contextmanager
def stored(folder):
    with open_store(here(folder), {}) as store:
        yield store


@contextmanager
def searched(folder):
    loaded = here(folder)
    encoder = open_encoder(loaded.deployment.encoder)
    place = loaded.deployment.index, loaded.home, encoder.name, encoder.dimension
    with closing(open_index(*place, building=True)) as index:
        yield index


def state(folder):
    """Return all that is kept, but for runs and the times of listings, and the index beside it."""
    kept = {}
    home = folder / "home"
    for file in (home / "state.db", home / "embeddings.db", *home.glob("index/*/index.db")):
        with closing(sqlite3.connect(file)) as connection:
            (*lines,) = connection.iterdump()
        kept[file.name] = [line for line in lines if not PASSING.match(line)]
    return kept


def away_once(folder):
    with stored(folder) as store:
        store.problems.record("away", "listing", [Problem("away", "listing", "not mounted")])


def fails_once(folder):
    with stored(folder) as store:
        store.queue.mark_pending(["lake/rain"])
        with store.runs.alive("run"):
            store.queue.claim("run", 1, 3, ["lake"])
            store.queue.fail(Problem("lake/rain", "profile", "torn"), "run")


def forgotten_by_index(folder):
    with searched(folder) as index:
        index.delete_tables(["lake/rain"])


def strange_in_index(folder):
    with stored(folder) as store, store._db.write() as connection:
        connection.exec_driver_sql("DELETE FROM tables WHERE table_id = 'lake/rain'")
    (folder / "lake" / "rain.csv").unlink()


def others_may_see(folder):
    with searched(folder) as index:
        (facts,) = index.facts(["lake/rain"]).values()
        index.set_facts({"lake/rain": replace(facts, readers=("eve",))})


def gone_index(folder):
    shutil.rmtree(folder / "home" / "index")


def say(act):
    def saying(folder):
        with stored(folder) as store:
            act(store)

    return saying


def answered(store):
    store.usage.say(SavedAnswer("a", "how much rain?", ("lake/rain",), "", True, "eve", "cli"))


WORK = {
    "a new file": lambda f: (f / "lake" / "fog.csv").write_text("id\n1\n"),
    "changed bytes": lambda f: (f / "lake" / "rain.csv").write_text("id,rain\n1,Rom\n"),
    "a file that is gone": lambda f: (f / "lake" / "rain.csv").unlink(),
    "another name": lambda f: (f / "lake" / "rain.csv").rename(f / "lake" / "fog.csv"),
    "a folder that is gone": lambda f: shutil.rmtree(f / "lake"),
    "a new document": lambda f: (f / "lake" / "rain.md").write_text("# Rain\nOf islands."),
    "a failed table": fails_once,
    "a table that waits": say(lambda s: s.queue.mark_pending(["lake/rain"])),
    "a context": say(lambda s: s.add_context("lake/rain", "note", "of islands")),
    "a correction": say(lambda s: s.correct("lake/rain", "id", "the island", "eve")),
    "another sampling": lambda f: deployed(f, sampling={"rows": 3}),
    "hidden columns": lambda f: deployed(f, {"privacy": {"hidden_columns": ["trees"]}}),
    "a source less, which had no table": away_once,
    "a source less": lambda f: deployed(f, sources=[LAKE]),
    "a file of lineage": lambda f: deployed(f, lineage={"openlineage": ["none.jsonl"]}),
    "a damaged index": lambda f: garble(file_of(f / "home" / "index"), random.Random(0)),
    "no index": gone_index,
    "a table that the index lacks": forgotten_by_index,
    "a table that only the index has": strange_in_index,
    "readers that the index does not know": others_may_see,
    "a damaged state": lambda f: garble(f / "home" / "state.db", random.Random(0)),
}
"""What makes a run do something, by which it is told here that it did."""

HEALED = {
    "headers without vectors": say(lambda s: s.headers.forget()),
    "an answered question": say(answered),
}
"""What a run does that needs none."""

DOUBT = {
    "a run that did not end": say(lambda s: s.runs.begin("killed")),
    "another prefix of pages": lambda f: deployed(f, dagster={"key_prefix": "weather"}),
    "a source without pages": lambda f: deployed(f, {"visible": False}),
    "rows on pages": lambda f: deployed(f, dagster={"show_rows": True}),
    "another history": lambda f: shutil.rmtree(f / "home" / "dagster"),
    "no state": lambda f: (f / "home" / "state.db").unlink(),
    "questions of its own": lambda f: deployed(f, bench={"mined": True}),
    "a table whose page tells less": say(lambda s: s.asset_keys.forget(["pneuma/lake/rain"])),
}


def test_nothing_is_work_and_the_listing_is_kept(folder, monkeypatch):
    monkeypatch.setattr(index_run, "run_indexing", None)
    with stored(folder) as store:
        before = store.listings.listed_at()
    kept = state(folder)
    manifest = folder / "home" / "tables.manifest"
    written = manifest.read_bytes()
    manifest.write_bytes(written[:-9])
    (folder / "home" / "state.db.backup").unlink()
    with Workspace(here(folder)) as workspace:
        report = workspace.index()
    assert (report.unchanged, report.indexed, report.succeeded) == (4, 0, True)
    assert report.stage_seconds == {}
    with stored(folder) as store:
        after = store.listings.listed_at()
    assert all(after[name] > before[name] for name in ("lake", "hill"))
    assert state(folder) == kept
    assert manifest.read_bytes() == written
    assert (folder / "home" / "state.db.backup").exists()
    run_stages(here(folder))
    assert state(folder) == kept  # nor would a run have done anything


def test_of_some_sources_the_others_are_not_listed(folder):
    (folder / "hill" / "new.csv").write_text("id\n1\n")
    report = report_unchanged(here(folder), {}, ["lake"])
    assert report.unchanged == 3
    assert report_unchanged(here(folder), {}, ["hill"]) is None
    assert report_unchanged(here(folder), {}, ["lake"]) is None  # by now one waits


def test_what_was_killed_before_the_last_run_is_no_doubt(folder):
    with stored(folder) as store, store._db.write() as connection:
        store.listings.begin("lake", ["lake", "hill"])
        store.runs.begin("killed")
        began = runs.update().where(runs.c.run_id == "killed").values(started_at=0.0)
        connection.execute(began)
    assert report_unchanged(here(folder), {}, ()) is not None


@pytest.mark.parametrize("case", WORK)
def test_a_run_is_started_for_all_that_it_acts_on(folder, case):
    WORK[case](folder)
    shutil.copytree(folder, folder.with_name(case))
    assert report_unchanged(here(folder), {}, ()) is None
    restore(folder, case)
    try:
        before = state(folder)
        run_stages(here(folder))
    except (PneumaError, sqlite3.DatabaseError):
        return
    assert state(folder) != before


@pytest.mark.parametrize("case", HEALED)
def test_what_is_embedded_for_questions_needs_no_run(folder, case):
    HEALED[case](folder)
    before = state(folder)
    assert report_unchanged(here(folder), {}, ()) is not None
    healed = state(folder)
    assert healed != before
    run_stages(here(folder))
    assert state(folder) == healed


@pytest.mark.parametrize("case", DOUBT)
def test_a_run_is_started_where_dagster_may_have_something_to_tell(folder, case):
    DOUBT[case](folder)
    assert report_unchanged(here(folder), {}, ()) is None
