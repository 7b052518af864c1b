"""Last asset: the blocks become searchable by words (BM25) and by meaning (kNN)."""

import dagster as dg

from pneuma_assets.assets.embedding_blocks import embedding_blocks
from pneuma_assets.assets.event_log import event_log_open
from pneuma_assets.assets.factory import stage
from pneuma_assets.assets.stage import run_stage
from pneuma_assets.assets.table_pages import TablePages
from pneuma_assets.core.index.base import IndexInfo
from pneuma_assets.core.pipeline.write import SearchIndexFigures, update_index
from pneuma_assets.core.service.sending import send_lineage
from pneuma_assets.core.store.manifest_write import keep_manifest
from pneuma_assets.resources.deployment import DeploymentResource
from pneuma_assets.resources.index import IndexResource
from pneuma_assets.resources.models import EncoderResource
from pneuma_assets.resources.store import StoreResource


@stage(after=[embedding_blocks], code_version="1", pool="index_writer")
def search_index(
    context: dg.AssetExecutionContext,
    pneuma_deployment: DeploymentResource,
    pneuma_store: StoreResource,
    pneuma_encoder: EncoderResource,
    pneuma_index: IndexResource,
) -> dg.MaterializeResult:
    """Every table's blocks, replaced as one act a table; tables that left their source go.

    Each indexed table gets a materialization of its own, with its described columns. An index that
    is built beside an old one takes its place when no table waits and every source can be listed.
    """
    store = pneuma_store.store
    deployment = pneuma_deployment.loaded.deployment
    pages = TablePages(store, deployment, context.instance, context.log_event)

    def update() -> SearchIndexFigures:
        encoder = pneuma_encoder.encoder
        figures = update_index(store, context.run.run_id, encoder, pneuma_index, pages)
        keep_manifest(store, deployment, forced=True)
        send_lineage(store, deployment)
        return figures

    with event_log_open(context.instance, context.run.run_id):
        done = run_stage(context, store, update)
    if pages.others:
        context.log.warning(pages.trouble())
    info = pneuma_index.building.info()
    if not info.usable:
        raise dg.Failure(info.health)
    return dg.MaterializeResult(metadata={**done.metadata(), **described(info)})


def described(info: IndexInfo) -> dict[str, str | int | float]:
    """Return what the UI shows of an index: engine, health, size, and where it is."""
    return {
        "dagster/row_count": info.blocks,
        "tables in the index": info.tables,
        "size (MB)": round(info.size_bytes / 1e6, 2),
        "engine": info.engine,
        "health": info.health,
        **{f"index {name}": value for name, value in info.details.items()},
    }
