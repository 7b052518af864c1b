"""The embedded engine for a deployment: a folder of its state folder, and the index built beside.

Readers stay with the old index until the new one is complete and changes places with it in one act.
Which of two folders is which says nothing but what they were built with, so that a kill at any
moment leaves nothing to be told apart: the index stands where it always does, and what lies beside
it is gone on with by whoever wants an index like that, and otherwise removed.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from pneuma_assets.core.config.section import Section
from pneuma_assets.core.errors import IndexDamagedError, SearchIndexError
from pneuma_assets.core.index.base import IndexInfo, SearchIndex
from pneuma_assets.core.index.copy import copy_index
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.index.embedded.file import FILE_NAME, SqliteFile
from pneuma_assets.core.index.embedded.folder import (
    discard,
    discard_staging,
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
from pneuma_assets.core.index.registry import IndexPlace, SignIn
from pneuma_assets.core.text.analysis import Analyzer

_LOCK_TIMEOUT = 60.0

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
            if staging_path(folder).exists():
                folder = staging_path(folder)
        return EmbeddedIndex(folder, wanted.encoder, wanted.dimension, analyzer=place.analyzer)

    def renew(self, place: Place, found: Identity) -> None:
        """Build the index anew beside the old one, which stays readable."""
        folder = _folder(place)
        if identity_of(staging_path(folder)) == found:
            folder = staging_path(folder)
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


def identity_of(folder: Path) -> Identity | None:
    """Return what an index was built with; None where there is none to be read.

    Raises:
        SearchIndexError: There may be one, but it cannot be opened.
    """
    return None if (found := _look(folder)) is None else found[0]


def what_is_built(folder: Path) -> str | None:
    """Return what is being built beside an index, for people; None if nothing is."""
    found = _look(staging_path(folder))
    if found is None:
        return None
    return f"for encoder {found[0].encoder}, {found[1]:,} tables so far"


def begin(folder: Path, wanted: Identity) -> None:
    """Make room for an index built with what is wanted beside the one in `folder`.

    What was begun for something else, or is damaged, is removed. So is the index itself where
    nothing of it can be read, or where it is the wanted one and of no use: the new one is then made
    in its place.

    Raises:
        SearchIndexError: A folder cannot be made or removed.
    """
    finish_replacing(folder)
    if not folder.exists():
        return
    found = identity_of(folder)
    if found is None or found == wanted:
        discard(folder)
        return
    if (staging_path(folder) / FILE_NAME).exists() and not _can_go_on(staging_path(folder), wanted):
        discard_staging(folder)
    try:
        staging_path(folder).mkdir(exist_ok=True)
    except OSError as error:
        raise SearchIndexError(
            f"The folder {staging_path(folder)} for a new search index cannot be made: "
            f"{error.strerror}; check the permissions of its folder."
        ) from error


def clear_up(folder: Path, wanted: Identity) -> None:
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


def publish(folder: Path, built: Identity, tables: int) -> bool:
    """Put what was built beside the index in its place; False if that is not there.

    Args:
        folder: The index.
        built: What the caller has built, and found to be complete.
        tables: How many it then held; another number is the work of a run that goes on with it.

    Raises:
        SearchIndexError: The folders cannot change places.
    """
    finish_replacing(folder)
    fresh = staging_path(folder)
    if identity_of(fresh) != built or not folder.exists():
        return False
    with _locked(folder) as ours, _locked(fresh) as theirs:
        # Else another process was faster.
        if ours() and theirs() and identity_of(folder) != built and _look(fresh) == (built, tables):
            put_in_place(folder, fresh)
            return True
    return False


def _can_go_on(folder: Path, wanted: Identity) -> bool:
    if identity_of(folder) != wanted:
        return False
    try:
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
    try:
        with file.writing():
            yield file.is_current
    finally:
        file.close()


def _look(folder: Path) -> tuple[Identity, int] | None:
    """Return what an index was built with, and its number of tables."""
    path = folder / FILE_NAME
    if not path.is_file():
        return None
    try:
        return _read(path)
    except IndexDamagedError:
        return None
    except SearchIndexError:
        if path.is_file():
            raise
        return None  # another process has removed it meanwhile


def _read(path: Path) -> tuple[Identity, int] | None:
    file = SqliteFile(path, _LOCK_TIMEOUT)
    try:
        with file.reading() as connection:  # whatever else of it is damaged
            ((value,),) = connection.execute("SELECT value FROM meta")
            meta = json.loads(value)
            (tables,) = connection.execute("SELECT count(*) FROM tables").fetchone()
        identity = Identity(str(meta["encoder"]), int(meta["dimension"]), str(meta["analyzer"]))
        return identity, int(tables)
    except (KeyError, TypeError, ValueError):
        return None
    finally:
        file.close()


def renew(folder: Path, found: Identity, analyzer: Analyzer) -> None:
    """Build the index in `folder` anew with this analyzer; what readers have open stays readable.

    Args:
        folder: Holds the index.
        found: What it was built with.
        analyzer: Counts its words from now on.

    Raises:
        SearchIndexError: It cannot be read, or the new one not be written.
    """
    finish_replacing(folder)
    file = SqliteFile(folder / FILE_NAME, _LOCK_TIMEOUT)
    try:
        with file.writing():  # nobody changes it meanwhile
            if file.is_current():  # no other process was faster
                replace_folder(folder, lambda begun: _build(folder, begun, found, analyzer))
    finally:
        file.close()


def _build(folder: Path, begun: Path, found: Identity, analyzer: Analyzer) -> None:
    wanted = replace(found, analyzer=analyzer.name)
    reading = Analyzer(found.analyzer, None)  # blocks are read without rules, which are gone
    with (
        closing(EmbeddedIndex(folder, found.encoder, found.dimension, analyzer=reading)) as old,
        closing(EmbeddedIndex(begun, wanted.encoder, wanted.dimension, analyzer=analyzer)) as new,
    ):
        if copy_index(old, new) != old.list_tables():
            raise SearchIndexError(
                f"The copy of the search index {folder} differs from it, so it does not take its "
                "place; do the same again."
            )
