"""The five stages, from the listing of sources to the search index, as Dagster assets."""

import inspect
import os
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import dagster as dg
from pydantic import Field

from pneuma_assets.assets.foreign_assets import foreign_assets
from pneuma_assets.assets.report import event_log_open, metadata, previews, run_stage
from pneuma_assets.assets.table_events import TablePages
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.small_sections import INDEX_WRITER_POOL
from pneuma_assets.core.describe.texts import DrawnRows, NarratedColumns
from pneuma_assets.core.index.base import IndexInfo
from pneuma_assets.core.index.registry import kind_of
from pneuma_assets.core.pipeline.dagster_graphql import webserver_assets
from pneuma_assets.core.pipeline.describe import describe_tables, narration_key
from pneuma_assets.core.pipeline.embed import embed_tables
from pneuma_assets.core.pipeline.lineage import engine_dependencies, update_lineage
from pneuma_assets.core.pipeline.list import RawTablesFigures
from pneuma_assets.core.pipeline.plan import RunRequest, index_fingerprint, plan_run
from pneuma_assets.core.pipeline.sample import sample_tables
from pneuma_assets.core.pipeline.write import SearchIndexFigures, update_index
from pneuma_assets.core.service.openlineage import emit_lineage
from pneuma_assets.core.store.dagster_manifest_write import keep_manifest
from pneuma_assets.resources.index import IndexResource
from pneuma_assets.resources.models import EncoderResource, NarratorResource
from pneuma_assets.resources.names import Names, bind_resources
from pneuma_assets.resources.sources import SourcesResource
from pneuma_assets.resources.store import StoreResource


class RawTablesConfig(dg.Config):
    """What one run takes on."""

    only: list[str] = Field([], description="Only these sources; empty means all.")
    rebuild: bool = Field(False, description="Index every table again, changed or not.")
    retry: bool = Field(False, description="Try failed tables again, however often they failed.")
    accept_removals: bool = Field(
        False, description="Confirm removal of tables missing from one source."
    )
    patient: bool = Field(
        False, description="Leave tables alone that are being written, or have just failed."
    )
    as_listed: list[str] = Field(
        [], description="Sources that are not listed again: their tables are as listed last."
    )


def raw_tables(
    context: dg.AssetExecutionContext,
    config: RawTablesConfig,
    pneuma_sources: SourcesResource,
    pneuma_store: StoreResource,
    pneuma_index: IndexResource,
    pneuma_encoder: EncoderResource,
    pneuma_narrator: NarratorResource,
) -> dg.MaterializeResult:
    """Every table of the lake or warehouse: where it lives, its columns, its number of rows.

    Lists all sources, claims the tables that are new or changed, and reads their profiles and what
    people wrote about them. Data stays where it is.
    """
    store, deployment = pneuma_store.store, pneuma_store.loaded.deployment

    def read() -> RawTablesFigures:
        store.usage.forget_older(deployment.web.usage_days)  # before the state is backed up
        figures = plan_run(
            store,
            context.run.run_id,
            RunRequest(pneuma_sources.opened, **config.model_dump()),
            pneuma_index,
            deployment.indexing,
            recipe=index_fingerprint(
                deployment.sampling, pneuma_encoder.encoder.name, pneuma_narrator.way
            ),
        )
        unlisted = {*config.as_listed, *store.problems.unlisted_sources()}
        asked = [s for s in pneuma_sources.opened if not config.only or s.name in config.only]
        linked = update_lineage(
            *(store, context.run.run_id, deployment),
            [
                *engine_dependencies(asked, deployment.sources, unlisted),
                *foreign_assets(context, deployment.key_prefix),
                *webserver_assets(deployment.lineage.webserver, os.environ),
            ],
        )
        return figures + RawTablesFigures(linked=linked)

    return dg.MaterializeResult(metadata=run_stage(context, store, read).metadata())


def sampled_rows(
    context: dg.AssetExecutionContext, pneuma_sources: SourcesResource, pneuma_store: StoreResource
) -> dg.MaterializeResult:
    """Rows drawn uniformly, with a fixed seed, from every claimed table whose rows changed."""
    state, deployment = pneuma_store.store, pneuma_store.loaded.deployment
    done = run_stage(
        context,
        state,
        lambda: sample_tables(
            state,
            context.run.run_id,
            pneuma_sources.opened,
            deployment.sampling,
            deployment.indexing,
        ),
    )
    rows_shown = deployment.dagster.show_rows
    preview = previews(state, context.run.run_id, DrawnRows) if rows_shown else {}
    return dg.MaterializeResult(metadata={**done.metadata(), **preview})


