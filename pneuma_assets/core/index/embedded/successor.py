"""The index that runs build beside an embedded one that another encoder built.

Readers stay with the old index until the new one is complete and changes places with it in one act.
Which of two folders is which says nothing but what they were built with, so that a kill at any
moment leaves nothing to be told apart: the index stands where it always does, and what lies beside
it is gone on with by whoever wants an index like that, and otherwise removed.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pneuma_assets.core.errors import IndexDamagedError, SearchIndexError
from pneuma_assets.core.index.embedded.contents import inspect
from pneuma_assets.core.index.embedded.folder import (
    beside,
    discard,
    discard_beside,
    finish_replacing,
    is_tidy,
    put_in_place,
    tidy,
)
from pneuma_assets.core.index.embedded.schema import FILE_NAME
from pneuma_assets.core.index.embedded.sqlite_file import SqliteFile
from pneuma_assets.core.index.identity import Identity

_LOCK_TIMEOUT = 60.0


def identity_of(folder: Path) -> Identity | None:
    """Return what an index was built with; None where there is none to be read.

    Raises:
        SearchIndexError: There may be one, but it cannot be opened.
    """
    return None if (found := _look(folder)) is None else found[0]


def what_is_built(folder: Path) -> str | None:
    """Return what is being built beside an index, for people; None if nothing is."""
    found = _look(beside(folder))
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
    if (beside(folder) / FILE_NAME).exists() and not _can_go_on(beside(folder), wanted):
        discard_beside(folder)
    try:
        beside(folder).mkdir(exist_ok=True)
    except OSError as error:
        raise SearchIndexError(
            f"The folder {beside(folder)} for a new search index cannot be made: {error.strerror}; "
            "check the permissions of its folder."
        ) from error


def clear_up(folder: Path, wanted: Identity) -> None:
    """Remove what killed processes left, and what was begun for an encoder nobody wants any more.

    The index itself is wanted again, or all that it lacks is the words of another analyzer.
    """
    finish_replacing(folder)
    if beside(folder).exists():
        found = identity_of(folder)
        if found is not None and found.has_vectors_of(wanted):
            discard_beside(folder)
    for one in (folder, beside(folder)):
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
    fresh = beside(folder)
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
            meta = dict(connection.execute("SELECT name, value FROM meta"))
            (tables,) = connection.execute("SELECT count(*) FROM tables").fetchone()
        identity = Identity(str(meta["encoder"]), int(meta["dimension"]), str(meta["analyzer"]))
        return identity, int(tables)
    except (KeyError, ValueError):
        return None
    finally:
        file.close()
