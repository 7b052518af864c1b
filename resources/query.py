"""Questions to the index, as a Dagster resource: assets and jobs of others can ask, too."""

import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import dagster as dg
from pydantic import PrivateAttr

from pneuma_assets.core.index.base import NO_FILTER, IndexFilter
from pneuma_assets.core.search.results import TAU, TableResult
from pneuma_assets.core.service.session import QuerySession
from pneuma_assets.core.service.status import check_answerable
from pneuma_assets.resources.deployment import DeploymentPart
from pneuma_assets.resources.models import EncoderResource

if TYPE_CHECKING:
    from pneuma_assets.core.answers.results import CellAnswer
    from pneuma_assets.core.relations.rank_groups import GroupResult
    from pneuma_assets.core.search.query import QueryEngine

_OPENING = threading.RLock()
"""Lets one of several threads open what all ask; a resource is copied, which no lock can be."""


class QueryResource(DeploymentPart):
    """Plain-language questions, answered with ranked tables (Pneuma, section 5.1)."""

    encoder: dg.ResourceDependency[EncoderResource]
    _session: QuerySession | None = PrivateAttr(default=None)

    def release(self) -> None:
        """Close index, sources and models now; asked again, they are opened anew."""
        with _OPENING:
            session, self._session = self._session, None
        if session is not None:
            session.close()

    def engine(self) -> "QueryEngine":
        """Return what answers questions, by the index as it is now; `ask` follows to later ones.

        Raises:
            QueryError: Nothing was ever indexed.
            SearchIndexError: The index cannot be opened.
        """
        return self._opened().engine.current().engine

    def ask(
        self, question: str, *, k: int | None = None, where: IndexFilter = NO_FILTER
    ) -> Sequence[TableResult]:
        """Return up to `k` tables that answer `question` best, with the reason for each."""
        return self._opened().engine.ask(lambda engine: engine.ask(question, k=k, where=where))

    def find_groups(
        self, question: str, *, k: int | None = None, where: IndexFilter = NO_FILTER
    ) -> "Sequence[GroupResult]":
        """Return up to `k` sets of tables that may answer together, and how they are joined."""
        return self._opened().engine.ask(
            lambda engine: engine.find_groups(question, k=k, where=where)
        )

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
            PneumaError: Nothing was indexed, or index, model, state or secret is not there.
        """
        return self._opened().answering.answer(question, k, model, where)

    def find(
        self,
        question: str,
        *,
        tau: float = TAU,
        k: int | None = None,
        where: IndexFilter = NO_FILTER,
    ) -> Sequence[TableResult]:
        """Return the tables that score nearly as well as the best: 0: all `k`; 1: it alone."""
        return self._opened().engine.ask(
            lambda engine: engine.find(question, tau=tau, k=k, where=where)
        )

    def _opened(self) -> QuerySession:
        check_answerable(self.loaded)
        with _OPENING:
            if self._session is None:
                encoder = lambda: self.encoder.encoder  # noqa: E731
                self._session = QuerySession(self.loaded, os.environ, encoder)
            return self._session
