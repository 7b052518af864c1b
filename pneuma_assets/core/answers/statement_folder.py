"""The folder in which one statement finds its rows; what a killed process leaves is removed."""

import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PREFIX = "pneuma-statement-"
_NEW = 60.0
"""Seconds in which a folder may have been made and not locked yet."""


@contextmanager
def statement_folder() -> Iterator[Path]:
    """Make a folder that only this user reads, lock it while it is used, and remove it.

    The lock ends with the process, however that ends, and holds across containers that share the
    folder of temporary files, where another's process number says nothing. Before, folders of this
    user are removed that nobody has locked.
    """
    _sweep(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as name:
        lock = os.open(name, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield Path(name)
        finally:
            os.close(lock)


def _sweep(above: Path) -> None:
    for folder in above.glob(f"{_PREFIX}*"):
        try:
            _remove_if_left(folder)
        except OSError:
            continue  # Another process removes it, has locked it, or made it as another user.


def _remove_if_left(folder: Path) -> None:
    """Remove a folder that no living process uses; `OSError`: one does, or it is not ours."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        found = os.fstat(lock)
        is_new = time.time() - found.st_mtime < _NEW
        if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) != stat.S_IRWXU or is_new:
            return
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder)
    finally:
        os.close(lock)
