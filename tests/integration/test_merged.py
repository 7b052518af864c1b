"""Our definitions beside others in one code location, whatever these set and are called."""

import os

import dagster as dg
import pytest

from pneuma_assets.core.service.workspace import Workspace
from tests.support.deployment_files import deploy, folder_source
from tests.support.merged_location import FILES, merged
from tests.support.pipeline_support import small_lake

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("read_here")]

THEIRS = [dg.AssetKey("raw_tables"), dg.AssetKey("search_index")]


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
