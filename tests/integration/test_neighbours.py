"""Other teams and other deployments in the same Dagster instance keep what is theirs."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import dagster as dg
import pytest

from pneuma_assets.assets.table_events import asset_key
from pneuma_assets.core.store import Store
from pneuma_assets.definitions import build_definitions
from tests.support.pipeline_support import deployment, run_job

pytestmark = pytest.mark.integration

THEIRS = dg.AssetKey(["lake", "nature", "iris"])


@dg.asset(key=THEIRS)
def iris() -> dg.MaterializeResult:
    """A neighbour's asset, in a code location of its own."""
    return dg.MaterializeResult(metadata={"owner": "botany"})


def lake_in(folder, *names):
    for name in names:
        path = folder / "lake" / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("petal,sepal\n1,2\n3,4\n")
    return folder / "lake"


def deployed(folder, prefix=None):
    """A deployment of its own state folder over the lake in `folder`."""
    more = {} if prefix is None else {"dagster": {"key_prefix": prefix}}
    return deployment(folder, lake_in(folder, "nature/iris", "solo"), **more)


def history(instance, key):
    """The runs whose materializations of this key Dagster knows, newest first."""
    found = instance.fetch_materializations(key, limit=100).records
    return [record.event_log_entry.run_id for record in found]


def test_an_asset_of_another_team_keeps_its_history(tmp_path, instance):
    made = dg.materialize([iris], instance=instance).run_id
    loaded = deployed(tmp_path)
    run_job(loaded, instance)
    assert history(instance, THEIRS) == [made]
    (tmp_path / "lake/nature/iris.csv").unlink()
    run_job(loaded, instance)
    assert history(instance, THEIRS) == [made]
    latest = instance.get_latest_materialization_event(THEIRS)
    assert latest.asset_materialization.metadata["owner"].value == "botany"


def test_the_page_of_a_table_that_leaves_goes(tmp_path, instance):
    loaded = deployed(tmp_path)
    key = asset_key("pneuma", "lake/nature/iris")
    run_job(loaded, instance)
    assert len(history(instance, key)) == 1
    (tmp_path / "lake/nature/iris.csv").unlink()
    run_job(loaded, instance)
    assert history(instance, key) == []
    assert len(history(instance, asset_key("pneuma", "lake/solo"))) == 1


@pytest.mark.slow
def test_another_deployment_under_the_same_prefix_keeps_its_pages(tmp_path, instance):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one, two = deployed(tmp_path / "one"), deployed(tmp_path / "two")
    key = asset_key("pneuma", "lake/nature/iris")
    run_job(one, instance)
    before = history(instance, key)
    result = run_job(two, instance)
    figures = result.asset_materializations_for_node("pneuma_search_index")[-1].metadata
    assert figures["pages of others"].value == 2
    assert history(instance, key) == before
    (tmp_path / "two/lake/nature/iris.csv").unlink()
    run_job(two, instance)
    assert history(instance, key) == before


@pytest.mark.slow
def test_pages_stay_ours_when_the_state_lost_the_name_of_the_deployment(tmp_path, instance):
    loaded = deployed(tmp_path)
    run_job(loaded, instance)
    state = loaded.home / "state.db"
    with closing(sqlite3.connect(state)) as connection:
        connection.execute("DELETE FROM meta WHERE key = 'deployment'")
        connection.commit()
    (tmp_path / "lake/nature/iris.csv").write_text("petal,sepal,more\n1,2,3\n")
    result = run_job(loaded, instance)
    figures = result.asset_materializations_for_node("pneuma_search_index")[-1].metadata
    assert figures["pages of others"].value == 0
    assert len(history(instance, asset_key("pneuma", "lake/nature/iris"))) == 2
    (tmp_path / "lake/nature/iris.csv").unlink()
    run_job(loaded, instance)
    assert history(instance, asset_key("pneuma", "lake/nature/iris")) == []


@pytest.mark.slow
def test_a_key_that_somebody_else_took_over_is_left_alone(tmp_path, instance):
    loaded = deployed(tmp_path)
    run_job(loaded, instance)
    key = asset_key("pneuma", "lake/nature/iris")
    instance.report_runless_asset_event(dg.AssetMaterialization(key))
    before = history(instance, key)
    lake = lake_in(tmp_path, "nature/iris")
    (lake / "nature/iris.csv").write_text("petal,sepal,more\n1,2,3\n")
    run_job(loaded, instance)
    (lake / "nature/iris.csv").unlink()
    run_job(loaded, instance)
    assert history(instance, key) == before


@pytest.mark.slow
def test_a_new_prefix_moves_every_page_and_wipes_only_our_own(tmp_path, instance):
    run_job(deployed(tmp_path, "old/name"), instance)
    other = dg.AssetKey(["old", "name", "lake", "theirs"])
    instance.report_runless_asset_event(dg.AssetMaterialization(other))
    run_job(deployed(tmp_path, "new"), instance)
    for table_id in ("lake/nature/iris", "lake/solo"):
        assert history(instance, asset_key("old/name", table_id)) == []
        assert len(history(instance, asset_key("new", table_id))) == 1
    assert len(history(instance, other)) == 1


@pytest.mark.slow
def test_a_state_without_pages_gets_them_and_leaves_what_has_their_ids(tmp_path, instance):
    loaded = deployed(tmp_path)
    with dg.DagsterInstance.ephemeral() as elsewhere:
        run_job(loaded, elsewhere)
    with Store(loaded.home / "state.db") as store:
        store.asset_keys.forget(store.asset_keys.keys())
    instance.report_runless_asset_event(dg.AssetMaterialization(THEIRS))
    result = run_job(loaded, instance)
    figures = result.asset_materializations_for_node("pneuma_search_index")[-1].metadata
    assert figures["tables"].value == 0
    assert len(history(instance, asset_key("pneuma", "lake/nature/iris"))) == 1
    assert len(history(instance, THEIRS)) == 1
    run_job(loaded, instance)
    assert len(history(instance, asset_key("pneuma", "lake/nature/iris"))) == 1


def test_pages_are_defined_for_the_keys_that_are_ours(tmp_path, instance):
    from pneuma_assets.definitions import known_tables

    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one, two = deployed(tmp_path / "one"), deployed(tmp_path / "two")
    run_job(one, instance)
    run_job(two, instance)
    keys = {page.key for page in known_tables(one).tables}
    assert keys == {"pneuma/lake/nature/iris", "pneuma/lake/solo"}
    assert list(known_tables(two).tables) == []
    with Store(two.home / "state.db") as store:
        assert len(store.tables.records()) == 2


@pytest.mark.slow
def test_a_table_called_as_a_stage_never_marks_another_deployments_stage(tmp_path, instance):
    lake = lake_in(tmp_path, "search_index", "june")
    plain = deployment(tmp_path, lake, "sales")
    result = run_job(plain, instance)
    stage = dg.AssetKey(["pneuma", "sales", "search_index"])
    assert instance.get_latest_materialization_event(stage) is None
    assert instance.get_latest_materialization_event(asset_key("pneuma", "sales/june"))
    (made,) = (
        one
        for one in result.asset_materializations_for_node("pneuma_search_index")
        if one.asset_key == dg.AssetKey(["pneuma", "search_index"])
    )
    assert made.metadata["pages of others"].value == 1
    other = deployment(lake_in(tmp_path / "other", "a").parent, tmp_path / "other/lake")
    named = replace(other, deployment=other.deployment.model_copy(update={"name": "sales"}))
    merged = dg.Definitions.merge(build_definitions(plain), build_definitions(named))
    dg.Definitions.validate_loadable(merged)
