"""When the index is brought up to date without anybody asking."""

import dagster as dg

from jobs.dead_runs import bury_dead_runs, unfinished_runs
from jobs.index_tables import index_tables_job
from resources.store import StoreResource


@dg.schedule(job=index_tables_job, cron_schedule="0 * * * *")
def hourly_indexing(
    context: dg.ScheduleEvaluationContext, pneuma_store: StoreResource
) -> dg.RunRequest | dg.SkipReason:
    """Index what is new, every hour, unless an earlier run still works.

    Off until it is switched on in the UI. Listing unchanged sources costs seconds.
    """
    bury_dead_runs(context.instance, pneuma_store.store)
    working = unfinished_runs(context.instance)
    if working:
        return dg.SkipReason(f"Run {working[0].run_id} still works.")
    return dg.RunRequest()
