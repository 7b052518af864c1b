"""The job that brings the index up to date, the job that checks it, and what all jobs share."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import dagster as dg

from pneuma_assets.assets.checks import index_checks
from pneuma_assets.assets.stages import stage_keys
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.resources.names import Names, bind_resources


def run_tags(loaded: LoadedDeployment) -> dict[str, str]:
    """Return the tag that every run of a deployment's jobs bears, made of where the state is.

    So a trial deployment under the same prefix holds nothing up in production.
    """
    where = loaded.deployment.state.location(loaded.home)
    name = f"{Names.of(loaded.deployment).identifier}/state"
    return {name: sha256(where.encode("utf-8", "surrogateescape")).hexdigest()[:16]}


def index_tables_name(loaded: LoadedDeployment) -> str:
    """Return what the job of a deployment is called."""
    return Names.of(loaded.deployment)("index_tables")


def op_config(names: Names, op: str, **asked: Any) -> dict[str, Any]:
    """Return the configuration of a run one op of which is asked for this, by its class."""
    return {"ops": {names(op): {"config": asked}}}


def job_of_one_op(
    loaded: LoadedDeployment,
    name: str,
    compute: Callable[..., None],
    description: str,
    pool: str | None = None,
) -> dg.JobDefinition:
    """Return a job whose one op is named after the function that it calls, with resources."""
    names = Names.of(loaded.deployment)
    op = dg.op(name=names(compute.__name__), pool=pool)(bind_resources(compute, names))

    @dg.job(
        name=names(name),
        run_tags={**loaded.deployment.dagster.run_tags, **run_tags(loaded)},
        executor_def=dg.in_process_executor,
        description=description,
    )
    def job() -> None:
        op()

    return job


def index_tables_job(loaded: LoadedDeployment) -> Any:
    """Return the job of a deployment; Dagster has no public name for the type of it.

    An executor of all definitions, and a group, may be another team's.
    """
    config = loaded.deployment.dagster
    return dg.define_asset_job(
        index_tables_name(loaded),
        selection=dg.AssetSelection.assets(*stage_keys(loaded.deployment)),
        description="List all sources and index every table that is new or changed.",
        run_tags={**config.run_tags, **config.indexing_tags, **run_tags(loaded)},
        # One process: the multiprocess executor would load torch and the models once a step.
        executor_def=dg.in_process_executor,
    )


def check_tables_job(loaded: LoadedDeployment) -> Any:
    """Return the job of a deployment; Dagster has no public name for the type of it."""
    return dg.define_asset_job(
        Names.of(loaded.deployment)("check_tables"),
        selection=dg.AssetSelection.checks(*index_checks(loaded.deployment)),
        description="Check the tables and the index; nothing is listed, read or indexed.",
        run_tags={**loaded.deployment.dagster.run_tags, **run_tags(loaded)},
        executor_def=dg.in_process_executor,
    )
