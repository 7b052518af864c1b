"""What Dagster's own tools make of our tables' pages, on a real instance."""

import os
import time
from datetime import timedelta

import dagster as dg
import pytest

from pneuma_assets.assets.table_events import CHECK
from pneuma_assets.definitions import build_definitions
from tests.support.pipeline_support import deployment, run_job

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("small_encoder")]

IRIS = dg.AssetKey(["pneuma", "lake", "iris"])
BROKEN = dg.AssetKey(["pneuma", "lake", "broken"])
ROWS = "petal,sepal\n" + "1,2\n" * 30


@pytest.fixture
def lake(tmp_path):
    lake = tmp_path / "lake"
    lake.mkdir()
    (lake / "iris.csv").write_text(ROWS)
    return lake


def written(path, text, *, hours_ago=0.0):
    path.write_text(text)
    then = time.time() - hours_ago * 3600
    os.utime(path, (then, then))
    return then


def checked(loaded, instance, checks):
    """What Dagster's own checks say of our tables, merged with our definitions by another team."""
    theirs = dg.Definitions(asset_checks=checks)
    ours = build_definitions(loaded)
    selected = dg.AssetSelection.checks(*checks)
    job = dg.define_asset_job("check_tables", selection=selected)
    merged = dg.Definitions.merge(ours, theirs, dg.Definitions(jobs=[job]))
    done = merged.resolve_job_def("check_tables").execute_in_process(instance=instance)
    return {one.asset_key: one for one in done.get_asset_check_evaluations()}


def latest(instance, key):
    return instance.get_latest_materialization_event(key).asset_materialization.metadata


def test_freshness_goes_by_when_the_data_was_written(tmp_path, lake, instance):
    loaded = deployment(tmp_path, lake)
    then = written(lake / "iris.csv", ROWS, hours_ago=5)
    run_job(loaded, instance)
    assert latest(instance, IRIS)["dagster/last_updated_timestamp"].value == pytest.approx(then)

    def fresh(hours):
        checks = dg.build_last_update_freshness_checks(
            assets=[IRIS], lower_bound_delta=timedelta(hours=hours)
        )
        return checked(loaded, instance, checks)[IRIS].passed

    assert fresh(6)
    assert not fresh(4)
    events = len(instance.fetch_materializations(IRIS, limit=10).records)
    written(lake / "iris.csv", ROWS)  # the same rows again, as a daily export writes them
    run_job(loaded, instance)
    assert fresh(1)
    run_job(loaded, instance)
    assert len(instance.fetch_materializations(IRIS, limit=10).records) == events + 1


def health(loaded, instance, key):
    """The last evaluation of the check on a table's problem; None where there is no such check."""
    graph = build_definitions(loaded).resolve_asset_graph()
    defined = dg.AssetCheckKey(key, CHECK) in graph.asset_check_keys
    found = instance.event_log_storage.get_asset_check_execution_history(
        dg.AssetCheckKey(key, CHECK), limit=1
    )
    return defined, [one.status.value for one in found]


def test_a_problem_is_on_the_tables_own_page_until_it_is_solved(tmp_path, lake, instance):
    loaded = deployment(tmp_path, lake)
    (lake / "broken.parquet").write_bytes(b"none")
    run_job(loaded, instance)
    assert health(loaded, instance, BROKEN) == (True, ["FAILED"])
    assert health(loaded, instance, IRIS) == (False, [])
    node = build_definitions(loaded).resolve_asset_graph().get(BROKEN)
    assert node.description.startswith("Problem: could not be read: ")
    assert BROKEN not in instance.get_asset_keys(), "it was never searchable"

    (lake / "broken.parquet").unlink()
    (lake / "broken.csv").write_text(ROWS)
    run_job(loaded, instance)
    defined, (status,) = health(loaded, instance, BROKEN)
    assert (defined, status) == (False, "SUCCEEDED")
    assert BROKEN in instance.get_asset_keys()
    assert "Problem" not in build_definitions(loaded).resolve_asset_graph().get(BROKEN).description


def test_tables_of_a_hidden_source_have_no_page_and_lose_those_they_had(tmp_path, lake, instance):
    run_job(deployment(tmp_path, lake), instance)
    assert IRIS in instance.get_asset_keys()
    source = {"name": "lake", "type": "folder", "path": str(lake), "visible": False}
    hidden = deployment(tmp_path, lake, sources=[source])
    assert IRIS not in build_definitions(hidden).resolve_asset_graph().get_all_asset_keys()
    run_job(hidden, instance)
    assert IRIS not in instance.get_asset_keys()
    written(lake / "iris.csv", "petal\n1\n")
    (lake / "broken.parquet").write_bytes(b"none")
    run_job(hidden, instance)
    assert IRIS not in instance.get_asset_keys()
    assert health(hidden, instance, BROKEN) == (False, [])


def test_rows_are_shown_only_where_that_is_asked_for(tmp_path, lake, instance):
    run_job(deployment(tmp_path, lake), instance)
    assert "sampled rows" not in latest(instance, IRIS)
    stages = [dg.AssetKey(["pneuma", name]) for name in ("sampled_rows", "schema_narrations")]
    assert not any("preview" in latest(instance, key) for key in stages)
    for asked in (True, False):  # nothing else has changed
        run_job(deployment(tmp_path, lake, dagster={"show_rows": asked}), instance)
        assert ("sampled rows" in latest(instance, IRIS)) == asked
    (tmp_path / "two").mkdir()
    shown = deployment(tmp_path / "two", lake, dagster={"show_rows": True, "key_prefix": "two"})
    run_job(shown, instance)
    assert (
        "petal: 1" in latest(instance, dg.AssetKey(["two", "lake", "iris"]))["sampled rows"].value
    )
    assert all("preview" in latest(instance, dg.AssetKey(["two", *k.path[1:]])) for k in stages)
