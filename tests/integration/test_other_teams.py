"""Other teams and other deployments in the same Dagster keep what is theirs."""

import time
from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest

from pneuma_assets.assets.table_events import asset_key
from pneuma_assets.definitions import build_definitions
from tests.support.pipeline_support import deployment, run_job

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("small_encoder")]

RAN, NEVER = dg.AssetKey(["lake", "ran"]), dg.AssetKey(["lake", "never"])
OBSERVED, REPORT = dg.AssetKey(["lake", "observed"]), dg.AssetKey(["lake", "report"])
THEIRS = (RAN, NEVER, OBSERVED, REPORT)
DAY = timedelta(days=1)


@dg.asset(key=RAN, description="Theirs.", owners=["team:botany"])
def ran() -> dg.MaterializeResult:
    return dg.MaterializeResult(metadata={"dagster/row_count": 7})


@dg.asset(key=NEVER, freshness_policy=dg.FreshnessPolicy.time_window(fail_window=DAY))
def never() -> None:
    """An asset that has a definition and was never run."""


EAGER = dg.AutomationCondition.eager()


@dg.asset(key=REPORT, deps=[NEVER], automation_condition=EAGER)
def report() -> None:
    """Runs as soon as the one that never ran does."""


@dg.asset(key=["lake", "summary"], deps=[RAN], automation_condition=EAGER)
def summary() -> None:
    """Runs as soon as the one that ran does so again."""


def team() -> dg.Definitions:
    """The other code location, whole."""
    checked = [RAN, NEVER, OBSERVED]
    return dg.Definitions(
        assets=[ran, never, report, summary, dg.AssetSpec(OBSERVED)],
        asset_checks=dg.build_last_update_freshness_checks(assets=checked, lower_bound_delta=DAY),
    )


class Team:
    """What the team sees in its own location."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self._instance = instance
        self._cursor = None
        dg.materialize([ran], instance=instance)
        observed = {"dagster/last_updated_timestamp": dg.MetadataValue.timestamp(time.time())}
        instance.report_runless_asset_event(dg.AssetObservation(OBSERVED, metadata=observed))
        self.automated()  # what was before

    def automated(self) -> int:
        done = dg.evaluate_automation_conditions(team(), self._instance, cursor=self._cursor)
        self._cursor = done.cursor
        return done.total_requested

    def fresh(self) -> dict[dg.AssetKey, bool]:
        defs = team()
        keys = [key for one in defs.asset_checks for key in one.check_keys]
        selected = dg.AssetSelection.checks(*keys)
        job = dg.define_asset_job("fresh", selection=selected)
        merged = dg.Definitions.merge(defs, dg.Definitions(jobs=[job]))
        done = merged.resolve_job_def("fresh").execute_in_process(instance=self._instance)
        return {one.asset_key: one.passed for one in done.get_asset_check_evaluations()}

    def sees(self) -> object:
        events = {
            key: (
                [
                    r.storage_id
                    for r in self._instance.fetch_materializations(key, limit=50).records
                ],
                [r.storage_id for r in self._instance.fetch_observations(key, limit=50).records],
            )
            for key in THEIRS
        }
        latest = self._instance.get_latest_materialization_event(RAN).asset_materialization
        known = set(self._instance.get_asset_keys()) & set(THEIRS)
        return events, dict(latest.metadata), known, self.fresh()


def lake_of(folder: Path) -> Path:
    lake = folder / "lake"
    lake.mkdir()
    for key in THEIRS:
        (lake / f"{key.path[-1]}.csv").write_text("petal,sepal\n1,2\n3,4\n")
    return lake


@pytest.mark.slow
def test_nothing_of_theirs_changes_whatever_becomes_of_our_tables(tmp_path, instance):
    lake = lake_of(tmp_path)
    theirs = Team(instance)
    before, graph = theirs.sees(), team().resolve_asset_graph()
    assert before[3] == {RAN: True, NEVER: False, OBSERVED: True}
    loaded = deployment(tmp_path, lake)

    def unchanged(after: str) -> None:
        assert theirs.sees() == before, after
        assert theirs.automated() == 0, after
        merged = dg.Definitions.merge(build_definitions(loaded), team()).resolve_asset_graph()
        for key in THEIRS:
            ours, alone = merged.get(key), graph.get(key)
            assert (ours.description, ours.owners, ours.metadata, ours.parent_keys) == (
                (alone.description, alone.owners, alone.metadata, alone.parent_keys)
            ), after

    run_job(loaded, instance)
    ours = {key.to_user_string() for key in instance.get_asset_keys()}
    assert {f"pneuma/{key.to_user_string()}" for key in THEIRS} <= ours
    unchanged("index")
    for name in ("ran", "never"):
        (lake / f"{name}.csv").write_text("petal,sepal,colour\n1,2,red\n")
    (lake / "observed.csv").rename(lake / "renamed.csv")
    (lake / "report.csv").write_bytes(b"\x00\xff")
    run_job(loaded, instance)
    unchanged("change, rename and a table that cannot be read")
    for file in lake.glob("*.csv"):
        file.unlink()
    (lake / "ran.csv").write_text("petal\n1\n")
    run_job(loaded, instance)
    unchanged("delete")
    loaded = deployment(tmp_path, lake, dagster={"key_prefix": "moved"})
    run_job(loaded, instance)
    assert dg.AssetKey(["pneuma", "lake", "ran"]) not in instance.get_asset_keys()
    unchanged("wipe under another prefix")
    # An event under one of their keys would be seen.
    instance.report_runless_asset_event(dg.AssetMaterialization(NEVER))
    instance.report_runless_asset_event(dg.AssetMaterialization(RAN))
    assert theirs.automated() == 2
    assert theirs.sees() != before


def lake_in(folder, *names):
    for name in names:
        path = folder / "lake" / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("petal,sepal\n1,2\n3,4\n")
    return folder / "lake"


def deployed(folder):
    return deployment(folder, lake_in(folder, "nature/iris", "solo"))


def history(instance, key):
    """The runs whose materializations of this key Dagster knows, newest first."""
    found = instance.fetch_materializations(key, limit=100).records
    return [record.event_log_entry.run_id for record in found]


def test_a_key_that_somebody_else_took_over_is_left_alone(tmp_path, instance):
    loaded = deployed(tmp_path)
    run_job(loaded, instance)
    key = asset_key("pneuma", "lake/nature/iris")
    instance.report_runless_asset_event(dg.AssetMaterialization(key))
    before = history(instance, key)
    table = tmp_path / "lake/nature/iris.csv"
    table.write_text("petal,sepal,more\n1,2,3\n")
    run_job(loaded, instance)
    table.unlink()
    run_job(loaded, instance)
    assert history(instance, key) == before


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


def test_a_stage_adds_nothing_to_a_history_of_somebody_elses(tmp_path, instance):
    key = dg.AssetKey(["pneuma", "embedding_blocks"])
    loaded = deployed(tmp_path)
    instance.report_runless_asset_event(dg.AssetMaterialization(key, metadata={"theirs": 1}))
    with pytest.raises(
        dg.Failure,
        match="pneuma/embedding_blocks was materialized by somebody else; set another name",
    ):
        run_job(loaded, instance)
    (theirs,) = instance.fetch_materializations(key, limit=5).records
    assert set(theirs.asset_materialization.metadata) == {"theirs"}
    instance.wipe_assets([key])
    for _ in range(2):  # what our own runs leave is ours
        assert run_job(loaded, instance).success
