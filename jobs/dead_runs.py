"""Runs whose process was killed: Dagster believes they still work, the store knows better."""

from collections.abc import Sequence

import dagster as dg

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.store import Store
from pneuma_assets.jobs.index_tables import run_tags

UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
]


def unfinished_runs(
    loaded: LoadedDeployment, instance: dg.DagsterInstance, job: str
) -> Sequence[dg.DagsterRun]:
    """Return this deployment's runs of a job that Dagster takes for waiting or working."""
    chosen = dg.RunsFilter(job_name=job, statuses=UNFINISHED, tags=run_tags(loaded))
    return instance.get_runs(chosen)


def fail_orphaned_runs(
    loaded: LoadedDeployment, instance: dg.DagsterInstance, store: Store, job: str
) -> list[str]:
    """Mark runs whose process is no more as failed; returns their ids.

    Their pool slots are freed, too: without a daemon the next run would wait for them for ever.
    """
    runs = {run.run_id: run for run in unfinished_runs(loaded, instance, job)}
    storage = instance.event_log_storage
    pools = [storage.get_concurrency_info(pool) for pool in storage.get_concurrency_keys()]
    holders = {slot.run_id for pool in pools for slot in pool.claimed_slots}
    waiters = {step.run_id for pool in pools for step in pool.pending_steps}
    dead = store.runs.dead({*runs, *holders, *waiters})
    for run_id in dead:
        storage.free_concurrency_slots_for_run(run_id)
        if run_id in runs:
            instance.report_run_failed(runs[run_id], "Its process was killed.")
    return dead
