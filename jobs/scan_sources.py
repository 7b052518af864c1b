"""The job that lists sources that take longer than a tick has, also beside a run that indexes.

What it finds waits in the state, and the sensor `watch` asks for the run that indexes it.
"""

import dagster as dg
from pydantic import Field

from pneuma_assets.assets.report import beating, metadata
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.pipeline.list import RawTablesFigures
from pneuma_assets.core.pipeline.watch import list_and_time
from pneuma_assets.core.progress import listening
from pneuma_assets.core.store.removals import CAREFUL
from pneuma_assets.jobs.index_tables import job_of_one_op
from pneuma_assets.resources.sources import SourcesResource
from pneuma_assets.resources.store import StoreResource


class ScanConfig(dg.Config):
    """What is listed."""

    only: list[str] = Field([], description="Only these sources; empty means all.")


def scan_sources_job(loaded: LoadedDeployment) -> dg.JobDefinition:
    """Return the job of a deployment."""
    about = "List sources that take long; nothing is read or indexed."
    return job_of_one_op(loaded, "scan_sources", list_sources, about)


def list_sources(
    context: dg.OpExecutionContext,
    config: ScanConfig,
    pneuma_store: StoreResource,
    pneuma_sources: SourcesResource,
) -> None:
    """List sources and keep which tables are new, changed or gone."""
    store = pneuma_store.store
    store.runs.begin(context.run.run_id)  # so that it is known when it is killed
    configured = [source.name for source in pneuma_sources.opened]
    figures, away = RawTablesFigures(), []
    with beating(context.log, "list_sources") as hear, listening(hear):
        for source in pneuma_sources.opened:
            if config.only and source.name not in config.only:
                continue
            try:
                figures += list_and_time(store, source, configured, CAREFUL)
            except SourceError as error:
                context.log.warning(f"{source.name} cannot be listed: {error}")
                away.append(str(error))
    if away and not figures.tables:
        raise dg.Failure(" ".join(away))
    context.add_output_metadata(metadata(figures.named()))
