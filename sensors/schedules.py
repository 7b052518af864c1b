"""When the index is brought up to date without anybody asking."""

import dagster as dg

from jobs.index_tables import index_tables_job

UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
]


@dg.schedule(job=index_tables_job, cron_schedule="0 * * * *")
def hourly_indexing(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
    """Index what is new, every hour, unless an earlier run still works.

    Off until it is switched on in the UI. Listing unchanged sources costs seconds.
    """
    running = context.instance.get_run_records(
        dg.RunsFilter(job_name=index_tables_job.name, statuses=UNFINISHED), limit=1
    )
    if running:
        return dg.SkipReason(f"Run {running[0].dagster_run.run_id} still works.")
    return dg.RunRequest()
