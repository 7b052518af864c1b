"""When the index is brought up to date without anybody asking."""

from typing import Any

import dagster as dg

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.resources.names import Names
from pneuma_assets.sensors.ticks import Decision, Ticks


def indexing_schedule(loaded: LoadedDeployment, job: Any) -> dg.ScheduleDefinition:
    """Return the schedule of a deployment; it is off until it is switched on in the UI.

    At each hour of `dagster.cron` it does once what the sensor `watch` does every minute; the
    sensor `go_on` asks for the runs that follow, until no table waits.

    Args:
        loaded: The deployment.
        job: The job that indexes.
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
