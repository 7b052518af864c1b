"""Questions to the index, as a Dagster resource: assets and jobs of others can ask, too."""

import os
from collections.abc import Sequence
from typing import Any

import dagster as dg
from pydantic import Field

from pneuma_assets.core.config.deployment import QueryConfig
from pneuma_assets.core.index.base import NO_FILTER, IndexFilter
from pneuma_assets.core.search.known_names import Elsewhere
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.search.results import TableResult
from pneuma_assets.core.service.wiring import has_state, open_store
from pneuma_assets.core.text.analysis import analyzer_named
from resources.deployment import DeploymentResource
from resources.index import IndexResource
from resources.models import EncoderResource, JudgeResource


class QueryResource(dg.ConfigurableResource):
    """Plain-language questions, answered with ranked tables (Pneuma, section 5.1)."""

    index: dg.ResourceDependency[IndexResource]
    encoder: dg.ResourceDependency[EncoderResource]
    judge: dg.ResourceDependency[JudgeResource]
    settings: dict[str, Any] = Field(description="The `query` section of the deployment file.")
    deployment: dg.ResourceDependency[DeploymentResource]

    @property
    def config(self) -> QueryConfig:
        """The query section of the deployment file."""
        return QueryConfig.model_validate(self.settings)

    def engine(self) -> QueryEngine:
        """Return what answers questions, over the index as it is now."""
        return QueryEngine(
            self.index.index,
            self.encoder.encoder,
            self.judge.model,
            self.config,
            judge_by_default=self.judge.config.enabled,
            analyzer=analyzer_named(self.index.config.analyzer),
            elsewhere=Elsewhere(
                self._known_tables,
                [source.name for source in self.deployment.loaded.deployment.sources],
            ),
        )

    def _known_tables(self) -> list[str]:
        loaded = self.deployment.loaded
        if not has_state(loaded, os.environ):
            return []
        with open_store(loaded, os.environ) as store:
            return store.work.listed()

    def ask(self, question: str, *, where: IndexFilter = NO_FILTER) -> Sequence[TableResult]:
        """Return the tables that answer `question` best, with the reason for each."""
        return self.engine().ask(question, where=where)
