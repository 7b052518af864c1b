"""The job that compacts the index, and its schedule, beside runs that index."""

import dagster as dg
import pytest

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


def test_it_waits_for_runs_that_index(lake):
    job = lake.definitions.resolve_job_def(lake.names("index_tables"))
    run = lake.instance.create_run_for_job(job, tags=job.run_tags)
    assert tick(lake).skip_message == f"Run {run.run_id} is still running."
