"""The job by which programs say, by Dagster's GraphQL (docs/changes.md), that tables have changed.

It opens the state alone; the sensor `watch`, or whoever indexes next, goes on with what it keeps.
"""

import dagster as dg
from pydantic import Field

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.service.changed import note_changed
from pneuma_assets.jobs.index_tables import job_of_one_op
from pneuma_assets.resources.store import StoreResource

_SHOWN = 100


class ChangesConfig(dg.Config):
    """What has changed."""

    tables: list[str] = Field([], description="Ids, globs over ids, full names, paths or URIs.")
    sources: list[str] = Field([], description="Sources to list, whatever of them has changed.")
    reason: str = Field("", description="Who says so, and why: for people.")


def table_changed_job(loaded: LoadedDeployment) -> dg.JobDefinition:
    """Return the job of a deployment."""
    about = "Keep that tables have changed, so that the next run reads them again."
    return job_of_one_op(loaded, "table_changed", note_changes, about)


def note_changes(
    context: dg.OpExecutionContext, config: ChangesConfig, pneuma_store: StoreResource
) -> None:
    """Keep what has changed; the next run reads it."""
    loaded, asked = pneuma_store.loaded, config.model_dump()
    try:
        told = note_changed(loaded, pneuma_store.store, asked.pop("tables"), **asked)
    except PneumaError as error:
        raise dg.Failure(
            str(error), metadata={"error": type(error).__name__}, allow_retries=False
        ) from error
    new = [one.name for one in told.new]
    context.add_output_metadata(
        {
            "tables": len(told.tables),
            "tables that are read again": dg.JsonMetadataValue(list(told.tables[:_SHOWN])),
            "names not known yet": dg.JsonMetadataValue(new[:_SHOWN]),
            "sources that are listed": dg.JsonMetadataValue(list(told.sources)),
        }
    )
