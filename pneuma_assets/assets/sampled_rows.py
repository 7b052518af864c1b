"""Second asset: a few rows of each table stand for all of them (Pneuma, section 4)."""

import dagster as dg

from pneuma_assets.assets.factory import stage
from pneuma_assets.assets.raw_tables import raw_tables
from pneuma_assets.assets.stage import previews, run_stage
from pneuma_assets.core.describe.texts import DrawnRows
from pneuma_assets.core.pipeline.sample import sample_tables
from pneuma_assets.resources.options import IndexingOptionsResource
from pneuma_assets.resources.sources import SourcesResource
from pneuma_assets.resources.store import StoreResource


@stage(after=[raw_tables], code_version="2")
def sampled_rows(
    context: dg.AssetExecutionContext,
    pneuma_options: IndexingOptionsResource,
    pneuma_sources: SourcesResource,
    pneuma_store: StoreResource,
) -> dg.MaterializeResult:
    """Rows drawn uniformly, with a fixed seed, from every claimed table whose rows changed."""
    state = pneuma_store.store
    done = run_stage(
        context,
        state,
        lambda: sample_tables(
            state,
            context.run.run_id,
            pneuma_sources.opened,
            pneuma_options.sampling,
            pneuma_options.indexing,
        ),
    )
    shown = pneuma_options.dagster.show_rows
    preview = previews(state, context.run.run_id, DrawnRows) if shown else {}
    return dg.MaterializeResult(metadata={**done.metadata(), **preview})
