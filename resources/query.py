"""Questions to the index, as a Dagster resource: assets and jobs of others can ask, too."""

import os
from collections.abc import Sequence

import dagster as dg

from pneuma_assets.core.index.base import NO_FILTER, IndexFilter
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.search.results import TableResult
from pneuma_assets.core.service.readiness import check_answerable
from pneuma_assets.core.service.wiring import build_query_engine
from resources.deployment import DeploymentResource
from resources.index import IndexResource
from resources.models import EncoderResource, JudgeResource


class QueryResource(dg.ConfigurableResource):
    """Plain-language questions, answered with ranked tables (Pneuma, section 5.1)."""

    deployment: dg.ResourceDependency[DeploymentResource]
    index: dg.ResourceDependency[IndexResource]
    encoder: dg.ResourceDependency[EncoderResource]
    judge: dg.ResourceDependency[JudgeResource]

    def engine(self) -> QueryEngine:
        """Return what answers questions, over the index as it is now.

        Raises:
            QueryError: Nothing was ever indexed.
            SearchIndexError: The index cannot be opened.
        """
        loaded = self.deployment.loaded
        check_answerable(loaded)
        return build_query_engine(
            loaded, os.environ, self.index.index, self.encoder.encoder, self.judge.model
        )

    def ask(self, question: str, *, where: IndexFilter = NO_FILTER) -> Sequence[TableResult]:
        """Return the tables that answer `question` best, with the reason for each."""
        return self.engine().ask(question, where=where)
