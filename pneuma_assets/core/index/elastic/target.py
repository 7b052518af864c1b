"""The index that a handle works on, and what it knows of its state."""

import threading
from dataclasses import dataclass

from elasticsearch import Elasticsearch

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.errors import IndexBusyError, IndexDamagedError, SearchIndexError
from pneuma_assets.core.index.elastic.failures import IndexGoneError
from pneuma_assets.core.index.elastic.lifecycle import (
    Described,
    create_first,
    describe,
    resolve,
    successor_of,
)
from pneuma_assets.core.index.elastic.state import State
from pneuma_assets.core.index.elastic.state_store import read_state
from pneuma_assets.core.index.identity import REBUILD, Identity


@dataclass(frozen=True, slots=True)
class Opened:
    """An index, and the newest of its states that this process has seen."""

    index: str
    described: Described
    state: State


class Target:
    """Finds the index behind the alias, and again after it was swapped or dropped.

    Args:
        client: Connected to the cluster; its time limit is for looking, not for creating.
        config: Names the alias.
        identity: What the index must have been built with; None takes it as it is.
        building: Work on the successor where indexing builds one.
        create: Make the first index where there is none.
        pinned: Work on this index, whatever the alias says.
    """

    def __init__(
        self,
        client: Elasticsearch,
        config: ElasticsearchConfig,
        identity: Identity | None,
        *,
        building: bool,
        create: bool,
        pinned: str | None = None,
    ) -> None:
        self._client = client
        self._config = config
        self._identity = identity
        self.building = building
        self._create = create
        self._pinned = pinned
        self._lock = threading.Lock()
        self._opened: Opened | None = None

    def current(self) -> Opened:
        """Return the index and the newest state known; opens it where that is not known yet.

        Raises:
            IndexMismatchError: It was built with another encoder, dimension or analyzer.
        """
        known = self._opened
        if known is None:
            opened = self._open()  # not under the lock: a cluster that hangs holds up nobody else
            with self._lock:
                self._opened = known = self._opened or opened
        return known

    def saw(self, opened: Opened, state: State) -> Opened:
        """Return what is opened, at `state` if that is newer than what was known.

        Raises:
            IndexGoneError: Another index has its name now.
        """
        with self._lock:
            known = self._opened
            if known is None or known.index != opened.index:
                return Opened(opened.index, opened.described, state)
            if known.state.incarnation != state.incarnation:
                raise IndexGoneError(f"{opened.index!r} was dropped and made again")
            if state.version > known.state.version:
                self._opened = known = Opened(known.index, known.described, state)
            return known

    def forget(self, opened: Opened) -> None:
        """Look for the index again at the next call, because this one is gone."""
        with self._lock:
            if self._opened is not None and self._opened.index == opened.index:
                self._opened = None

    def _open(self) -> Opened:
        index = self._pinned or self._named()
        described = describe(self._client, index)
        if self._identity is not None:
            described.identity.check(self._identity, repr(index))
        return Opened(index, described, read_state(self._client, index).state)

    def _named(self) -> str:
        """Return the index behind the alias, or the one that is to take its place."""
        index = resolve(self._client, self._config.name)
        if index is None and self._create and self._identity is not None:
            patient = self._client.options(request_timeout=self._config.timeout_seconds)
            index = create_first(patient, self._config, self._identity)
        if index is None:
            raise SearchIndexError(
                f"There is no search index {self._config.name!r} in this cluster yet: run "
                "'pneuma-assets index' where the tables are, or correct index.elasticsearch.name."
            )
        return (self._being_built(index) if self.building else None) or index

    def _being_built(self, index: str) -> str | None:
        """Return the successor that indexing builds, if there is one."""
        successor = successor_of(self._client, index)
        if successor is None:
            return None
        if successor.copying:
            raise being_copied(index, successor.index)
        if self._client.indices.exists(index=successor.index):
            return successor.index
        if resolve(self._client, self._config.name) != index:
            raise IndexGoneError(f"{index!r} was swapped meanwhile")
        raise IndexDamagedError(
            f"The index {successor.index!r}, which was being built to replace {index!r}, is gone; "
            f"{REBUILD}."
        )


def being_copied(index: str, successor: str) -> IndexBusyError:
    """Return the refusal of an index that takes no writes."""
    return IndexBusyError(
        f"The index {index!r} is being copied to {successor!r} and takes no changes: wait for "
        "'pneuma-assets reindex' to end, or run it again if it was interrupted. (With --rebuild "
        "an index is built from the tables instead.)"
    )
