"""What questions ask of the state, which stays open between them: joins, and headers.

To open a state takes longer than to look something up in it. Whoever answers questions may do so
for weeks, while the state is put anew in its place (`restore`) or removed, so the file is looked at
before each use, and what fails is opened once more.
"""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.service.wiring import has_state, identity_of_state, open_store

if TYPE_CHECKING:
    from pneuma_assets.core.relations.join_graph import JoinEdge
    from pneuma_assets.core.store import Store
    from pneuma_assets.core.tables import Vector

T = TypeVar("T")


@dataclass
class _Held:
    """An open state, which file it is, and how many threads ask it now."""

    store: "Store"
    identity: tuple[int, int] | None
    asking: int = 0
    retired: bool = False


class KeptState:
    """Asks the state, as it is now; for any number of threads.

    Args:
        loaded: The deployment.
        environ: Holds the secrets that its file names.
    """

    def __init__(self, loaded: LoadedDeployment, environ: Mapping[str, str]) -> None:
        self._loaded = loaded
        self._environ = environ
        self._lock = threading.Lock()
        self._held: _Held | None = None

    def joins_of(self, table_ids: Collection[str]) -> "list[JoinEdge]":
        """Return the joins of some tables with any; creates nothing.

        Raises:
            StateError: The state cannot be opened or read.
        """
        return self._asked(lambda store: store.joins.of_tables(table_ids), [])

    def headers_of(self, encoder: str, headers: Sequence[str]) -> "dict[str, Vector]":
        """Return the embeddings that are kept of headers by this encoder; creates nothing.

        Raises:
            StateError: The state cannot be opened or read.
        """
        return self._asked(lambda store: dict(store.headers.of(encoder, headers)), {})

    def close(self) -> None:
        """Close the state when the last question that asks it has ended; a next one opens it."""
        with self._lock:
            self._retire()

    def _asked(self, question: "Callable[[Store], T]", nothing: T) -> T:
        try:
            return self._ask(question, nothing)
        except StateError:  # closed meanwhile, or another than it was: seen by opening it
            self.close()
        return self._ask(question, nothing)

    def _ask(self, question: "Callable[[Store], T]", nothing: T) -> T:
        held = self._take()
        if held is None:
            return nothing
        try:
            return question(held.store)
        finally:
            self._give_back(held)

    def _take(self) -> _Held | None:
        with self._lock:
            identity = identity_of_state(self._loaded)
            if self._held is not None and self._held.identity != identity:
                self._retire()
            if self._held is None:
                if not has_state(self._loaded, self._environ):
                    return None
                self._held = _Held(open_store(self._loaded, self._environ), identity)
            self._held.asking += 1
            return self._held

    def _give_back(self, held: _Held) -> None:
        with self._lock:
            held.asking -= 1
            if held.retired and not held.asking:
                held.store.close()

    def _retire(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            held.retired = True
            if not held.asking:
                held.store.close()
