"""The job that compacts the index, and its schedule, beside runs that index."""

import json
import subprocess
import sys

import dagster as dg
import pytest
from typer.testing import CliRunner

from pneuma_assets.cli.app import app
from pneuma_assets.definitions import build_resources
from tests.support.ticks import QUIET, Ticking, tiny_lake

pytestmark = pytest.mark.integration


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


@pytest.mark.slow
def test_the_command_does_the_same(lake):
    lake.execute()
    done = CliRunner().invoke(app, ["optimise", "--json", "--config", str(lake.loaded.file)])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["tables"] == 2


def test_an_index_that_is_not_there_is_told(lake):
    job = lake.definitions.resolve_job_def("team_lake_optimise")
    result = job.execute_in_process(instance=lake.instance, run_config=QUIET, raise_on_error=False)
    (failed,) = [event for event in result.all_events if event.is_step_failure]
    assert "There is no search index" in failed.step_failure_data.user_failure_data.description


def test_nothing_is_asked_for_where_nothing_was_indexed(lake):
    assert tick(lake).skip_message == "There is no index yet."


def test_a_state_that_cannot_be_used_fails_the_tick_with_the_cause(lake, tmp_path):
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home/state.db").write_bytes(b"no database" * 1000)
    with pytest.raises(dg.Failure, match=r"state\.db"):
        tick(lake)


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
