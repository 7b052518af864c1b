"""The job `index_tables` as Dagster builds it anew, to execute a run or a part of it again."""

import os
from pathlib import Path

import dagster as dg

from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.definitions import build_definitions
from tests.support.pipeline_support import CountingNarrator

FILE = "PNEUMA_TEST_FILE"
"""Names the environment variable that tells processes where the deployment file is."""


def whole_job() -> dg.JobDefinition:
    """Return the job of the deployment, its columns described by `CountingNarrator.shared`."""
    loaded = load_deployment(config=Path(os.environ[FILE]), environ={})
    overrides = {"pneuma_narrator": CountingNarrator.made()}
    definitions = build_definitions(loaded, overrides=overrides, with_tables=False)
    return definitions.resolve_job_def("pneuma_index_tables")
