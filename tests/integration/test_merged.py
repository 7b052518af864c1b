"""Our definitions beside others in one code location, whatever these set and are called."""

import os
import subprocess
import sys
from collections import Counter

import dagster as dg
import pytest

from pneuma_assets.assets.stages import STAGES
from pneuma_assets.core.service.workspace import Workspace
from tests.support.deployment_files import deploy, folder_source
from tests.support.merged_location import FILES, merged
from tests.support.pipeline_support import small_lake
from tests.support.waiting import LONGEST

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("read_here")]

THEIRS = [dg.AssetKey("raw_tables"), dg.AssetKey("search_index")]
EVALUATED = dg.DagsterEventType.ASSET_CHECK_EVALUATION


@pytest.fixture
def two(tmp_path, monkeypatch):
    """Two deployments, one with a name, one with a prefix, each with a lake of its own."""
    said = [{"name": "a"}, {"dagster": {"key_prefix": "team/b"}}]
    made = []
    for tables, more in enumerate(said, 2):
        lake = small_lake(tmp_path / str(tables), tables)
        made.append(deploy(lake.parent, folder_source(lake), **more))
    monkeypatch.setenv(FILES, os.pathsep.join(str(one.file) for one in made))
    return made


def found(loaded) -> set[str]:
    with Workspace(loaded, {}) as workspace:
        return set(workspace.search_index.list_tables())


def test_each_job_of_a_location_does_its_own_work(two, instance):
    definitions = merged()
    for name, loaded, tables in zip(["pneuma_a", "team_b"], two, (2, 3), strict=True):
        job = definitions.resolve_job_def(f"{name}_index_tables")
        assert job.executor_def.name == "in_process"
        result = job.execute_in_process(instance=instance)
        made = {event.asset_key for event in result.get_asset_materialization_events()}
        assert {"_".join(key.path[:2]) for key in made} == {name}
        assert len(found(loaded)) == tables
    assert {instance.get_latest_materialization_event(key) for key in THEIRS} == {None}
    assert definitions.resolve_job_def("index_tables").execute_in_process(instance=instance).success


@pytest.mark.slow
def test_stages_materialized_by_hand_have_a_process_each(two, tmp_path, monkeypatch):
    """The location's executor is the other team's, and Dagster's own default is of this kind."""
    (tmp_path / "dagster").mkdir()
    (tmp_path / "dagster/dagster.yaml").write_text("telemetry: {enabled: false}\n")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "dagster"))
    command = [
        sys.executable,
        "-m",
        "dagster",
        "asset",
        "materialize",
        "--select",
        "key:pneuma/a/*",
    ]
    chosen = ["--select", "key:pneuma/a/*", "-m", "tests.support.merged_location"]
    subprocess.run([*command, *chosen], check=True, timeout=LONGEST)
    with dg.DagsterInstance.get() as instance:
        (run,) = instance.get_runs()
        logged = [one.dagster_event for one in instance.all_logs(run.run_id) if one.dagster_event]
    kinds = Counter(event.event_type for event in logged)
    assert kinds[dg.DagsterEventType.STEP_WORKER_STARTED] >= len(STAGES) + 1, "the checks, too"
    checked = [one for one in logged if one.event_type is EVALUATED]
    assert {one.asset_check_evaluation_data.passed for one in checked} == {True}
    assert len(found(two[0])) == 2
    assert not two[1].home.exists()
