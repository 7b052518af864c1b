"""Joins everything: `workspace.yaml` loads `defs`, tests and scripts call `build_definitions`."""

import os
from collections.abc import Mapping
from typing import Any

import dagster as dg

from jobs.index_tables import index_tables_job
from pneuma_assets.assets import (
    checks,
    embedding_blocks,
    raw_tables,
    sampled_rows,
    schema_narrations,
    search_index,
)
from pneuma_assets.assets.table_events import table_specs
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.load import LoadedDeployment, load_deployment
from pneuma_assets.core.index.registry import kind_of, sign_in_of
from pneuma_assets.core.service.wiring import has_state, models_folder, open_store
from resources.deployment import DeploymentResource
from resources.index import IndexResource
from resources.models import EncoderResource, JudgeResource, NarratorResource
from resources.options import IndexingOptionsResource
from resources.query import QueryResource
from resources.sources import SourcesResource
from resources.store import StoreResource
from sensors.schedules import hourly_indexing

MOST_KINDS = 3
"""More of an asset Dagster does not show."""

STAGES = (raw_tables, sampled_rows, schema_narrations, embedding_blocks, search_index)


def build_resources(loaded: LoadedDeployment) -> dict[str, Any]:
    """Return the resources that a deployment file describes; each takes its section whole.

    Their names begin with `pneuma_`: definitions that are merged must not share one.
    """
    deployment = DeploymentResource.of(loaded)
    says, home, models = deployment.settings, deployment.home, str(models_folder(loaded))
    encoder = EncoderResource(settings=says["encoder"])
    judge = JudgeResource(settings=says["judge"], cache=models)
    sign_in = sign_in_of(loaded.deployment.index)
    index = IndexResource(
        settings=says["index"],
        home=home,
        api_key=_secret(sign_in.api_key_env),
        password=_secret(sign_in.password_env),
        encoder=encoder,
    )
    return {
        "pneuma_deployment": deployment,
        "pneuma_store": StoreResource(deployment=deployment),
        "pneuma_options": IndexingOptionsResource(
            sampling_settings=says["sampling"],
            indexing_settings=says["indexing"],
            dagster_settings=says["dagster"],
        ),
        "pneuma_sources": SourcesResource(
            entries=says["sources"], base=deployment.base, limits=says["limits"]
        ),
        "pneuma_encoder": encoder,
        "pneuma_narrator": NarratorResource(settings=says["narration"], cache=models),
        "pneuma_judge": judge,
        "pneuma_index": index,
        "pneuma_query": QueryResource(
            deployment=deployment, index=index, encoder=encoder, judge=judge
        ),
    }


def _secret(variable: str | None) -> dg.EnvVar | None:
    """Return what Dagster reads from the environment when a run begins, and never shows."""
    return None if variable is None else dg.EnvVar(variable)


def build_definitions(
    loaded: LoadedDeployment | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    with_tables: bool = True,
) -> dg.Definitions:
    """Return assets, checks, job, schedule and resources of one deployment.

    Args:
        loaded: The deployment; None looks for it as the command line does.
        overrides: Resources to put in place of those the deployment describes.
        with_tables: Whether every indexed table becomes an external asset, for the UI.
    """
    loaded = load_deployment() if loaded is None else loaded
    shown = _technologies(loaded.deployment)
    prefix = loaded.deployment.key_prefix.split("/")

    def showing(spec: dg.AssetSpec) -> dg.AssetSpec:
        kinds = shown.get(spec.key.path[-1])
        return spec if kinds is None else spec.replace_attributes(kinds=kinds)

    stages = [
        asset.map_asset_specs(showing)
        for asset in dg.load_assets_from_modules(STAGES, key_prefix=prefix)
        if isinstance(asset, dg.AssetsDefinition)
    ]
    return dg.Definitions(
        assets=[*stages, *(known_tables(loaded) if with_tables else [])],
        asset_checks=dg.load_asset_checks_from_modules([checks], asset_key_prefix=prefix),
        jobs=[index_tables_job],
        schedules=[hourly_indexing],
        resources={**build_resources(loaded), **(overrides or {})},
        # Also what people materialize by hand runs in one process, where claims are alive.
        executor=dg.in_process_executor,
    )


def _technologies(deployment: Deployment) -> dict[str, set[str]]:
    """Return what the graph shows of those stages that the deployment decides."""
    read_with = {one for source in deployment.sources for one in source.technologies}
    made_with = kind_of(deployment.index.engine).technologies
    all_of_them = {
        "raw_tables": read_with,
        "sampled_rows": read_with,
        "schema_narrations": {"llm"} if deployment.narration.enabled else {"python"},
        "search_index": made_with,
    }
    return {stage: set(sorted(some)[:MOST_KINDS]) for stage, some in all_of_them.items()}


def known_tables(loaded: LoadedDeployment) -> list[dg.AssetSpec]:
    """Return an external asset a table with a page of this deployment, read from the store."""
    if not has_state(loaded, os.environ):
        return []
    with open_store(loaded, os.environ) as store:
        prefix = loaded.deployment.key_prefix
        return table_specs(store.work.records(), prefix, store.pages.keys())


@dg.definitions
def defs() -> dg.Definitions:
    """Return the definitions of the deployment found from here; see `docs/configuration.md`."""
    return build_definitions()
