"""The embedded engine for a deployment: the folder `index` of its state folder, and its builds."""

import logging
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from pneuma_assets.core.config.section_base import Section
from pneuma_assets.core.errors import IndexDamagedError, IndexMismatchError, SearchIndexError
from pneuma_assets.core.index.base import IndexInfo, SearchIndex
from pneuma_assets.core.index.builds import Builds, Successor
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.index.embedded.file import (
    FILE_NAME,
    IndexFile,
    Meta,
)
from pneuma_assets.core.index.embedded.pointer import (
    POINTER,
    Pointer,
    changing,
    clear,
    discard,
    look_at,
    new_build,
    point,
    read_pointer,
)
from pneuma_assets.core.index.embedded.stats import check, inspect, reading_build
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.index.registry import NOBODY, Credentials, IndexPlace

logger = logging.getLogger(__name__)

Place = IndexPlace[Section]
Result = TypeVar("Result")


class EmbeddedKind:
    """Needs no server, no secret and no settings; see `EngineKind` for the promises."""

    technologies = frozenset({"sqlite"})

    def credentials(self, settings: Section, environ: Mapping[str, str]) -> Credentials:  # noqa: ARG002
        """Return that nobody signs in."""
        return NOBODY

    def exists(self, place: Place) -> bool:
        """Tell whether there is an index."""
        return (_folder(place) / POINTER).exists()

    def open(
        self, place: Place, wanted: Identity, *, building: bool = False, build: str | None = None
    ) -> SearchIndex:
        """Open the index, or the one that is built beside it; only indexing creates one."""
        if building:
            with changing(_folder(place)):
                EmbeddedBuilds(_folder(place)).drop_unwanted(wanted)
        return EmbeddedIndex(
            _folder(place),
            wanted.encoder,
            wanted.dimension,
            analyzer=place.analyzer,
            building=building,
            create=building,
            pinned=build,
        )

    def inspect(self, place: Place) -> IndexInfo | None:
        """Return what the index holds, all of it checked; None if there is none."""
        folder = _folder(place)
        builds = EmbeddedBuilds(folder)
        info = look_at(builds.current, lambda build: inspect(folder / build) if build else None)
        pointer = read_pointer(folder)
        if info is None or pointer is None or pointer.written == pointer.current:
            return info
        try:
            meta = builds.meta(pointer.written)
        except (IndexDamagedError, IndexMismatchError):
            return info
        told = f"for encoder {meta.encoder}, {meta.tables:,} tables so far"
        return replace(info, details={**info.details, "being built": told})

    def administer(self, place: Place, step: Callable[[Builds], Result]) -> Result:
        """Carry out a step while no other process does."""
        folder = _folder(place)
        if not folder.exists():
            return step(EmbeddedBuilds(folder))
        with changing(folder):
            return step(EmbeddedBuilds(folder))


@dataclass(frozen=True, slots=True)
class EmbeddedBuilds:
    """The builds in a folder, whose lock the caller holds; see `builds.Builds`."""

    folder: Path

    def current(self) -> str | None:
        """Return the build that the pointer names first."""
        pointer = read_pointer(self.folder)
        return None if pointer is None else pointer.current

    def successor(self, current: str) -> Successor | None:
        """Return the other one that it names."""
        pointer = read_pointer(self.folder)
        if pointer is None or pointer.successor is None or pointer.current != current:
            return None
        return Successor(pointer.successor, pointer.copying)

    def identity(self, build: str) -> Identity:
        """Return what a build was made with; the rest of it may be damaged."""
        return self.meta(build).identity

    def meta(self, build: str) -> Meta:
        """Return what a build says of itself."""
        with reading_build(self.folder / build) as (*_, meta):
            return meta

    def begin(self, current: str, wanted: Identity, *, copying: bool) -> str:
        """Return a successor; one that is damaged is not gone on with.

        Raises:
            SearchIndexError: Another build is searched by now.
        """
        if self.current() != current:
            raise SearchIndexError("The search index was replaced meanwhile; do the same again.")
        if not copying:
            try:
                look_at(lambda: current, lambda build: check(self.folder / build))
            except IndexDamagedError:
                raise
            except SearchIndexError as error:  # it may be read by its readers all the same
                logger.warning("The search index is built anew beside one that says: %s", error)
        begun = self.successor(current)
        if begun is not None and begun.copying == copying and self._fits(begun.index, wanted):
            return begun.index
        made = new_build(self.folder, wanted)
        point(self.folder, Pointer(current, made, copying))
        return made

    def publish(self, current: str, successor: str) -> None:
        """Let the pointer name the successor first, unless another process was faster."""
        found = self.successor(current)
        if found is None or found.index != successor:
            raise SearchIndexError(
                "Another process has begun to build the search index meanwhile; do the same again."
            )
        point(self.folder, Pointer(successor))

    def discard(self) -> None:
        """Remove all builds."""
        discard(self.folder)

    def drop_unwanted(self, wanted: Identity) -> None:
        """Remove what nobody goes on with, because indexing wants what is searched.

        So are copies that were cut off: who copies keeps writers out of what is searched. What is
        built for another encoder stays where what is searched is not wanted, either.
        """
        pointer = read_pointer(self.folder)
        if pointer is None:
            return
        if pointer.successor is None:
            is_needed = True
        elif pointer.copying:
            is_needed = self._is_being_written(pointer.current)
        else:
            found = self._identity_or_none(pointer.current)
            is_needed = (
                found is None
                or not found.has_vectors_of(wanted)
                or self._identity_or_none(pointer.successor) == wanted
            )
        if is_needed:
            clear(self.folder, {pointer.current, pointer.successor})
        else:
            point(self.folder, Pointer(pointer.current))

    def _fits(self, build: str, wanted: Identity) -> bool:
        if self._identity_or_none(build) != wanted:
            return False
        try:
            check(self.folder / build)
        except SearchIndexError:
            return False
        return True

    def _identity_or_none(self, build: str) -> Identity | None:
        try:
            return self.identity(build)
        except (IndexDamagedError, IndexMismatchError):
            return None

    def _is_being_written(self, build: str) -> bool:
        try:
            path = self.folder / build / FILE_NAME
            with closing(IndexFile(path, 0.0)) as file, file.writing():
                return False
        except (IndexDamagedError, IndexMismatchError):
            return False
        except SearchIndexError:
            return True


def _folder(place: Place) -> Path:
    return place.home / "index"
