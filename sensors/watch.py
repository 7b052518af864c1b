"""The sensor and the schedule that look for work and ask for a run only where there is some."""

import time
import warnings
from collections.abc import Callable
from typing import Any

import dagster as dg

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.resources.names import Names
from pneuma_assets.sensors.tick import Decision, Ticks

# Dagster 1.13 copies a sensor that names a job when it gives that job its resources, and warns
# then of a parameter that nobody has set.
warnings.filterwarnings("ignore", "Parameter `owners` of initializer", dg.BetaWarning)


def watch_sensor(
    loaded: LoadedDeployment,
    job: Any,
    checks: Any,
    scans: Any,
    clock: Callable[[], float] = time.time,
) -> dg.SensorDefinition:
    """Return the sensor of a deployment; it is off until it is switched on in the UI."""
    ticks = Ticks(loaded, job.name, clock, checks=checks.name, scans=scans.name)

    @dg.sensor(
        name=Names.of(loaded.deployment)("watch"),
        jobs=[job, checks, scans],
        minimum_interval_seconds=loaded.deployment.dagster.watch_seconds,
        description=(
            "Lists the sources and asks for a run while a table waits for one, or a check would "
            "come out otherwise."
        ),
    )
    def watching(context: dg.SensorEvaluationContext) -> Decision:
        return ticks.decide(context.instance, leave_to_go_on=True)

    return watching


def indexing_schedule(loaded: LoadedDeployment, job: Any) -> dg.ScheduleDefinition:
    """Return the schedule of a deployment; it is off until it is switched on in the UI.

    It does once what the sensor `watch` does every minute; `go_on` asks for the runs that follow.
    """
    ticks, config = Ticks(loaded, job.name), loaded.deployment.dagster

    @dg.schedule(
        name=Names.of(loaded.deployment)("schedule"),
        job=job,
        cron_schedule=config.cron,
        execution_timezone=config.time_zone,
        description="Lists the sources and asks for a run if a table waits for one.",
    )
    def scheduled(context: dg.ScheduleEvaluationContext) -> Decision:
        return ticks.decide(context.instance)

    return scheduled
