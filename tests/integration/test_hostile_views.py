"""A real run over a database file that reaches for secrets: none of them is kept anywhere."""

from pathlib import Path

import dagster as dg
import duckdb
import pytest

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.core.store import Store
from tests.support.deployment_files import deploy
from tests.support.hostile_views import SECRET, build_hostile_views
from tests.support.pipeline_support import run_job
from tests.support.stages import run_stages

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("small_encoder")]


def test_what_a_view_read_leaves_with_its_permission(tmp_path: Path):
    outside = tmp_path / "outside.csv"
    outside.write_text(f"who,what\nada,{SECRET}\n")
    with duckdb.connect(tmp_path / "v.duckdb") as connection:
        connection.execute(f"CREATE VIEW outside AS FROM read_csv('{outside}')")
        connection.execute("CREATE TABLE people AS SELECT 'ada' AS who")
    for admitted in (True, False):
        loaded = with_views(tmp_path, external_views=admitted)
        run_stages(loaded, {}, f"run {admitted}")
        with Workspace(loaded) as workspace:
            texts = {one.block.text for one in workspace.search_index.blocks()}
            documents = workspace.store.documents.of_tables(["d/main/outside"])["d/main/outside"]
            named = {problem.subject for problem in workspace.store.problems.all()}
        assert any(SECRET in text for text in texts) == admitted
        assert bool(documents) == admitted
        assert ("d/main/outside" in named) != admitted
        assert any("ada" in text for text in texts)


def with_views(folder: Path, **options: object) -> LoadedDeployment:
    return deploy(folder, {"name": "d", "type": "duckdb", "path": "v.duckdb", **options})


@pytest.mark.slow
def test_no_secret_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_SECRET", SECRET)
    monkeypatch.setenv("HTTP_PROXY", f"http://user:{SECRET}@127.0.0.1:9")
    database = tmp_path / "v.duckdb"
    views = build_hostile_views(database, tmp_path / "secrets")
    loaded = with_views(tmp_path)
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        assert run_job(loaded, instance, isolated=True).success
    with Store(loaded.home / "state.db") as store:
        indexed = {r.table_id for r in store.tables.records() if r.indexed_at is not None}
        problems = {problem.subject for problem in store.problems.all()}
    assert {"d/main/people", "d/main/adults"} <= indexed
    assert {f"d/main/{view}" for view in views} <= indexed | problems
    kept = [
        p for p in tmp_path.rglob("*") if p.is_file() and (tmp_path / "secrets") not in p.parents
    ]
    assert len(kept) > 3
    assert not [p for p in kept if p != database and SECRET.encode() in p.read_bytes()]
