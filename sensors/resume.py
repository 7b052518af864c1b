"""The sensor that goes on with what somebody has started: one run takes only so many tables."""

import os
from collections.abc import Mapping
from typing import Any

import dagster as dg

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.service.wiring import open_store
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import RetryPolicy
from pneuma_assets.jobs.dead_runs import unfinished_runs
from pneuma_assets.jobs.index_tables import raw_tables_config
from pneuma_assets.resources.names import Names
from pneuma_assets.sensors.tick import WHY, Decision, has_worked

EVERY_S = 15
"""Seconds between two looks at Dagster's event log; sources are not listed."""

_WANTED_OF_DAGSTER = frozenset(
    f"dagster/{name}"
    for name in (
        *("max_retries", "retry_strategy", "retry_on_asset_or_op_failure"),
        *("priority", "concurrency_key", "max_runtime", "image"),
    )
)
"""Tags by which people tell Dagster how to run; all its others say how one run came about."""


def resume_sensor(loaded: LoadedDeployment, job: Any) -> dg.RunStatusSensorDefinition:
    """Return the sensor of a deployment; it is on unless somebody switches it off.

    It begins nothing by itself: only where a whole run of this very job has succeeded, has worked
    on tables, and has left others, it asks for the next one. Who starts the job once by hand
    expects all tables to be indexed, not the first `indexing.tables_per_run` of them.

    Args:
        loaded: The deployment.
        job: The job that indexes; runs of no other job are looked at.
    """
    names = Names.of(loaded.deployment)

    @dg.run_status_sensor(
        name=names("go_on"),
        run_status=dg.DagsterRunStatus.SUCCESS,
        monitored_jobs=[job],
        request_job=job,
        minimum_interval_seconds=EVERY_S,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Asks for the next run where one has left tables waiting.",
    )
    def going_on(context: dg.RunStatusSensorContext) -> Decision:
        try:
            with open_store(loaded, os.environ) as store:
                return _decide(context.instance, context.dagster_run, store, loaded)
        except PneumaError as error:  # the sensor `watch` and the next run tell of it in red
            return dg.SkipReason(
                f"Nobody knows what run {context.dagster_run.run_id} left: {error}"
            )

    return going_on


def _decide(
    instance: dg.DagsterInstance, run: dg.DagsterRun, store: Store, loaded: LoadedDeployment
) -> Decision:
    names, deployment = Names.of(loaded.deployment), loaded.deployment
    working = unfinished_runs(loaded, instance, run.job_name)
    if working:
        return dg.SkipReason(f"Run {working[0].run_id} works already.")
    if not _is_whole(run, names) or not has_worked(store, run.run_id):
        return dg.SkipReason(f"Run {run.run_id} was a part of one, or had nothing to do.")
    only = _only(store, run, names)
    sources = [one.name for one in deployment.sources if not only or one.name in only]
    asked = _asked(run.run_config, names)
    patient = bool(asked.get("patient"))
    patience = RetryPolicy.of(deployment.indexing.quiet_period_seconds) if patient else None
    waiting = store.queue.counts(deployment.indexing.max_attempts, sources, patience).waiting
    if not waiting:
        return dg.SkipReason(f"Run {run.run_id} has left no table.")
    return dg.RunRequest(
        run_key=f"after {run.run_id}",
        run_config=_config(run, names, only),
        tags={
            **carried_tags(run.tags),
            f"{names.identifier}/{WHY}": f"run {run.run_id} has left tables: {waiting:,}",
        },
    )


def _is_whole(run: dg.DagsterRun, names: Names) -> bool:
    """Tell whether a run was to bring tables all the way into the index."""
    wanted = {names.key("raw_tables"), names.key("search_index")}
    return not run.asset_selection or run.asset_selection >= wanted


def _only(store: Store, run: dg.DagsterRun, names: Names) -> list[str]:
    """Return the sources that a run was asked for; none means all.

    A run that has begun the index anew has left the tables of every source.
    """
    read = store.runs.stages(run.run_id).get("raw_tables")
    if read is not None and read.figures.get("begun anew", 0):
        return []
    asked = _asked(run.run_config, names).get("only")
    return [str(one) for one in asked] if isinstance(asked, list) else []


def _asked(config: Mapping[str, Any], names: Names) -> Mapping[str, Any]:
    asked = config.get("ops", {}).get(names("raw_tables"), {}).get("config", {})
    return asked if isinstance(asked, Mapping) else {}


def _config(run: dg.DagsterRun, names: Names, only: list[str]) -> dict[str, Any]:
    """Return what the next run is asked: the same sources, and nothing that is done by now.

    What a rebuild, or another try of failed tables, has begun is in the work list.
    """
    before: dict[str, Any] = {**run.run_config}
    ops: dict[str, Any] = {**before.get("ops", {})}
    before_all = _asked(run.run_config, names)
    kept = {key: before_all[key] for key in ("patient", "as_listed") if before_all.get(key)}
    asked = {"only": only, **kept}
    return {**before, "ops": {**ops, **raw_tables_config(names, **asked)["ops"]}}


def carried_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """Return those tags of a run that the next one shall have, too."""
    return {
        name: value
        for name, value in tags.items()
        if name in _WANTED_OF_DAGSTER or not name.startswith(("dagster/", ".dagster/"))
    }
