"""The job that runs the checks alone, for when they would come out otherwise than in the last run.

A run of the stages checks what it leaves. But a source may stop being listed just because there are
no runs, and a tick may find that it is away: then the checks are run without the stages.
"""

from typing import Any

import dagster as dg

from pneuma_assets.assets.checks import index_checks
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.jobs.marks import run_mark
from pneuma_assets.resources.names import Names


def check_tables_job(loaded: LoadedDeployment) -> Any:
    """Return the job of a deployment; Dagster has no public name for the type of it."""
    return dg.define_asset_job(
        Names.of(loaded.deployment)("check_tables"),
        selection=dg.AssetSelection.checks(*index_checks(loaded.deployment)),
        description="Check the tables and the index; nothing is listed, read or indexed.",
        run_tags={**loaded.deployment.dagster.run_tags, **run_mark(loaded)},
        executor_def=dg.in_process_executor,
    )
