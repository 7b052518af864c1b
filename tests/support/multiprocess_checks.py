"""A job that Dagster executes in several processes at once; each of them builds it anew."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg

from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.definitions import build_definitions
from resources.deployment import DeploymentResource
from resources.store import StoreResource
from tests.support.waiting import LONGEST

FILE = "PNEUMA_TEST_FILE"
"""Names the environment variable that tells the processes where the deployment file is."""

CHECKS = 3


class MeetingStore(StoreResource):
    """Lets nobody go on before all checks are at work, however slow the machine is."""

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator["MeetingStore"]:
        """Open the store, say so, and wait for the others."""
        with super().yield_for_execution(context) as store:
            meeting = Path(self.deployment.home) / "meeting"
            meeting.mkdir(exist_ok=True)
            (meeting / str(os.getpid())).touch()
            deadline = time.monotonic() + LONGEST
            while len(list(meeting.iterdir())) < CHECKS and time.monotonic() < deadline:
                time.sleep(0.05)
            yield store


def checks_job() -> dg.JobDefinition:
    """Return the checks of the deployment, a process each, all at a time."""
    loaded = load_deployment(config=Path(os.environ[FILE]), environ={})
    store = MeetingStore(deployment=DeploymentResource.of(loaded))
    definitions = build_definitions(loaded, overrides={"pneuma_store": store}, with_tables=False)
    job = dg.define_asset_job(
        "checks",
        selection=dg.AssetSelection.all_asset_checks(),
        executor_def=dg.multiprocess_executor.configured({"max_concurrent": CHECKS}),
    )
    return dg.Definitions(
        assets=definitions.assets,
        asset_checks=definitions.asset_checks,
        resources=definitions.resources,
        jobs=[job],
    ).resolve_job_def("checks")
