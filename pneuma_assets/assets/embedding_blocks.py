"""Fourth asset: documents packed into blocks, one embedding each (Pneuma, section 5.2)."""

import dagster as dg

from pneuma_assets.assets.factory import stage
from pneuma_assets.assets.sampled_rows import sampled_rows
from pneuma_assets.assets.schema_narrations import schema_narrations
from pneuma_assets.assets.stage import run_stage, spread
from pneuma_assets.core.pipeline.embed import embed_tables
from pneuma_assets.resources.index import IndexResource
from pneuma_assets.resources.models import EncoderResource
from pneuma_assets.resources.store import StoreResource


@stage(after=[sampled_rows, schema_narrations], kinds={"pytorch"}, code_version="1", pool="gpu")
def embedding_blocks(
    context: dg.AssetExecutionContext,
    pneuma_store: StoreResource,
    pneuma_encoder: EncoderResource,
    pneuma_index: IndexResource,
) -> dg.MaterializeResult:
    """Narrations, rows and contexts of a table, packed into the encoder's window and embedded.

    A text that the encoder has seen keeps its embedding, whichever table says it now.
    """
    state = pneuma_store.store
    done = run_stage(
        context,
        state,
        lambda: embed_tables(
            state, context.run.run_id, pneuma_encoder.encoder, pneuma_index.building
        ),
    )
    shown = {**done.metadata(), "encoder": dg.MetadataValue.text(pneuma_encoder.encoder.name)}
    if done.figures.tables:
        sizes = state.documents.staged_counts(context.run.run_id)
        shown |= spread("blocks of a table", sizes)
    return dg.MaterializeResult(metadata=shown)
