"""A job that Dagster executes in several processes at once; each of them builds it anew."""

import os
from pathlib import Path

import dagster as dg

from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.definitions import build_definitions

FILE = "PNEUMA_TEST_FILE"
"""Names the environment variable that tells the processes where the deployment file is."""


def checks_job() -> dg.JobDefinition:
    """Return the checks of the deployment, under the executor of whoever sets none."""
    loaded = load_deployment(config=Path(os.environ[FILE]), environ={})
    definitions = build_definitions(loaded, with_tables=False)
    job = dg.define_asset_job(
        "checks",
        selection=dg.AssetSelection.all_asset_checks(),
        executor_def=dg.multiprocess_executor,
    )
    return dg.Definitions(
        assets=definitions.assets,
        asset_checks=definitions.asset_checks,
        resources=definitions.resources,
        jobs=[job],
    ).resolve_job_def("checks")
