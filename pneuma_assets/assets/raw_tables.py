"""First asset: every table of every source, with its profile; claims what this run works on."""

import os

import dagster as dg
from pydantic import Field

from pneuma_assets.assets.factory import stage
from pneuma_assets.assets.others import other_assets
from pneuma_assets.assets.stage import run_stage, spread
from pneuma_assets.core.pipeline.dagster_graphql import webserver_assets
from pneuma_assets.core.pipeline.lineage import engine_dependencies, update_lineage
from pneuma_assets.core.pipeline.list import RawTablesFigures
from pneuma_assets.core.pipeline.plan import RunRequest, index_fingerprint, plan_run
from pneuma_assets.resources.deployment import DeploymentResource
from pneuma_assets.resources.index import IndexResource
from pneuma_assets.resources.models import EncoderResource, NarratorResource
from pneuma_assets.resources.options import IndexingOptionsResource
from pneuma_assets.resources.sources import SourcesResource
from pneuma_assets.resources.store import StoreResource


class RawTablesConfig(dg.Config):
    """What one run takes on."""

    only: list[str] = Field([], description="Only these sources; empty means all.")
    rebuild: bool = Field(False, description="Index every table again, changed or not.")
    retry: bool = Field(False, description="Try failed tables again, however often they failed.")
    accept_removals: bool = Field(
        False,
        description="Confirm removal of tables missing from one source.",
    )
    patient: bool = Field(
        False, description="Leave tables alone that are being written, or have just failed."
    )
    as_listed: list[str] = Field(
        [], description="Sources that are not listed again: their tables are as listed last."
    )


@stage(code_version="1")
def raw_tables(
    context: dg.AssetExecutionContext,
    config: RawTablesConfig,
    pneuma_deployment: DeploymentResource,
    pneuma_options: IndexingOptionsResource,
    pneuma_sources: SourcesResource,
    pneuma_store: StoreResource,
    pneuma_index: IndexResource,
    pneuma_encoder: EncoderResource,
    pneuma_narrator: NarratorResource,
) -> dg.MaterializeResult:
    """Every table of the lake or warehouse: where it lives, its columns, its number of rows.

    Lists all sources (cheap), claims the tables that are new or changed, and reads their
    profiles and what people wrote about them. Data stays where it is.
    """
    store = pneuma_store.store

    deployment = pneuma_deployment.loaded.deployment

    def read() -> RawTablesFigures:
        figures = plan_run(
            store,
            context.run.run_id,
            RunRequest(pneuma_sources.opened, **config.model_dump()),
            pneuma_index,
            pneuma_options.indexing,
            recipe=index_fingerprint(
                pneuma_options.sampling, pneuma_encoder.encoder, pneuma_narrator.way
            ),
        )
        unlisted = {*config.as_listed, *store.problems.unlisted_sources()}
        asked = [s for s in pneuma_sources.opened if not config.only or s.name in config.only]
        linked = update_lineage(
            *(store, context.run.run_id, deployment),
            [
                *engine_dependencies(asked, deployment.sources, unlisted),
                *other_assets(context, deployment.key_prefix),
                *webserver_assets(deployment.lineage.webserver, os.environ),
            ],
        )
        return figures + RawTablesFigures(linked=linked)

    done = run_stage(context, store, read)
    shown = done.metadata()
    if done.figures.claimed or done.figures.gone:
        rows = [r.rows for r in store.tables.records() if r.rows is not None]
        shown |= spread("rows of a table", rows)
    return dg.MaterializeResult(metadata=shown)
