"""First asset: every table of every source, with its profile; claims what this run works on."""

import dagster as dg
from pydantic import Field

from pneuma_assets.assets.factory import stage
from pneuma_assets.assets.stage import histogram, run_stage
from pneuma_assets.core.pipeline.beginning import RunRequest, read_tables
from pneuma_assets.core.pipeline.recipe import recipe_of
from resources.index import IndexResource
from resources.models import EncoderResource, NarratorResource
from resources.options import IndexingOptionsResource
from resources.sources import SourcesResource
from resources.store import StoreResource


class RawTablesConfig(dg.Config):
    """What one run takes on."""

    only: list[str] = Field([], description="Only these sources; empty means all.")
    rebuild: bool = Field(False, description="Index every table again, changed or not.")
    retry: bool = Field(False, description="Try failed tables again, however often they failed.")
    accept_removals: bool = Field(
        False,
        description="Let tables of one source go that are held because too many were gone at once.",
    )


@stage(code_version="1")
def raw_tables(
    context: dg.AssetExecutionContext,
    config: RawTablesConfig,
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
    done = run_stage(
        context,
        store,
        lambda: read_tables(
            store,
            context.run.run_id,
            RunRequest(pneuma_sources.opened, **config.model_dump()),
            pneuma_index,
            pneuma_options.indexing,
            recipe=recipe_of(pneuma_options.sampling, pneuma_encoder.encoder, pneuma_narrator.way),
        ),
    )
    rows = [r.rows for r in store.work.records() if r.rows is not None]
    plot = histogram("Rows of every known table", rows, unit="rows")
    return dg.MaterializeResult(metadata={**done.metadata(), "rows by table": plot})
