"""First asset: every table of every source, with its profile; claims what this run works on."""

import dagster as dg
from pydantic import Field

from pneuma_assets.assets.stage import Figures, histogram, metadata, run_stage
from pneuma_assets.core.pipeline.listing import begin_run, check_owner, profile_tables
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


@dg.asset(group_name="indexing", kinds={"duckdb", "s3", "parquet"}, code_version="1")
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

    def work() -> Figures:
        pneuma_store.store.check()
        opened = pneuma_sources.opened
        # An index that begins anew lacks the tables of every source, so all are listed then.
        emptied = config.rebuild and pneuma_index.rebuild_if_unusable()
        chosen = [s for s in opened if emptied or not config.only or s.name in config.only]
        names = [source.name for source in opened]
        if not config.rebuild:
            pneuma_index.check()
        indexed = pneuma_index.building.list_tables()
        if not config.rebuild:
            check_owner(pneuma_store.store, indexed, names)
        recipe = recipe_of(pneuma_options.sampling, pneuma_encoder.encoder, pneuma_narrator.key)
        begun = begin_run(
            pneuma_store.store,
            context.run.run_id,
            chosen,
            pneuma_options.indexing,
            configured=names,
            recipe=recipe,
            indexed=indexed,
            everything=config.rebuild,
            retry=config.retry,
        )
        profiled = profile_tables(pneuma_store.store, context.run.run_id, chosen)
        return {**begun, **profiled, "begun anew": emptied}

    figures = run_stage(context, pneuma_store.store, work)
    rows = [r.rows for r in pneuma_store.store.work.records() if r.rows is not None]
    plot = histogram("Rows of every known table", rows, unit="rows")
    return dg.MaterializeResult(metadata={**metadata(figures), "rows by table": plot})
