"""The job that compacts the index, and when it is due; both apart from indexing."""

import os

import dagster as dg

from pneuma_assets.assets.report import beating, metadata
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.config.small_sections import INDEX_WRITER_POOL
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.index.registry import index_credentials, inspect_index
from pneuma_assets.core.pipeline.optimise import optimise_index
from pneuma_assets.core.progress import listening
from pneuma_assets.core.service.state import open_store
from pneuma_assets.jobs.dead_runs import fail_orphaned_runs, unfinished_runs
from pneuma_assets.jobs.index_tables import job_of_one_op
from pneuma_assets.resources.index import IndexResource
from pneuma_assets.resources.names import Names
from pneuma_assets.resources.store import StoreResource


def optimise_job(loaded: LoadedDeployment) -> dg.JobDefinition:
    """Return the job of a deployment; it waits for the writers of the index, and they for it."""
    about = "Compact the search index."
    return job_of_one_op(loaded, "optimise", compact_index, about, INDEX_WRITER_POOL)


def compact_index(
    context: dg.OpExecutionContext, pneuma_store: StoreResource, pneuma_index: IndexResource
) -> None:
    """Give the room of what was removed back, and let searches read less."""
    pneuma_store.store.runs.begin(context.run.run_id)  # so that it is known when it is killed
    try:
        with beating(context.log, "compact_index") as hear, listening(hear):
            done = optimise_index(pneuma_index.index)
    except PneumaError as error:
        raise dg.Failure(str(error), metadata={"error": type(error).__name__}) from error
    context.add_output_metadata(metadata(done))


def optimise_schedule(
    loaded: LoadedDeployment, job: dg.JobDefinition, indexing: str
) -> dg.ScheduleDefinition:
    """Return when the index is compacted; it is off until it is switched on in the UI.

    Runs of the job named `indexing` come first.
    """
    config = loaded.deployment.dagster

    @dg.schedule(
        name=Names.of(loaded.deployment)("optimise_schedule"),
        job=job,
        cron_schedule=config.optimise_cron,
        execution_timezone=config.time_zone,
        description="Compacts the search index, unless it is being written.",
    )
    def optimising(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        jobs, index = (indexing, job.name), loaded.deployment.index
        try:
            with open_store(loaded, os.environ) as store:
                for name in jobs:
                    fail_orphaned_runs(loaded, context.instance, store, name)
            for name in jobs:
                if working := unfinished_runs(loaded, context.instance, name):
                    return dg.SkipReason(f"Run {working[0].run_id} is still running.")
            credentials = index_credentials(index, os.environ)
            if inspect_index(index, loaded.home, credentials) is None:
                return dg.SkipReason("There is no index yet.")
        except PneumaError as error:
            raise dg.Failure(str(error)) from error
        return dg.RunRequest()

    return optimising
