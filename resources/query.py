"""Questions to the index, as a Dagster resource: assets and jobs of others can ask, too."""

from collections.abc import Sequence

import dagster as dg
from pydantic import Field

from pneuma_assets.core.config import QueryConfig
from pneuma_assets.core.index.analysis import analyzer_named
from pneuma_assets.core.index.base import NO_FILTER, IndexFilter
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.search.results import TableResult
from resources.index import IndexResource
from resources.models import EncoderResource, JudgeResource


class QueryResource(dg.ConfigurableResource):
    """Plain-language questions, answered with ranked tables (Pneuma, section 5.1)."""

    index: dg.ResourceDependency[IndexResource]
    encoder: dg.ResourceDependency[EncoderResource]
    judge: dg.ResourceDependency[JudgeResource]
    k: int = Field(10, description="Tables to return.")
    n: int = Field(5, description="Candidates a side are n times k.")
    alpha: float = Field(0.5, description="Weight of the words' side, 0 to 1.")

    def engine(self) -> QueryEngine:
        """Return what answers questions, over the index as it is now."""
        return QueryEngine(
            self.index.index,
            self.encoder.encoder,
            self.judge.model,
            QueryConfig(k=self.k, n=self.n, alpha=self.alpha),
            judge_by_default=self.judge.config.enabled,
            analyzer=analyzer_named(self.index.config.analyzer),
        )

    def ask(self, question: str, *, where: IndexFilter = NO_FILTER) -> Sequence[TableResult]:
        """Return the tables that answer `question` best, with the reason for each."""
        return self.engine().ask(question, where=where)
