"""Questions to the index, as a Dagster resource: assets and jobs of others can ask, too."""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

import dagster as dg
from pydantic import PrivateAttr

from pneuma_assets.core.index.base import NO_FILTER, IndexFilter
from pneuma_assets.core.search.groups import GroupResult
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.search.results import TAU, TableResult
from pneuma_assets.core.service.engine import LiveQueryEngine
from pneuma_assets.core.service.status import check_answerable
from pneuma_assets.resources.deployment import CheckedResource, DeploymentResource
from pneuma_assets.resources.index import IndexResource
from pneuma_assets.resources.models import AnswersResource, EncoderResource, JudgeResource

if TYPE_CHECKING:
    from pneuma_assets.core.answers.results import CellAnswer
    from pneuma_assets.core.service.answer import Answering

_OPENING = threading.RLock()
"""Lets one of several threads open what all ask; a resource is copied, which no lock can be."""


class QueryResource(CheckedResource):
    """Plain-language questions, answered with ranked tables (Pneuma, section 5.1)."""

    deployment: dg.ResourceDependency[DeploymentResource]
    index: dg.ResourceDependency[IndexResource]
    encoder: dg.ResourceDependency[EncoderResource]
    judge: dg.ResourceDependency[JudgeResource]
    answers: dg.ResourceDependency[AnswersResource]
    _answering: "Answering | None" = PrivateAttr(default=None)
    _following: LiveQueryEngine | None = PrivateAttr(default=None)

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Self]:  # noqa: ARG002
        """Close index and sources when the run ends; the models' own resources close these."""
        try:
            yield self
        finally:
            with _OPENING:
                answering, self._answering = self._answering, None
                following, self._following = self._following, None
            for opened in (answering, following):  # the first asks by the second
                if opened is not None:
                    opened.close()

    def engine(self) -> QueryEngine:
        """Return what answers questions, over the index as it is now.

        It stays with the encoder that built that one; `ask` follows to another encoder's.

        Raises:
            QueryError: Nothing was ever indexed.
            SearchIndexError: The index cannot be opened.
        """
        return self._opened().current().engine

    def ask(
        self, question: str, *, k: int | None = None, where: IndexFilter = NO_FILTER
    ) -> Sequence[TableResult]:
        """Return up to `k` tables that answer `question` best, with the reason for each."""
        return self._opened().ask(lambda engine: engine.ask(question, k=k, where=where))

    def find_groups(
        self, question: str, *, k: int | None = None, where: IndexFilter = NO_FILTER
    ) -> Sequence[GroupResult]:
        """Return up to `k` sets of tables that may answer together, and how they are joined."""
        return self._opened().ask(lambda engine: engine.find_groups(question, k=k, where=where))

    def answer(
        self,
        question: str,
        *,
        k: int | None = None,
        model: bool | None = None,
        where: IndexFilter = NO_FILTER,
    ) -> "CellAnswer":
        """Return the cells that answer `question`, with the statement that gave them.

        Without a model nothing is answered: `named` has the rows with cells that it names.

        Args:
            question: In plain language.
            k: Most sets of tables that are looked at; None: as the deployment file has it.
            model: Whether a language model writes statements; None: as the deployment file has it.
            where: Which tables, and who asks.

        Raises:
            QueryError: The question cannot be asked, or nothing was ever indexed.
            SearchIndexError: The index cannot be read.
            ModelError: The model is missing or fails.
            StateError: What is known of tables cannot be read.
            ConfigError: A secret that the deployment file names is not set.
        """
        from pneuma_assets.core.service.answer import Answering

        with _OPENING:
            if self._answering is None:
                self._answering = Answering(
                    self.deployment.loaded, os.environ, self._opened, lambda: self.answers.model
                )
            answering = self._answering
        return answering.answer(question, k, model, where)

    def find(
        self,
        question: str,
        *,
        tau: float = TAU,
        k: int | None = None,
        where: IndexFilter = NO_FILTER,
    ) -> Sequence[TableResult]:
        """Return as many tables as `question` needs: those that score nearly as well as the best.

        `tau` tells how near, from 0, all `k`, to 1, the best alone.
        """
        return self._opened().ask(lambda engine: engine.find(question, tau=tau, k=k, where=where))

    def _opened(self) -> LiveQueryEngine:
        check_answerable(self.deployment.loaded)
        with _OPENING:
            if self._following is None:
                self._following = LiveQueryEngine(
                    self.deployment.loaded,
                    os.environ,
                    lambda: self.encoder.encoder,
                    lambda: self.judge.model,
                    self.index.credentials(),
                )
            return self._following
