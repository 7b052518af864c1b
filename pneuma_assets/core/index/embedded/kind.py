"""The embedded engine for a deployment: a folder of its state folder."""

from dataclasses import replace
from pathlib import Path

from pneuma_assets.core.config.section import Section
from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.base import IndexInfo, SearchIndex
from pneuma_assets.core.index.credentials import SignIn
from pneuma_assets.core.index.embedded.contents import inspect
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.index.embedded.folder import beside, has_index
from pneuma_assets.core.index.embedded.renewal import renew
from pneuma_assets.core.index.embedded.successor import (
    begin,
    clear_up,
    identity_of,
    publish,
    what_is_built,
)
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.index.kind import IndexPlace

Place = IndexPlace[Section]


class EmbeddedKind:
    """Needs no server, no secret and no settings; see `EngineKind` for the promises."""

    technologies = frozenset({"sqlite"})

    def sign_in(self, settings: Section) -> SignIn:  # noqa: ARG002 (nobody asks)
        """Return that nobody signs in."""
        return SignIn()

    def exists(self, place: Place) -> bool:
        """Tell whether there is an index."""
        return has_index(_folder(place))

    def open(self, place: Place, wanted: Identity, *, building: bool) -> SearchIndex:
        """Open the index, or the one that is built beside it; only indexing creates one."""
        folder = _folder(place)
        if not building and not self.exists(place):
            raise SearchIndexError(
                f"There is no search index in {folder} yet: run 'pneuma-assets index'."
            )
        if building:
            clear_up(folder, wanted)
            if beside(folder).exists():
                folder = beside(folder)
        return EmbeddedIndex(folder, wanted.encoder, wanted.dimension, analyzer=place.analyzer)

    def renew(self, place: Place, found: Identity) -> None:
        """Build the index anew beside the old one, which stays readable."""
        folder = _folder(place)
        if identity_of(beside(folder)) == found:
            folder = beside(folder)
        renew(folder, found, place.analyzer)

    def inspect(self, place: Place) -> IndexInfo | None:
        """Return what the index holds, all of it checked; None if there is none."""
        info = inspect(_folder(place))
        begun = None if info is None else what_is_built(_folder(place))
        if info is None or begun is None:
            return info
        return replace(info, details={**info.details, "being built": begun})

    def begin_rebuild(self, place: Place, wanted: Identity) -> None:
        """Make room for an index beside the one that readers use until `publish`.

        One that cannot be read, or is what is wanted, is removed: nothing is lost with it.
        """
        begin(_folder(place), wanted)

    def publish(self, place: Place, built: Identity, tables: int) -> bool:
        """Put what indexing has built in the old index's place, which is then removed."""
        return publish(_folder(place), built, tables)

    def reindex(self, place: Place) -> None:
        """Build the index anew with the configured analyzer."""
        info = self.inspect(place)
        if info is None:
            raise SearchIndexError("There is no search index yet: run 'pneuma-assets index'.")
        if not info.usable:
            raise SearchIndexError(f"The search index cannot be read: {info.health}.")
        self.renew(place, Identity(info.encoder, info.dimension, info.details["analyzer"]))


def _folder(place: Place) -> Path:
    return place.home / "index"
