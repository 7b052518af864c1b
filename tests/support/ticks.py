"""Ticks of a deployment's sensors and schedule, and the runs they ask for, in this process."""

import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import dagster as dg

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.definitions import build_definitions
from pneuma_assets.jobs.index_tables import check_tables_job, index_tables_job
from pneuma_assets.jobs.scan_sources import scan_sources_job
from pneuma_assets.resources.names import Names
from pneuma_assets.sensors.watch import watch_sensor
from tests.support.deployment_files import deploy, folder_source

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def tiny_lake(folder: Path, count: int, first: int = 0) -> Path:
    lake = folder / "lake"
    lake.mkdir(exist_ok=True)
    for number in range(first, first + count):
        (lake / f"t{number}.csv").write_text(f"id,label_{number % 7}\n1,a\n2,b\n")
    return lake


class Ticking:
    """One deployment over a folder `lake`, its definitions, and the Dagster that runs it."""

    def __init__(self, folder: Path, instance: dg.DagsterInstance, **settings: object) -> None:
        self.folder, self.instance, self.ahead = folder, instance, timedelta()
        self.load(**settings)

    def load(
        self, indexing: Mapping[str, object] | None = None, **settings: object
    ) -> LoadedDeployment:
        """Read the deployment file anew, as a code location does that is reloaded.

        What a test has just written does not have to rest first, unless it says so.
        """
        settings["indexing"] = {"quiet_period_seconds": 0, **(indexing or {})}
        self.loaded = deploy(self.folder, folder_source(self.folder / "lake"), **settings)
        self.names = Names.of(self.loaded.deployment)
        self.definitions = build_definitions(self.loaded, with_tables=False)
        assert self.definitions.resolve_sensor_def(self.names("watch"))
        made = index_tables_job, check_tables_job, scan_sources_job
        jobs = (make(self.loaded) for make in made)
        self.sensor = watch_sensor(self.loaded, *jobs, self.now)
        return self.loaded

    def now(self) -> float:
        return time.time() + self.ahead.total_seconds()

    def watch(self) -> dg.RunRequest | dg.SkipReason:
        with dg.build_sensor_context(instance=self.instance) as context:
            return self.sensor(context)

    def schedule(self) -> dg.RunRequest | dg.SkipReason:
        schedule = self.definitions.resolve_schedule_def(self.names("schedule"))
        with dg.build_schedule_context(instance=self.instance) as context:
            return schedule(context)

    def go_on(self, result: dg.ExecuteInProcessResult) -> dg.RunRequest | dg.SkipReason:
        """Let the sensor tick that goes on, with this run as the first that is news to it."""
        sensor = self.definitions.resolve_sensor_def(self.names("go_on"))
        record = self.instance.get_run_record_by_id(result.run_id)
        before = record.update_timestamp - timedelta(microseconds=1)
        with dg.build_sensor_context(self.instance, cursor=before.isoformat()) as context:
            return sensor(context)

    def execute(
        self, asked: dg.RunRequest | None = None, *, ok: bool = True, **more
    ) -> dg.ExecuteInProcessResult:
        """Execute what was asked for, or the job as somebody starts it by hand."""
        asked = asked or dg.RunRequest()
        job = self.definitions.resolve_job_def(asked.job_name or self.names("index_tables"))
        result = job.execute_in_process(
            instance=self.instance,
            run_config={**asked.run_config, **QUIET},
            tags=dict(asked.tags),
            raise_on_error=False,
            **more,
        )
        assert result.success == ok
        return result
