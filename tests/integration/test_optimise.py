"""The job that compacts the index, and its schedule, beside runs that index."""

import subprocess
import sys

import dagster as dg
import pytest

from pneuma_assets.resources.build import build_resources
from tests.support.ticks import QUIET, Ticking, tiny_lake

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("read_here")]


@pytest.fixture
def lake(tmp_path):
    (tmp_path / "dagster").mkdir()
    tiny_lake(tmp_path, 2)
    with dg.DagsterInstance.local_temp(str(tmp_path / "dagster")) as opened:
        yield Ticking(tmp_path, opened, dagster={"key_prefix": "team/lake"})


def tick(lake) -> dg.RunRequest | dg.SkipReason:
    schedule = lake.definitions.resolve_schedule_def("team_lake_optimise_schedule")
    assert schedule.default_status == dg.DefaultScheduleStatus.STOPPED
    with dg.build_schedule_context(instance=lake.instance) as context:
        return schedule(context)


def test_the_index_is_compacted_and_the_run_says_what_that_gave(lake):
    lake.execute()
    assert isinstance(tick(lake), dg.RunRequest)
    job = lake.definitions.resolve_job_def("team_lake_optimise")
    (op,) = job.nodes
    assert op.definition.pool == "index_writer"
    result = job.execute_in_process(instance=lake.instance, run_config=QUIET)
    (made,) = [e.step_output_data.metadata for e in result.all_events if e.is_successful_output]
    assert (made["tables"].value, made["blocks before"].value) == (2, made["blocks after"].value)
    assert made["MB after"].value <= made["MB before"].value
    assert "seconds" in made


KILLED = """
import os, sys, pathlib
import dagster as dg
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from tests.support.ticks import QUIET, Ticking
with dg.DagsterInstance.local_temp(sys.argv[1] + "/dagster") as instance:
    lake = Ticking(pathlib.Path(sys.argv[1]), instance, dagster={"key_prefix": "team/lake"})
    EmbeddedIndex.info = lambda _: os._exit(9)
    job = lake.definitions.resolve_job_def(sys.argv[2])
    job.execute_in_process(instance=instance, run_config=QUIET)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["team_lake_optimise", "team_lake_check_tables"])
def test_a_killed_run_is_buried_by_its_own_schedule(lake, tmp_path, name):
    lake.execute()
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), name], check=False)
    assert done.returncode == 9
    (run,) = lake.instance.get_runs(dg.RunsFilter(job_name=name))
    assert run.status == dg.DagsterRunStatus.STARTED
    if name == "team_lake_optimise":
        assert isinstance(tick(lake), dg.RunRequest)
    else:
        (tmp_path / "lake").rename(tmp_path / "away")
        lake.watch()
        schedule = lake.definitions.resolve_schedule_def("team_lake_hourly_checks")
        store = {"team_lake_store": build_resources(lake.loaded)["pneuma_store"]}
        with dg.build_schedule_context(instance=lake.instance, resources=store) as context:
            assert isinstance(schedule(context), dg.RunRequest)
    assert lake.instance.get_run_by_id(run.run_id).status == dg.DagsterRunStatus.FAILURE


def test_it_waits_for_runs_that_index(lake):
    job = lake.definitions.resolve_job_def(lake.names("index_tables"))
    run = lake.instance.create_run_for_job(job, tags=job.run_tags)
    assert tick(lake).skip_message == f"Run {run.run_id} is still running."
