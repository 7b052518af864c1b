"""Questions to the index, as a Dagster resource: assets and jobs of others can ask, too."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Self

import dagster as dg
from pydantic import PrivateAttr

from pneuma_assets.core.index.base import NO_FILTER, IndexFilter
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.search.results import TableResult
from pneuma_assets.core.service.following import Following
from pneuma_assets.core.service.readiness import check_answerable
from resources.deployment import DeploymentResource
from resources.index import IndexResource
from resources.models import EncoderResource, JudgeResource


class QueryResource(dg.ConfigurableResource):
    """Plain-language questions, answered with ranked tables (Pneuma, section 5.1)."""

    deployment: dg.ResourceDependency[DeploymentResource]
    index: dg.ResourceDependency[IndexResource]
    encoder: dg.ResourceDependency[EncoderResource]
    judge: dg.ResourceDependency[JudgeResource]
    _following: Following | None = PrivateAttr(default=None)

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Self]:  # noqa: ARG002
        """Close the index when the run ends."""
        try:
            yield self
        finally:
            if self._following is not None:
                self._following.close()

    def engine(self) -> QueryEngine:
        """Return what answers questions, over the index as it is now.

        It stays with the encoder that built that one; `ask` follows to another encoder's.

        Raises:
            QueryError: Nothing was ever indexed.
            SearchIndexError: The index cannot be opened.
        """
        return self._opened().current().engine

    def ask(self, question: str, *, where: IndexFilter = NO_FILTER) -> Sequence[TableResult]:
        """Return the tables that answer `question` best, with the reason for each."""
        return self._opened().ask(lambda engine: engine.ask(question, where=where))

    def _opened(self) -> Following:
        check_answerable(self.deployment.loaded)
        if self._following is None:
            self._following = Following(
                self.deployment.loaded,
                os.environ,
                lambda: self.encoder.encoder,
                lambda: self.judge.model,
                self.index.credentials(),
            )
        return self._following