def schema_narrations(
    context: dg.AssetExecutionContext,
    pneuma_store: StoreResource,
    pneuma_narrator: NarratorResource,
) -> dg.MaterializeResult:
    """A description of every column that can be described, and who says it.

    People's own words come first, from documents, comments and contexts. Where a language model is
    enabled it is asked for the other columns, once, and for what the table is. For the rest the
    name and the values speak.
    """
    state = pneuma_store.store
    done = run_stage(
        context,
        state,
        lambda: describe_tables(
            state, context.run.run_id, pneuma_narrator.model, pneuma_narrator.config
        ),
    )
    model = pneuma_narrator.model
    key = model and narration_key(model, pneuma_narrator.config.prompt)
    pneuma_narrator.release()
    # What is said of a column may quote its values.
    shown = pneuma_store.loaded.deployment.dagster.show_rows
    rate = done.figures.narrated / max(done.seconds, 0.01)
    return dg.MaterializeResult(
        metadata={
            **done.metadata(),
            **metadata({} if key is None else {"columns per second": rate}),
            "model": key or "none is asked",
            **(previews(state, context.run.run_id, NarratedColumns) if shown else {}),
        }
    )


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
    encoder = dg.MetadataValue.text(pneuma_encoder.encoder.name)
    return dg.MaterializeResult(metadata={**done.metadata(), "encoder": encoder})


def search_index(
    context: dg.AssetExecutionContext,
    pneuma_store: StoreResource,
    pneuma_encoder: EncoderResource,
    pneuma_index: IndexResource,
) -> dg.MaterializeResult:
    """Every table's blocks, replaced as one act a table; tables that left their source go.

    Each indexed table gets a materialization of its own, with its described columns. An index that
    is built beside an old one takes its place when no table waits and every source can be listed.
    """
    store = pneuma_store.store
    deployment = pneuma_store.loaded.deployment
    pages = TablePages(store, deployment, context.instance, context.log_event)

    def update() -> SearchIndexFigures:
        encoder = pneuma_encoder.encoder
        figures = update_index(store, context.run.run_id, encoder, pneuma_index, pages)
        keep_manifest(store, deployment, forced=True)
        emit_lineage(store, deployment)
        return figures

    with event_log_open(context.instance):
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
        **({"size (MB)": round(info.size_bytes / 1e6, 2)} if info.size_bytes else {}),
        "engine": info.engine,
        "health": info.health,
        **{f"index {name}": value for name, value in info.details.items()},
    }


class Stage(NamedTuple):
    """One asset of the pipeline, before it is any deployment's.

    Attributes:
        compute: What materializes it; its name ends the key, its docstring is for people in the UI.
        after: The names of the stages it depends on.
        code_version: Changes with what the stage writes.
        pool: What it shares with other runs; `gpu` is the deployment's `dagster.gpu_pool`.
        kinds: What the graph shows it is made with; a deployment may say otherwise.
    """

    compute: Callable[..., dg.MaterializeResult]
    after: Sequence[str]
    code_version: str
    pool: str | None = None
    kinds: Collection[str] = ()

    @property
    def name(self) -> str:
        """The last part of its key."""
        return self.compute.__name__

    def asset(self, deployment: Deployment, kinds: Collection[str]) -> dg.AssetsDefinition:
        """Return the asset of a deployment, which the graph shows to be made with these kinds."""
        names, config = Names.of(deployment), deployment.dagster
        spec = dg.AssetSpec(
            names.key(self.name),
            deps=[names.key(name) for name in self.after],
            description=inspect.getdoc(self.compute),
            group_name=names.identifier,
            owners=list(config.owners),
            tags=config.tags,
            kinds=set(kinds),
            code_version=self.code_version,
        )
        pools = {None: None, "gpu": config.gpu_pool, "index_writer": INDEX_WRITER_POOL}
        # Not `asset`, which takes no name for its op.
        making = dg.multi_asset(name=names(self.name), specs=[spec], pool=pools[self.pool])
        return making(bind_resources(self.compute, names))


STAGES = (
    Stage(raw_tables, [], "1"),
    Stage(sampled_rows, ["raw_tables"], "2"),
    # After the rows, so that a table that cannot be read costs no call of the model. The pool holds
    # where none is asked, too: the stage is then over in a moment.
    Stage(schema_narrations, ["sampled_rows"], "3", "gpu"),
    Stage(embedding_blocks, ["sampled_rows", "schema_narrations"], "1", "gpu", ["pytorch"]),
    Stage(search_index, ["embedding_blocks"], "1", "index_writer"),
)

MOST_KINDS = 3
"""More of an asset Dagster does not show."""


def stage_assets(deployment: Deployment) -> list[dg.AssetsDefinition]:
    """Return the assets of a deployment, in the order of their work."""
    shown = _technologies(deployment)
    return [stage.asset(deployment, shown.get(stage.name, stage.kinds)) for stage in STAGES]


def stage_keys(deployment: Deployment) -> list[dg.AssetKey]:
    """Return the keys of these assets; a group may be another team's, too."""
    names = Names.of(deployment)
    return [names.key(stage.name) for stage in STAGES]


def _technologies(deployment: Deployment) -> dict[str, set[str]]:
    read_with = {one for source in deployment.sources for one in source.technologies}
    made_with = kind_of(deployment.index.engine).technologies
    all_of_them = {
        "raw_tables": read_with,
        "sampled_rows": read_with,
        "schema_narrations": {"llm"} if deployment.narration.model else {"python"},
        "search_index": made_with,
    }
    return {stage: set(sorted(some)[:MOST_KINDS]) for stage, some in all_of_them.items()}
