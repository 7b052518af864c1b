"""What all methods of a deployment share: its parts, opened when needed and closed together."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from pneuma_assets.core.close_once import Closing, Shared
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.service.session import QuerySession
from pneuma_assets.core.service.state import KeptStore
from pneuma_assets.core.service.status import check_answerable, no_table_known

if TYPE_CHECKING:
    from pneuma_assets.core.index.base import SearchIndex
    from pneuma_assets.core.models.base import Encoder
    from pneuma_assets.core.search.query import QueryEngine
    from pneuma_assets.core.service.engine import Opened
    from pneuma_assets.core.store import Store

T = TypeVar("T")


class WorkspaceBase(Closing):
    """Opens the state, the index and models of a deployment when first needed, for all threads.

    Args:
        loaded: The deployment.
        environ: Holds the secrets that its file names; None: the process's own.
    """

    def __init__(self, loaded: LoadedDeployment, environ: Mapping[str, str] | None = None) -> None:
        self.loaded = loaded
        self._environ = os.environ if environ is None else environ
        self._stores = KeptStore(loaded, self._environ)
        self._sessions: Shared[QuerySession] = Shared(self._new_session)
        self._opening = Lock()
        self._closed = False

    @property
    def store(self) -> "Store":
        """The project's own state; created where there is none. `release` closes it."""
        self._check_open()
        return self._stores.current()

    @property
    def encoder(self) -> "Encoder":
        """The configured sentence encoder."""
        with self._opening:  # else two threads would load it
            if "_encoder" not in self.__dict__:
                self._check_open()
            return self._encoder

    @cached_property
    def _encoder(self) -> "Encoder":
        from pneuma_assets.core.models.encoder.encoder import open_encoder

        return open_encoder(self.loaded.deployment.encoder, self._environ)

    @property
    def search_index(self) -> "SearchIndex":
        """The search index, for asking; never created.

        It is opened with the configured encoder, or else with the one that built it.
        """
        return self._current.index

    def release(self) -> None:
        """Close the store now, and index and models; the next call opens them again.

        Questions that other threads are asking go on: what these need is closed with the last one.
        """
        self._sessions.retire()
        self._stores.close()

    def close(self) -> None:
        """Close whatever was opened, for good, as `release` does; again, it does nothing."""
        self._closed = True
        self.release()

    @property
    def _session(self) -> QuerySession:
        return self._sessions.current()

    def _new_session(self) -> QuerySession:
        self._check_open()
        return QuerySession(self.loaded, self._environ, lambda: self.encoder)

    @contextmanager
    def _asking(self) -> Iterator[QuerySession]:
        """Yield what a question needs, and keep it open until it has ended."""
        self._check_open()
        with self._sessions.use() as session:
            check_answerable(self.loaded)
            yield session

    def _ask(self, question: "Callable[[QueryEngine], T]") -> T:
        with self._asking() as session:
            return session.engine.ask(question)

    def _check_open(self) -> None:
        """Raise `StateError` after `close`: what would be opened now, nobody would close."""
        if self._closed:
            raise StateError("This workspace is closed; open another.")

    @property
    def _current(self) -> "Opened":
        """What answers questions now."""
        self._check_open()
        check_answerable(self.loaded)
        return self._session.engine.current()

    @contextmanager
    def _known_store(self) -> "Iterator[Store]":
        """Keep the store open within the block.

        Raises:
            ConfigError: Nothing was ever listed.
            StateError: It cannot be opened.
        """
        self._check_open()
        with self._stores.use() as store:
            if store is None:
                raise no_table_known(self.loaded)
            yield store
