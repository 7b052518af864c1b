"""The folder of an embedded index as a whole: removing it, and putting another in its place."""

import ctypes
import errno
import os
import shutil
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from pneuma_assets.core.errors import SearchIndexError

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_UNABLE = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EXDEV})
"""What a kernel or a file system says that cannot do it."""


def has_index(folder: Path) -> bool:
    """Tell whether there is an index, also where putting it in its place was cut off."""
    finish_replacing(folder)
    return folder.is_dir()


def staging_path(folder: Path) -> Path:
    """Return where runs build the index that is to take the place of the one in `folder`."""
    return folder.with_name(f"{folder.name}.building")


def discard(folder: Path) -> None:
    """Remove an embedded index, whatever its state; open readers then open the next one.

    The folder is renamed first, so that a kill in between leaves no half of a database behind.
    What was being built to replace it goes, too.
    """
    with explained(folder, "removed"):
        unfinished = staging_path(folder)
        for one in (unfinished, _begun(unfinished), _begun(folder), _complete(folder), folder):
            if one.exists():
                one.rename(_condemned(folder))
        _remove_condemned(folder)


def tidy(folder: Path) -> None:
    """Remove what killed processes had begun to remove, or left of a copy that never ended.

    The caller holds the index's write lock, under which such copies are made.
    """
    shutil.rmtree(_begun(folder), ignore_errors=True)
    _remove_condemned(folder)


def is_tidy(folder: Path) -> bool:
    """Tell whether `tidy` would find nothing."""
    condemned = folder.parent.glob(f"{folder.name}.discarded-*")
    return not _begun(folder).exists() and next(condemned, None) is None


def discard_staging(folder: Path) -> None:
    """Remove what is being built to take this index's place; who builds it has to begin anew."""
    with explained(folder, "built beside the old one"):
        for one in (staging_path(folder), _begun(staging_path(folder))):
            with suppress(FileNotFoundError):  # another process was faster
                one.rename(_condemned(folder))
        _remove_condemned(folder)


def replace_folder(folder: Path, build: Callable[[Path], None]) -> None:
    """Let `build` make a new index in a folder beside this one, and put it in its place.

    The caller holds the old index's write lock. Killed at any moment, this leaves the old index,
    or the new one, perhaps under a name that `finish_replacing` knows; readers go on with the old
    one until the new one is there.

    Raises:
        SearchIndexError: The folders cannot be renamed; also what `build` raises.
    """
    begun, complete = _begun(folder), _complete(folder)
    for leftover in (begun, complete):
        shutil.rmtree(leftover, ignore_errors=True)
    build(begun)
    put_in_place(folder, begun)


def put_in_place(folder: Path, fresh: Path) -> None:
    """Put a complete index in this one's place, and remove the old one.

    The caller holds the old index's write lock. The two change places in one act; where the system
    cannot do that, two renames do it, and for the moment between them the index has no folder,
    which whoever finds it so puts right (`finish_replacing`).

    Raises:
        SearchIndexError: The folders cannot be renamed.
    """
    with explained(folder, "replaced"):
        if exchange(fresh, folder):
            fresh.rename(_condemned(folder))
            _remove_condemned(folder)
        else:
            fresh.rename(_complete(folder))
            folder.rename(_condemned(folder))
            finish_replacing(folder)


def finish_replacing(folder: Path) -> None:
    """Complete what was cut off between its last two renames, if anything was.

    Raises:
        SearchIndexError: The folder cannot be renamed.
    """
    complete = _complete(folder)
    if folder.exists() or not complete.exists():
        return
    with explained(folder, "put in its place"):
        with suppress(FileNotFoundError):
            complete.rename(folder)  # gone if another process was faster
        _remove_condemned(folder)


def _remove_condemned(folder: Path) -> None:
    for one in (folder, staging_path(folder)):
        for leftover in folder.parent.glob(f"{one.name}.discarded-*"):
            shutil.rmtree(leftover, ignore_errors=True)  # another process may be at it, too


def _begun(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.renewing")


def _complete(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.renewed")


def _condemned(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.discarded-{uuid.uuid4().hex}")


@contextmanager
def explained(folder: Path, what: str) -> Iterator[None]:
    """Turn the system's refusal into an error that says what to do."""
    try:
        yield
    except OSError as error:
        raise SearchIndexError(
            f"The search index {folder} cannot be {what} ({error.strerror}); check the permissions "
            "of its folder, or remove it by hand and index again."
        ) from error


def exchange(one: Path, other: Path) -> bool:
    """Let two folders change places; False, and nothing done, where the system cannot.

    `renameat2(2)` with `RENAME_EXCHANGE`: Linux, on ext4, xfs, btrfs and tmpfs among others.

    Raises:
        OSError: It can, but not these two; one of them may be missing.
    """
    rename = _renameat2()
    if rename is None:
        return False
    paths = os.fsencode(one), os.fsencode(other)
    if rename(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNABLE:
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))


@cache
def _renameat2() -> Callable[..., int] | None:
    """Return the C library's function; Python has none for it."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        function = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):  # another C library, or one older than 2018
        return None
    path = ctypes.c_char_p
    function.argtypes = (ctypes.c_int, path, ctypes.c_int, path, ctypes.c_uint)
    function.restype = ctypes.c_int
    found: Callable[..., int] = function
    return found
