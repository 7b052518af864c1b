"""The job that brings the index up to date: one run for many tables, in one process."""

from typing import Any

import dagster as dg

from pneuma_assets.assets.stages import stage_keys
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.jobs.marks import run_mark
from pneuma_assets.resources.names import Names


def index_tables_name(loaded: LoadedDeployment) -> str:
    """Return what the job of a deployment is called."""
    return Names.of(loaded.deployment)("index_tables")


def asked_of_raw_tables(names: Names, **asked: Any) -> dict[str, Any]:
    """Return the configuration of a run whose first stage is asked for this (`RawTablesConfig`)."""
    return {"ops": {names("raw_tables"): {"config": asked}}}


def index_tables_job(loaded: LoadedDeployment) -> Any:
    """Return the job of a deployment; Dagster has no public name for the type of it.

    The executor is the job's own, and the stages are selected by their keys: both an executor of
    all definitions and a group may be another team's.
    """
    config = loaded.deployment.dagster
    return dg.define_asset_job(
        index_tables_name(loaded),
        selection=dg.AssetSelection.assets(*stage_keys(loaded.deployment)),
        description="List all sources and index every table that is new or changed.",
        run_tags={**config.run_tags, **config.indexing_tags, **run_mark(loaded)},
        # One process: the multiprocess executor would load torch and the models once a step.
        executor_def=dg.in_process_executor,
    )
