"""The builds of one index: the one that is searched, and at most one that is to take its place.

Both engines keep two names: an alias and a state document in Elasticsearch, a file in a folder.
What is done with them, blue and green, stands once in `index.registry`.
"""

from dataclasses import dataclass
from typing import Protocol

from pneuma_assets.core.index.identity import Identity


@dataclass(frozen=True, slots=True)
class Successor:
    """The build that is to take the place of the one that is searched.

    It is either copied (`reindex`), while indexing has to wait, or built by indexing (`--rebuild`).
    """

    index: str
    copying: bool


class Builds(Protocol):
    """The names of an index's builds, and how they change; any method may raise `SearchIndexError`.

    `registry.EngineKind.administer` gives it to one step, which is done alone or again.
    """

    def current(self) -> str | None:
        """Return the build that is searched; None if there is none yet."""
        ...

    def successor(self, current: str) -> Successor | None:
        """Return the build that is to take this one's place."""
        ...

    def identity(self, build: str) -> Identity:
        """Return what a build was made with."""
        ...

    def begin(self, current: str, wanted: Identity, *, copying: bool) -> str:
        """Return the successor of this identity, gone on with if it was begun; else a new one.

        A successor that was begun with another identity is dropped.

        Raises:
            IndexDamagedError: What is searched is damaged, so nobody needs it any longer.
        """
        ...

    def publish(self, current: str, successor: str) -> None:
        """Let readers see the successor, in one act, and drop the old build."""
        ...

    def discard(self) -> None:
        """Drop the build that is searched, whatever its state; indexing makes a new one."""
        ...
