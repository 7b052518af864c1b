"""The folder of an embedded index as a whole: removing it, and putting another in its place."""

import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pneuma_assets.core.errors import SearchIndexError


def has_index(folder: Path) -> bool:
    """Tell whether there is an index, also where putting it in its place was cut off."""
    finish_replacing(folder)
    return folder.is_dir()


def discard(folder: Path) -> None:
    """Remove an embedded index, whatever its state; open readers then open the next one.

    The folder is renamed first, so that a kill in between leaves no half of a database behind.
    What was being built to replace it goes, too.
    """
    with _explained(folder, "removed"):
        for unfinished in (_begun(folder), _complete(folder)):
            if unfinished.exists():
                unfinished.rename(_condemned(folder))
        if folder.exists():
            folder.rename(_condemned(folder))
        _remove_condemned(folder)


def replace_folder(folder: Path, build: Callable[[Path], None]) -> None:
    """Let `build` make a new index in a folder beside this one, and put it in its place.

    The caller holds the old index's write lock. Killed at any moment, this leaves the old index,
    or the new one under a name that `finish_replacing` knows; readers go on with the old one
    until the new one is there.

    Raises:
        SearchIndexError: The folders cannot be renamed; also what `build` raises.
    """
    begun, complete = _begun(folder), _complete(folder)
    for leftover in (begun, complete):
        shutil.rmtree(leftover, ignore_errors=True)
    build(begun)
    with _explained(folder, "replaced"):
        begun.rename(complete)
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
    with _explained(folder, "put in its place"):
        with suppress(FileNotFoundError):
            complete.rename(folder)  # gone if another process was faster
        _remove_condemned(folder)


def _remove_condemned(folder: Path) -> None:
    for leftover in folder.parent.glob(f"{folder.name}.discarded-*"):
        shutil.rmtree(leftover, ignore_errors=True)  # another process may be at it, too


def _begun(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.renewing")


def _complete(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.renewed")


def _condemned(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.discarded-{uuid.uuid4().hex}")


@contextmanager
def _explained(folder: Path, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SearchIndexError(
            f"The search index {folder} cannot be {what} ({error.strerror}); check the permissions "
            "of its folder, or remove it by hand and index again."
        ) from error
