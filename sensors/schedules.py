"""When the index is brought up to date without anybody asking."""

from typing import Any

import dagster as dg

from jobs.dead_runs import bury_dead_runs, unfinished_runs
from pneuma_assets.core.config.load import LoadedDeployment
from resources.binding import bound
from resources.names import Names
from resources.store import StoreResource


def hourly_indexing(loaded: LoadedDeployment, job: Any) -> dg.ScheduleDefinition:
    """Return the schedule of a deployment; it is off until it is switched on in the UI."""
    names, config = Names.of(loaded.deployment), loaded.deployment.dagster

    def index_what_is_new(
        context: dg.ScheduleEvaluationContext, pneuma_store: StoreResource
    ) -> dg.RunRequest | dg.SkipReason:
        """Index what is new, unless an earlier run still works; unchanged sources cost seconds."""
        bury_dead_runs(context.instance, pneuma_store.store, job.name)
        working = unfinished_runs(context.instance, job.name)
        if working:
            return dg.SkipReason(f"Run {working[0].run_id} still works.")
        return dg.RunRequest()

    schedule = dg.schedule(
        name=names("hourly_indexing"),
        job=job,
        cron_schedule=config.cron,
        execution_timezone=config.time_zone,
    )
    return schedule(bound(index_what_is_new, names))
