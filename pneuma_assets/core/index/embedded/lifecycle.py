"""The embedded engine for a deployment: a folder of its state folder, and the index built beside.

Readers stay with the old index until the new one is complete and changes places with it in one act.
Which of two folders is which says nothing but what they were built with, so that a kill at any
moment leaves nothing to be told apart: the index stands where it always does, and what lies beside
it is gone on with by whoever wants an index like that, and otherwise removed.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from pneuma_assets.core.config.section_base import Section
from pneuma_assets.core.errors import IndexDamagedError, SearchIndexError
from pneuma_assets.core.index.base import IndexInfo, SearchIndex
from pneuma_assets.core.index.copy import copy_exactly
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.index.embedded.file import FILE_NAME, SqliteFile
from pneuma_assets.core.index.embedded.folder import (
    discard,
    discard_staging,
    explained,
    finish_replacing,
    has_index,
    is_tidy,
    put_in_place,
    replace_folder,
    staging_path,
    tidy,
)
from pneuma_assets.core.index.embedded.stats import inspect
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.index.registry import NOBODY, Credentials, IndexPlace
from pneuma_assets.core.text.analysis import Analyzer

_LOCK_TIMEOUT = 60.0

Place = IndexPlace[Section]


class EmbeddedKind:
    """Needs no server, no secret and no settings; see `EngineKind` for the promises."""

    technologies = frozenset({"sqlite"})

    def credentials(self, settings: Section, environ: Mapping[str, str]) -> Credentials:  # noqa: ARG002
        """Return that nobody signs in."""
        return NOBODY

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
            _clear_up(folder, wanted)
            if staging_path(folder).exists():
                folder = staging_path(folder)
        return EmbeddedIndex(folder, wanted.encoder, wanted.dimension, analyzer=place.analyzer)

    def inspect(self, place: Place) -> IndexInfo | None:
        """Return what the index holds, all of it checked; None if there is none."""
        info = inspect(_folder(place))
        begun = None if info is None else _look(staging_path(_folder(place)))
        if info is None or begun is None:
            return info
        told = f"for encoder {begun[0].encoder}, {begun[1]:,} tables so far"
        return replace(info, details={**info.details, "being built": told})

    def begin_rebuild(self, place: Place, wanted: Identity) -> None:
        """Make room for an index beside the one that readers use until `publish`.

        What was begun for something else, or is damaged, is removed. So is the index itself where
        nothing of it can be read, or where it is the wanted one and of no use: the new one is then
        made in its place.

        Raises:
            SearchIndexError: A folder cannot be made or removed.
        """
        folder = _folder(place)
        finish_replacing(folder)
        if not folder.exists():
            return
        found, fresh = identity_of(folder), staging_path(folder)
        if found is None or found == wanted:
            discard(folder)
            return
        if (fresh / FILE_NAME).exists() and not _can_go_on(fresh, wanted):
            discard_staging(folder)
        with explained(fresh, "made"):
            fresh.mkdir(exist_ok=True)

    def publish(self, place: Place, built: Identity, tables: int) -> bool:
        """Put what was built in the old index's place, which is then removed.

        Another number of tables than the caller has found complete is the work of a run that goes
        on with it.

        Raises:
            SearchIndexError: The folders cannot change places.
        """
        folder = _folder(place)
        finish_replacing(folder)
        fresh = staging_path(folder)
        if identity_of(fresh) != built or not folder.exists():
            return False
        with _locked(folder) as ours, _locked(fresh) as theirs:
            slower = not (ours() and theirs()) or identity_of(folder) == built
            if slower or _look(fresh) != (built, tables):
                return False
            put_in_place(folder, fresh)
            return True

    def reindex(self, place: Place, built: Identity | None = None) -> None:
        """Rebuild the index with the configured analyzer; what readers have open stays readable.

        Raises:
            SearchIndexError: It cannot be read, or the new one not be written.
        """
        folder = _folder(place)
        found = self._sound(place) if built is None else built
        if identity_of(staging_path(folder)) == found:
            folder = staging_path(folder)
        finish_replacing(folder)
        with closing(SqliteFile(folder / FILE_NAME, _LOCK_TIMEOUT)) as file, file.writing():
            if file.is_current():  # no other process was faster, and nobody changes it meanwhile
                replace_folder(folder, lambda begun: _build(folder, begun, found, place.analyzer))

    def _sound(self, place: Place) -> Identity:
        """Return what the index was built with; raises `SearchIndexError` where it is of no use."""
        info = self.inspect(place)
        if info is None:
            raise SearchIndexError("There is no search index yet: run 'pneuma-assets index'.")
        if not info.usable:
            raise SearchIndexError(f"The search index cannot be read: {info.health}.")
        return Identity(info.encoder, info.dimension, info.details["analyzer"])


def _folder(place: Place) -> Path:
    return place.home / "index"


def identity_of(folder: Path) -> Identity | None:
    """Return what an index was built with; None where there is none to be read.

    Raises:
        SearchIndexError: There may be one, but it cannot be opened.
    """
    return None if (found := _look(folder)) is None else found[0]


def _clear_up(folder: Path, wanted: Identity) -> None:
    """Remove what killed processes left, and what was begun for an encoder nobody wants any more.

    The index itself is wanted again, or all that it lacks is the words of another analyzer.
    """
    finish_replacing(folder)
    if staging_path(folder).exists():
        found = identity_of(folder)
        if found is not None and found.has_vectors_of(wanted):
            discard_staging(folder)
    for one in (folder, staging_path(folder)):
        if not is_tidy(one) and identity_of(one) is not None:
            with _locked(one):
                tidy(one)


def _can_go_on(folder: Path, wanted: Identity) -> bool:
    try:
        if identity_of(folder) != wanted:
            return False
        info = inspect(folder)  # reads all of it
    except IndexDamagedError:
        return False
    return info is not None and info.usable


@contextmanager
def _locked(folder: Path) -> Iterator[Callable[[], bool]]:
    """Keep writers out of an index, and give what tells whether its folder is still that one.

    Into one that is damaged nobody can write.
    """
    try:
        file = SqliteFile(folder / FILE_NAME, _LOCK_TIMEOUT)
    except IndexDamagedError:
        yield lambda: True
        return
    with closing(file), file.writing():
        yield file.is_current


def _look(folder: Path) -> tuple[Identity, int] | None:
    """Return what an index was built with, and its number of tables; None where none is readable.

    Whatever else of it is damaged does not matter.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        return None
    try:
        with (
            closing(SqliteFile(path, _LOCK_TIMEOUT)) as file,
            file.reading() as connection,
        ):
            ((value,),) = connection.execute("SELECT value FROM meta")
            meta = json.loads(value)
            (tables,) = connection.execute("SELECT count(*) FROM tables").fetchone()
        return Identity(str(meta["encoder"]), int(meta["dimension"]), str(meta["analyzer"])), tables
    except (IndexDamagedError, KeyError, TypeError, ValueError):
        return None
    except SearchIndexError:
        if path.is_file():
            raise
        return None  # another process has removed it meanwhile


def _build(folder: Path, begun: Path, found: Identity, analyzer: Analyzer) -> None:
    """Copy an index to one whose words another analyzer counts."""
    reading = Analyzer(found.analyzer, None)  # blocks are read without rules, which are gone
    with (
        closing(EmbeddedIndex(folder, found.encoder, found.dimension, analyzer=reading)) as old,
        closing(EmbeddedIndex(begun, found.encoder, found.dimension, analyzer=analyzer)) as new,
    ):
        copy_exactly(old, new)
