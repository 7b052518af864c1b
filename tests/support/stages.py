"""All stages of a run without Dagster, in this process: what most tests need of a run."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from types import MappingProxyType
from uuid import uuid4

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.models.base import LanguageModel
from pneuma_assets.core.pipeline.describe import describe_tables, describing_key
from pneuma_assets.core.pipeline.embed import embed_tables
from pneuma_assets.core.pipeline.lineage import update_lineage
from pneuma_assets.core.pipeline.plan import RunRequest, index_fingerprint, plan_run
from pneuma_assets.core.pipeline.sample import sample_tables
from pneuma_assets.core.pipeline.write import SearchIndexFigures, update_index
from pneuma_assets.core.service.state import open_store
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.core.tables import Table
from pneuma_assets.resources.build import build_resources
from tests.support.reading import reading_here


@dataclass
class Pages:
    """Takes the place of the pages in Dagster, which a process of Dagster's is killed for."""

    others: Sequence[str] = ()

    def announce(self, tables: Sequence[Table]) -> None: ...

    def remove(self, table_ids: Sequence[str]) -> None: ...

    def complete(self) -> None: ...


def run_stages(
    loaded: LoadedDeployment,
    environ: Mapping[str, str] = MappingProxyType({}),
    run_id: str = "",
    model: LanguageModel | None = None,
) -> SearchIndexFigures:
    """Do what the five assets do, with the sources read in this process."""
    run_id = run_id or str(uuid4())
    asked = loaded.deployment
    resources = build_resources(loaded)
    encoders, site = resources["pneuma_encoder"], resources["pneuma_index"]
    with ExitStack() as undo:
        store = undo.enter_context(closing(open_store(loaded, environ)))
        undo.callback(site.release)
        undo.enter_context(reading_here())
        configs = [one.resolved(loaded.base) for one in asked.sources]
        opened = [IsolatedSource(one, environ, asked.limits) for one in configs]
        sources = [undo.enter_context(closing(one)) for one in opened]
        undo.enter_context(store.runs.alive(run_id))
        store.runs.begin(run_id)
        way = describing_key(model, asked.narration)
        recipe = index_fingerprint(asked.sampling, encoders.encoder.name, way)
        plan_run(store, run_id, RunRequest(sources), site, asked.indexing, recipe=recipe)
        update_lineage(store, run_id, asked)
        sample_tables(store, run_id, sources, asked.sampling, asked.indexing)
        describe_tables(store, run_id, model, asked.narration)
        embed_tables(store, run_id, encoders.encoder, site.building)
        return update_index(store, run_id, encoders.encoder, site, Pages())
