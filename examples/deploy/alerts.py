"""Alerts without Dagster+: who is told when a run fails, and when a source needs somebody.

Add the sensors of `alert_sensors` to the definitions of any code location:

    dg.Definitions.merge(pneuma, dg.Definitions(sensors=alert_sensors(loaded, post_to(URL))))
"""

import json
from collections.abc import Callable
from urllib.request import Request, urlopen

import dagster as dg

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.resources.names import Names
from pneuma_assets.workspace import Workspace

Send = Callable[[str], None]
"""Brings one text to people."""

PATIENCE_S = 20.0


def post_to(url: str) -> Send:
    """Return what posts a text as Slack, Mattermost and Teams take it."""

    def send(text: str) -> None:
        body = json.dumps({"text": text}).encode()
        request = Request(url, body, {"Content-Type": "application/json"})
        with urlopen(request, timeout=PATIENCE_S):
            pass

    return send


def alert_sensors(loaded: LoadedDeployment, send: Send) -> list[dg.SensorDefinition]:
    """Return sensors for a deployment's jobs and sources; switch them on in the UI."""
    names = Names.of(loaded.deployment)
    jobs = [names("index_tables"), names("check_tables")]

    @dg.run_failure_sensor(name=names("tell_of_failure"), minimum_interval_seconds=60)
    def tell_of_failure(context: dg.RunFailureSensorContext) -> None:
        """Say which run failed, and why, in the words of the stage that could not go on."""
        if context.dagster_run.job_name in jobs:
            steps = context.get_step_failure_events()
            causes = [_cause(event) for event in steps] or [context.failure_event.message or ""]
            send(f"{context.dagster_run.job_name} failed: {'; '.join(causes)}")

    @dg.sensor(name=names("tell_of_sources"), minimum_interval_seconds=300)
    def tell_of_sources(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        """Name the sources that cannot be listed, or of which tables are held, each once.

        The cursor is what was told and still lasts; what comes again after its end is told again.
        """
        sources = {source.name for source in loaded.deployment.sources}
        with Workspace(loaded) as workspace:
            problems = [one for one in workspace.status().problems if one.subject in sources]
        told = {tuple(one) for one in json.loads(context.cursor or "[]")}
        for problem in problems:
            if (problem.subject, problem.stage) not in told:
                send(f"source {problem.subject}: {problem.cause}")
        lasting = sorted({(problem.subject, problem.stage) for problem in problems})
        context.update_cursor(json.dumps(lasting))
        return dg.SkipReason(f"{len(lasting)} problems of sources, {len(told)} before.")

    return [tell_of_failure, tell_of_sources]


def _cause(event: dg.DagsterEvent) -> str:
    data = event.step_failure_data
    if data.user_failure_data is not None and data.user_failure_data.description:
        return f"{event.step_key}: {data.user_failure_data.description}"
    return f"{event.step_key}: {data.error.message if data.error is not None else event.message}"
