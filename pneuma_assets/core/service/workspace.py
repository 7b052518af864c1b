"""Everything one deployment consists of, opened when first needed and closed together."""

import os
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING

from pneuma_assets.core.closing import Closing
from pneuma_assets.core.config.index import Engine
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.service.readiness import check_answerable
from pneuma_assets.core.service.status import Status, read_status
from pneuma_assets.core.service.wiring import has_state, open_store
from pneuma_assets.core.store import Store

if TYPE_CHECKING:
    from pneuma_assets.core.index.base import IndexInfo, SearchIndex
    from pneuma_assets.core.models.base import Encoder, LanguageModel
    from pneuma_assets.core.search.query import QueryEngine


class Workspace(Closing):
    """A deployment ready for use from a script, a notebook or a command line.

    Nothing is opened before it is asked for: reading the status loads no model.
    """

    def __init__(self, loaded: LoadedDeployment, environ: Mapping[str, str] | None = None) -> None:
        self.loaded = loaded
        self._environ = os.environ if environ is None else environ
        self._stack = ExitStack()

    @cached_property
    def store(self) -> Store:
        """The project's own state."""
        store = open_store(self.loaded, self._environ)
        self._stack.callback(store.close)
        return store

    @cached_property
    def encoder(self) -> "Encoder":
        """The configured sentence encoder."""
        from pneuma_assets.core.models.encoder.encoder import open_encoder

        return open_encoder(self.loaded.deployment.encoder)

    @cached_property
    def index(self) -> "SearchIndex":
        """The configured search index, for asking; never created.

        Raises:
            QueryError: Nothing was ever indexed.
            SearchIndexError: It cannot be opened.
        """
        from pneuma_assets.core.index.registry import index_credentials, open_index

        check_answerable(self.loaded)
        config = self.loaded.deployment.index
        credentials = index_credentials(config, self._environ)
        index = open_index(
            config, self.loaded.home, self.encoder.name, self.encoder.dimension, credentials
        )
        self._stack.callback(index.close)
        return index

    @cached_property
    def judge(self) -> "LanguageModel":
        """The model that judges candidates; loaded when the first question asks for it."""
        from pneuma_assets.core.models.language.registry import open_language_model

        model = open_language_model(
            self.loaded.deployment.judge, self.loaded.home / "models", self._environ
        )
        self._stack.callback(model.close)
        return model

    def query_engine(self) -> "QueryEngine":
        """Return what answers questions over the index."""
        from pneuma_assets.core.search.known_names import Elsewhere
        from pneuma_assets.core.search.query import QueryEngine
        from pneuma_assets.core.text.analysis import analyzer_named

        deployment = self.loaded.deployment
        return QueryEngine(
            self.index,
            self.encoder,
            self.judge,
            deployment.query,
            judge_by_default=deployment.judge.enabled,
            analyzer=analyzer_named(deployment.index.analyzer),
            elsewhere=Elsewhere(self.known_tables, [one.name for one in deployment.sources]),
        )

    def status(self) -> Status:
        """Return what is indexed, what is not and why, without loading a model.

        Where nothing was indexed yet it is empty, and no state is created.
        """
        if not has_state(self.loaded, self._environ):
            return Status(self.loaded.home, (), (), self.inspect_index())
        return read_status(self.store, self.loaded.home, self.inspect_index())

    def inspect_index(self) -> "IndexInfo | None":
        """Return what the index holds, whatever encoder built it; None if there is none."""
        from pneuma_assets.core.index.registry import index_credentials, inspect_index

        config = self.loaded.deployment.index
        return inspect_index(config, self.loaded.home, index_credentials(config, self._environ))

    def known_tables(self) -> list[str]:
        """Return the ids of the tables that this machine has met, indexed or not."""
        if not has_state(self.loaded, self._environ):
            return []
        return self.store.work.listed()

    def reindex(self) -> None:
        """Build the index anew with today's settings, beside the one that is searched.

        Raises:
            SearchIndexError: There is no index, or it cannot be read.
        """
        from pneuma_assets.core.index.registry import index_credentials, reindex

        config = self.loaded.deployment.index
        reindex(config, self.loaded.home, index_credentials(config, self._environ))

    def copy_index(self, source: Engine, target: Engine, *, replace: bool = False) -> "IndexInfo":
        """Copy the index of one engine to the other, and return what that then holds.

        Raises:
            SearchIndexError: There is nothing to copy.
            IndexMismatchError: The target was built with another encoder, and not to `replace`.
        """
        from pneuma_assets.core.index.registry import copy_between

        config = self.loaded.deployment.index
        return copy_between(
            config, source, target, self.loaded.home, self._environ, replace=replace
        )

    def close(self) -> None:
        """Close whatever was opened."""
        self._stack.close()
