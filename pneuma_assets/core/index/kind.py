"""What a search engine does for a deployment beyond answering: one object an engine.

`SearchIndex` is one open index; an `EngineKind` opens it, looks at it and builds it anew. Another
engine brings a class of its own and is registered by `core.config.engines.register_engine`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from pneuma_assets.core.config.section import Section
from pneuma_assets.core.index.base import IndexInfo, SearchIndex
from pneuma_assets.core.index.credentials import Credentials, SignIn
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.text.analysis import Analyzer

Settings = TypeVar("Settings", bound=Section)


@dataclass(frozen=True, slots=True)
class IndexPlace(Generic[Settings]):
    """Where a deployment's index is, and how texts become words in it.

    Attributes:
        settings: The engine's own section of the deployment file.
        home: The state folder, for an engine that keeps files.
        analyzer: The configured one; an index may have been built with another.
        credentials: How to sign in.
    """

    settings: Settings
    home: Path
    analyzer: Analyzer
    credentials: Credentials


class EngineKind(Protocol[Settings]):
    """One kind of engine, whatever deployment uses it; holds no state, and opens nothing to keep.

    Any method that looks at an index may raise `SearchIndexError`.
    """

    @property
    def technologies(self) -> frozenset[str]:
        """What the index is made with, for a user interface that shows it."""
        ...

    def sign_in(self, settings: Settings) -> SignIn:
        """Return which variables hold the secrets."""
        ...

    def exists(self, place: IndexPlace[Settings]) -> bool:
        """Tell whether there may be an index; False only where that is sure and costs nothing."""
        ...

    def open(self, place: IndexPlace[Settings], wanted: Identity, *, building: bool) -> SearchIndex:
        """Open the index, for asking, or for indexing: then it is created if there is none.

        `building` opens what `begin_rebuild` has begun where readers still use the old index.

        Raises:
            OlderRulesError: Only `renew` is needed, which the caller sees to.
            IndexMismatchError: It was not built with what is wanted.
            SearchIndexError: It cannot be opened, or there is none to ask.
        """
        ...

    def renew(self, place: IndexPlace[Settings], found: Identity) -> None:
        """Count the words anew of an index that older rules of the analyzer built; no model."""
        ...

    def inspect(self, place: IndexPlace[Settings]) -> IndexInfo | None:
        """Return what the index holds, whatever encoder built it; None if there is none."""
        ...

    def begin_rebuild(self, place: IndexPlace[Settings], wanted: Identity) -> None:
        """Make room for an index of this identity, whatever the old one's identity or state."""
        ...

    def publish(self, place: IndexPlace[Settings], built: Identity, tables: int) -> bool:
        """Let readers see what was built beside the old index; False if that is not there.

        What lies there may be another run's, for another configuration and only begun: it stays,
        unless it was built with `built` and, where an engine can count under its locks, holds as
        many `tables` as the caller has found complete.
        """
        ...

    def reindex(self, place: IndexPlace[Settings]) -> None:
        """Build the index anew with today's settings and analyzer; readers are not disturbed.

        Raises:
            SearchIndexError: There is no index, or it cannot be read.
        """
        ...
