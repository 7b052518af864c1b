"""The embedded engine for a deployment: a folder of its state folder."""

from pathlib import Path

from pneuma_assets.core.config.section import Section
from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.base import IndexInfo, SearchIndex
from pneuma_assets.core.index.credentials import SignIn
from pneuma_assets.core.index.embedded.contents import inspect
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.index.embedded.folder import discard, has_index
from pneuma_assets.core.index.embedded.renewal import renew
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
        """Open the one index that there is; only indexing creates it."""
        if not building and not self.exists(place):
            raise SearchIndexError(
                f"There is no search index in {_folder(place)} yet: run 'pneuma-assets index'."
            )
        return EmbeddedIndex(
            _folder(place), wanted.encoder, wanted.dimension, analyzer=place.analyzer
        )

    def renew(self, place: Place, found: Identity) -> None:
        """Build the index anew beside the old one, which stays readable."""
        renew(_folder(place), found, place.analyzer)

    def inspect(self, place: Place) -> IndexInfo | None:
        """Return what the index holds, all of it checked; None if there is none."""
        return inspect(_folder(place))

    def begin_rebuild(self, place: Place, wanted: Identity) -> None:  # noqa: ARG002 (made when opened)
        """Remove the index; open readers then open the next one."""
        discard(_folder(place))

    def publish(self, place: Place) -> bool:  # noqa: ARG002 (nothing is built beside)
        """Return that there is nothing to show: what is written is seen at once."""
        return False

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
