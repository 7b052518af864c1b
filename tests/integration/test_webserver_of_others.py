"""A run asks a real webserver of Dagster what another code location says of its tables."""

import contextlib
import runpy
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from pneuma_assets.core.lineage.edges import Edge, EdgeKind
from pneuma_assets.core.pipeline import dagster_graphql
from pneuma_assets.core.pipeline.dagster_graphql import webserver_assets
from pneuma_assets.core.pipeline.lineage import update_lineage
from pneuma_assets.core.service.state import open_store
from pneuma_assets.definitions import build_definitions
from tests.support.pipeline_support import deployment, run_job, small_lake
from tests.support.waiting import wait_until
from tests.support.webserver import Webserver, environment, free_port, serving

pytestmark = [pytest.mark.integration, pytest.mark.slow]

THEIRS = """
import dagster as dg
from pathlib import Path

here = Path(__file__).parent

raw = dg.AssetSpec(
    ["shop", "raw"],
    description="Orders as the shop took them.",
    owners=["ann@example.com", "team:sales"],
    tags={"tier": "gold"},
    kinds={"s3"},
    metadata={"dagster/table_name": str(here / "lake/t1.csv")},
)


@dg.asset(
    key=["shop", "clean"],
    deps=[raw, dg.AssetKey(["shop", "model"])],
    metadata={"dagster/uri": dg.MetadataValue.url((here / "lake/t2.csv").as_uri())},
)
def clean():
    columns = [dg.TableColumn("amount_2", "INT", description="In euros, without tax.")]
    lineage = {"amount_2": [dg.TableColumnDep(raw.key, "amount_1")]}
    return dg.MaterializeResult(metadata={
        "dagster/column_schema": dg.TableSchema(columns),
        "dagster/column_lineage": dg.TableColumnLineage(lineage),
    })


@dg.asset(key=["shop", "model"])
def model(): ...


defs = dg.Definitions([raw, clean, model])
"""


@contextlib.contextmanager
def of_others(folder: Path) -> Iterator[str]:
    """Start a webserver over their code location, whose asset was materialized once."""
    (folder / "theirs.py").write_text(THEIRS)
    home = folder / "dagster_home"
    home.mkdir()
    theirs = runpy.run_path(str(folder / "theirs.py"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DAGSTER_HOME", str(home))
        with dg.DagsterInstance.get() as instance:
            dg.materialize([theirs[name] for name in ("raw", "model", "clean")], instance=instance)
    port = free_port()
    command = ("dagster_webserver", "-f", "theirs.py", "-p", str(port))
    with serving(folder, *command, env=environment(DAGSTER_HOME=str(home))):
        wait_until(Webserver(port).is_loaded, "the webserver does not load their definitions")
        yield f"http://127.0.0.1:{port}"


def known(loaded) -> tuple[list[Edge], list[str], list[str]]:
    with open_store(loaded, {}) as store:
        texts = [one.text for one in store.documents.of_tables(["lake/t1"])["lake/t1"]]
        told = [text for text in texts if "Orders as" in text]
        return store.edges.all(), told, [problem.cause for problem in store.problems.all()]


def test_what_another_code_location_says_is_heard_by_a_run_and_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(dagster_graphql, "PAGE", 2)  # their three assets take two answers
    lake = small_lake(tmp_path)
    edge = Edge("lake/t1", "lake/t2", EdgeKind.DAGSTER, (("amount_1", "amount_2"),))
    with dg.instance_for_test() as instance:
        with of_others(tmp_path) as url:
            loaded = deployment(tmp_path, lake, lineage={"webserver": {"url": url}})
            run_job(loaded, instance)
            edges, (text,), problems = known(loaded)
        assert edges == [edge]
        assert problems == []
        specs = {spec.key: spec for spec in build_definitions(loaded).resolve_all_asset_specs()}
        page = specs[dg.AssetKey(["pneuma", "lake", "t1"])]
        assert [dep.asset_key for dep in page.deps] == [dg.AssetKey(["shop", "raw"])]
        assert "s3" in page.kinds
        assert page.owners == ["ann@example.com", "team:sales"]
        assert text.splitlines() == [
            "Orders as the shop took them.",
            "Owners: ann@example.com, team:sales",
            "Tags: tier=gold",
        ]
    gone = webserver_assets(loaded.deployment.lineage.webserver, {})
    with open_store(loaded, {}) as store:
        assert update_lineage(store, "another", loaded.deployment, gone) == 0
    edges, told, (problem,) = known(loaded)
    assert (edges, told) == ([edge], [text])
    assert "webserver" in problem
    assert "what it said before stays" in problem
