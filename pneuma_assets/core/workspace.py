"""Everything one deployment consists of, opened when first needed and closed together."""

import os
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING

from pneuma_assets.core.closing import Closing
from pneuma_assets.core.config_file import LoadedDeployment
from pneuma_assets.core.status import Status, read_status
from pneuma_assets.core.store import Store

if TYPE_CHECKING:
    from pneuma_assets.core.index.base import SearchIndex
    from pneuma_assets.core.models.base import Encoder, LanguageModel
    from pneuma_assets.core.search.query import QueryEngine
    from pneuma_assets.core.sources.base import Source


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
        store = Store(self.loaded.home / "state.db")
        self._stack.callback(store.close)
        return store

    @cached_property
    def encoder(self) -> "Encoder":
        """The configured sentence encoder."""
        from pneuma_assets.core.embedding import open_encoder

        return open_encoder(self.loaded.deployment.encoder)

    @cached_property
    def index(self) -> "SearchIndex":
        """The configured search index."""
        from pneuma_assets.core.index.registry import open_index

        index = open_index(
            self.loaded.deployment.index,
            self.loaded.home,
            self.encoder.name,
            self.encoder.dimension,
        )
        self._stack.callback(index.close)
        return index

    @cached_property
    def judge(self) -> "LanguageModel":
        """The model that judges candidates; loaded when the first question asks for it."""
        from pneuma_assets.core.models.registry import open_language_model

        model = open_language_model(
            self.loaded.deployment.judge, self.loaded.home / "models", self._environ
        )
        self._stack.callback(model.close)
        return model

    def sources(self) -> "list[Source]":
        """Return the configured sources; connects to none of them."""
        from pneuma_assets.core.sources.registry import open_sources

        return open_sources(self.loaded.deployment, self.loaded.base, self._environ)

    def query_engine(self) -> "QueryEngine":
        """Return what answers questions over the index."""
        from pneuma_assets.core.search.query import QueryEngine

        deployment = self.loaded.deployment
        return QueryEngine(
            self.index,
            self.encoder,
            self.judge,
            deployment.query,
            judge_by_default=deployment.judge.enabled,
        )

    def status(self) -> Status:
        """Return what is indexed, what is not and why, without loading a model."""
        from pneuma_assets.core.index.registry import inspect_index

        info = inspect_index(self.loaded.deployment.index, self.loaded.home)
        return read_status(self.store, self.loaded.home, info)

    def close(self) -> None:
        """Close whatever was opened."""
        self._stack.close()
