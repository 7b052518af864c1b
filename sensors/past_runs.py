"""What Dagster knows of the runs of a job, as far as it decides when the next one is asked for."""

from dataclasses import dataclass

import dagster as dg

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.store import Store
from pneuma_assets.jobs.marks import run_mark

FINISHED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
FIRST_WAIT_S = 120.0
LONGEST_WAIT_S = 3600.0
_MOST = 30
"""Runs that are looked at; after six the wait does not grow: 2, 4, 8, 16, 32 minutes, an hour."""

_ROOT = "dagster/root_run_id"
"""The tag of a run that was executed again: which run was the first of them."""


@dataclass(frozen=True, slots=True)
class PastRuns:
    """How the runs of a job ended.

    Attributes:
        in_vain: How many of the newest in a row did nothing: they failed, were cancelled, or
            succeeded without any table to work on. One that was executed again counts once.
        ended_at: When the newest ended, in seconds since 1970; None where there was none.
        newest: The newest run, if any.
    """

    in_vain: int = 0
    ended_at: float | None = None
    newest: dg.DagsterRun | None = None

    def next_at(self) -> float:
        """Return before when no other run is asked for, in seconds since 1970."""
        if self.ended_at is None or not self.in_vain:
            return 0.0
        return self.ended_at + min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** (self.in_vain - 1))


def newest_run_at(loaded: LoadedDeployment, instance: dg.DagsterInstance, job: str) -> float | None:
    """Return when this deployment's newest run of a job was made, in seconds since 1970."""
    chosen = dg.RunsFilter(job_name=job, tags=run_mark(loaded))
    records = instance.get_run_records(chosen, limit=1)
    return records[0].create_timestamp.timestamp() if records else None


def past_runs(
    loaded: LoadedDeployment, instance: dg.DagsterInstance, store: Store, job: str
) -> PastRuns:
    """Return how this deployment's runs of a job ended, those included that people started."""
    chosen = dg.RunsFilter(job_name=job, statuses=FINISHED, tags=run_mark(loaded))
    records = instance.get_run_records(chosen, limit=_MOST)
    if not records:
        return PastRuns()
    in_vain: set[str] = set()
    for record in records:
        run = record.dagster_run
        if run.status == dg.DagsterRunStatus.SUCCESS and has_worked(store, run.run_id):
            break
        in_vain.add(run.tags.get(_ROOT, run.run_id))
    newest = records[0]
    ended = newest.end_time or newest.update_timestamp.timestamp()
    return PastRuns(len(in_vain), ended, newest.dagster_run)


def has_worked(store: Store, run_id: str) -> bool:
    """Tell whether a run changed a table, who may see one, or which index is asked.

    Where the store does not know the run any more, it is taken to have worked.
    """
    stages = store.runs.stages(run_id)
    if not stages:
        return True
    counted = {
        "raw_tables": ("claimed", "begun anew", "other readers"),
        "search_index": ("tables", "removed", "renamed", "forgotten", "published"),
    }
    return any(
        stages[stage].figures.get(name, 0)
        for stage, names in counted.items()
        if stage in stages
        for name in names
    )
