"""Joins everything: `workspace.yaml` loads `defs`, tests and scripts call `build_definitions`."""

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from pneuma_assets.assets.checks import index_checks
from pneuma_assets.assets.saved_tables import saved_assets, saved_schedules, saved_tables
from pneuma_assets.assets.stages import stage_assets
from pneuma_assets.assets.table_assets import definable, table_specs
from pneuma_assets.assets.table_events import problem_checks
from pneuma_assets.core.config.load import LoadedDeployment, load_deployment
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.store.dagster_manifest import Manifest, read_manifest
from pneuma_assets.jobs.index_tables import check_tables_job, index_tables_job
from pneuma_assets.jobs.optimise import optimise_job, optimise_schedule
from pneuma_assets.jobs.scan_sources import scan_sources_job
from pneuma_assets.jobs.table_changed import table_changed_job
from pneuma_assets.resources.build import named_resources
from pneuma_assets.resources.names import Names
from pneuma_assets.sensors.checks import check_schedule
from pneuma_assets.sensors.reload import reload_sensors
from pneuma_assets.sensors.resume import resume_sensor
from pneuma_assets.sensors.watch import indexing_schedule, watch_sensor

logger = logging.getLogger(__name__)


def build_definitions(
    loaded: LoadedDeployment | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    with_tables: bool = True,
) -> dg.Definitions:
    """Return assets, checks, jobs, schedules, sensors and resources of one deployment.

    All of it is named after the deployment, and no executor is set, so that it can be merged with
    the definitions of other teams and of other deployments.

    Args:
        loaded: The deployment; None looks for it as the command line does.
        overrides: Resources to put in place of those the deployment describes, by the names that
            they have in `build_resources`, whatever the deployment is called.
        with_tables: Whether every indexed table becomes an external asset, for the UI.

    Raises:
        ConfigError: The deployment file is missing or wrong, what it is called makes names
            that may be another's, or there is no resource of the name of an override.
    """
    loaded = load_deployment() if loaded is None else loaded
    job, checking = index_tables_job(loaded), check_tables_job(loaded)
    optimising, changed = optimise_job(loaded), table_changed_job(loaded)
    scanning = scan_sources_job(loaded)
    stages = stage_assets(loaded.deployment)
    keys = {key for stage in stages for key in stage.keys}
    tables = definable(known_tables(loaded).tables, keys) if with_tables else ()
    saved = saved_tables(loaded)
    schedules = [
        indexing_schedule(loaded, job),
        check_schedule(loaded, checking),
        optimise_schedule(loaded, optimising, job.name),
    ]
    _refuse_ambiguous(loaded, [job, checking, optimising, changed, scanning, *schedules])
    return dg.Definitions(
        assets=[
            *stages,
            *table_specs(tables, loaded.deployment),
            *saved_assets(loaded, saved, tables),
        ],
        asset_checks=[*index_checks(loaded.deployment), *problem_checks(tables, loaded.deployment)],
        jobs=[job, checking, optimising, changed, scanning],
        schedules=[*schedules, *saved_schedules(loaded, saved)],
        sensors=[
            watch_sensor(loaded, job, checking, scanning),
            resume_sensor(loaded, job),
            *reload_sensors(loaded),
        ],
        resources=named_resources(loaded, overrides),
    )


def _refuse_ambiguous(
    loaded: LoadedDeployment, named: Sequence[dg.JobDefinition | dg.ScheduleDefinition]
) -> None:
    """Refuse a prefix that ends so that a name made with it may be another deployment's.

    Under `pneuma/optimise` there would be a `pneuma_optimise_schedule`, as under `pneuma`.
    """
    prefix = Names.of(loaded.deployment).identifier
    ours = {one.name.removeprefix(f"{prefix}_") for one in named}
    ends = {one[: -len(last)] for one in ours for last in ours if one.endswith(f"_{last}")}
    for end in ends:
        if f"{prefix}_".endswith(f"_{end}"):
            raise ConfigError(
                f"names of the jobs of {prefix!r} may be another deployment's; let neither name "
                f"nor dagster.key_prefix end with {end.rstrip('_')!r}"
            )


def known_tables(loaded: LoadedDeployment) -> Manifest:
    """Return the tables that have a page of this deployment, as the last run left them.

    Read from the manifest alone, so that whatever has become of the store, definitions load.
    """
    manifest = read_manifest(loaded, os.environ)
    if manifest.trouble:
        logger.warning("Tables have no pages in Dagster: %s", manifest.trouble)
    return manifest


@dg.definitions
def defs() -> dg.Definitions:
    """Return the definitions of the deployment found from here; see `docs/configuration.md`."""
    return build_definitions()
