"""The sensor that goes on with what somebody has started: one run takes only so many tables."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.service.state import open_store
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import MAX_ATTEMPTS
from pneuma_assets.jobs.dead_runs import unfinished_runs
from pneuma_assets.jobs.index_tables import op_config, run_tags
from pneuma_assets.resources.names import Names
from pneuma_assets.sensors.tick import WHY, Decision, has_worked

EVERY_S = 15
"""Seconds between two looks at Dagster's runs; sources are not listed."""

_DAGSTER_TAGS = frozenset(
    f"dagster/{name}"
    for name in (
        *("max_retries", "retry_strategy", "retry_on_asset_or_op_failure"),
        *("priority", "concurrency_key", "max_runtime", "image"),
    )
)
"""Tags by which people tell Dagster how to run; all its others say how one run came about."""


def resume_sensor(loaded: LoadedDeployment, job: Any) -> dg.SensorDefinition:
    """Return the sensor of a deployment; it is on unless somebody switches it off.

    Only where a whole run of this very job has worked on tables, and has left others, it asks for
    the next one: who starts the job once expects all tables to be indexed.

    Dagster's run status sensor would say at every tick without a run that it "returned an empty
    result". The cursor is when the last run that it looked at was updated.
    """

    @dg.sensor(
        name=Names.of(loaded.deployment)("go_on"),
        job=job,
        minimum_interval_seconds=EVERY_S,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Asks for the next run where one has left tables waiting.",
    )
    def resume(context: dg.SensorEvaluationContext) -> Decision:
        since = _time(context.cursor)
        runs = dg.RunsFilter(
            job_name=job.name,
            statuses=[dg.DagsterRunStatus.SUCCESS],
            tags=run_tags(loaded),
            updated_after=since,
        )
        found = context.instance.get_run_records(
            runs, limit=1, order_by="update_timestamp", ascending=since is not None
        )
        if found:
            context.update_cursor(found[0].update_timestamp.isoformat())
        elif since is None:
            context.update_cursor(datetime.fromtimestamp(0, UTC).isoformat())
        if not found or since is None:
            return dg.SkipReason("No run has succeeded since the last look.")
        run = found[0].dagster_run
        try:
            with open_store(loaded, os.environ) as store:
                return _decide(context.instance, run, store, loaded)
        except PneumaError as error:  # the sensor `watch` and the next run tell of it in red
            return dg.SkipReason(f"It is not known what run {run.run_id} left: {error}")

    return resume


def _time(cursor: str | None) -> datetime | None:
    """Return the time that a cursor says; None for the first tick, or another version's cursor."""
    try:
        return datetime.fromisoformat(cursor or "")
    except ValueError:
        return None


def _decide(
    instance: dg.DagsterInstance, run: dg.DagsterRun, store: Store, loaded: LoadedDeployment
) -> Decision:
    names, deployment = Names.of(loaded.deployment), loaded.deployment
    working = unfinished_runs(loaded, instance, run.job_name)
    if working:
        return dg.SkipReason(f"Run {working[0].run_id} works already.")
    if not _is_whole(run, names) or not has_worked(store, run.run_id):
        return dg.SkipReason(f"Run {run.run_id} was a part of one, or had nothing to do.")
    before = _raw_tables_config(run, names)
    only = _only(store, run, before)
    sources = [one.name for one in deployment.sources if not only or one.name in only]
    quiet_s = deployment.indexing.quiet_period_seconds if before.get("patient") else None
    waiting = store.queue.counts(MAX_ATTEMPTS, sources, quiet_s).waiting
    if not waiting:
        return dg.SkipReason(f"Run {run.run_id} has left no table.")
    # What a rebuild, or another try of failed tables, has begun is in the work list by now.
    kept = {key: before[key] for key in ("patient", "as_listed") if before.get(key)}
    ops = op_config(names, "raw_tables", only=only, **kept)["ops"]
    config: dict[str, Any] = {**run.run_config}
    return dg.RunRequest(
        run_key=f"after {run.run_id}",
        run_config={**config, "ops": {**config.get("ops", {}), **ops}},
        tags={
            **carried_tags(run.tags),
            f"{names.identifier}/{WHY}": f"run {run.run_id} has left tables: {waiting:,}",
        },
    )


def _is_whole(run: dg.DagsterRun, names: Names) -> bool:
    """Tell whether a run was to bring tables all the way into the index."""
    wanted = {names.key("raw_tables"), names.key("search_index")}
    return not run.asset_selection or run.asset_selection >= wanted


def _only(store: Store, run: dg.DagsterRun, asked: Mapping[str, Any]) -> list[str]:
    """Return the sources that a run was asked for, or has rebuilt the index of; none means all."""
    read = store.runs.stages(run.run_id).get("raw_tables")
    if read is not None and read.figures.get("begun anew", 0):
        return []
    only = asked.get("only")
    return [str(one) for one in only] if isinstance(only, list) else []


def _raw_tables_config(run: dg.DagsterRun, names: Names) -> Mapping[str, Any]:
    ops: Any = run.run_config.get("ops", {})
    config = ops.get(names("raw_tables"), {}).get("config", {})
    return config if isinstance(config, Mapping) else {}


def carried_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """Return those tags of a run that the next one shall have, too."""
    return {
        name: value
        for name, value in tags.items()
        if name in _DAGSTER_TAGS or not name.startswith(("dagster/", ".dagster/"))
    }
