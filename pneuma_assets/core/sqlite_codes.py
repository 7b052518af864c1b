"""What SQLite says is wrong, also where Python's module raises an error without a code."""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

_VAGUE = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}
"""Kinds that leave open what is to blame."""
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_ROOM_BYTES = 1 << 22
"""What SQLite's log grows to by default; with less, the write that failed may just have met the end
of the disk, though another would find room."""


def code_of(error: sqlite3.Error) -> int:
    """Return the extended result code of an error; its low byte is the kind.

    Python itself raises an error without one where a text is not UTF-8, which is damage, and
    where a connection is used wrongly (https://docs.python.org/3/library/sqlite3.html#exceptions).
    """
    misused = isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError)
    default = sqlite3.SQLITE_MISUSE if misused else sqlite3.SQLITE_CORRUPT
    return int(getattr(error, "sqlite_errorcode", default))


def read_options_of(file: Path) -> str | None:
    """Return options of an address by which SQLite reads a file and makes none beside it.

    Rows that wait in its log are read by the index of a process that has it open or was killed;
    None without such an index. Should somebody begin to write a file without rows in a log, it has
    to be opened again.
    """
    log, index = (file.with_name(f"{file.name}{end}") for end in ("-wal", "-shm"))
    if log.exists() and index.exists():
        return "mode=ro&readonly_shm=1"
    return None if log.exists() and log.stat().st_size else "mode=ro&immutable=1"


def address_of(path: Path, mode: str) -> str:
    """Return the address by which SQLite opens a file in a mode, on a read-only disk to read it."""
    is_fixed = path.exists() and not os.access(path.parent, os.W_OK)
    options = read_options_of(path) if is_fixed else None
    return f"{path.absolute().as_uri()}?{options or f'mode={mode}'}"


def identity_of(path: Path) -> tuple[int, ...]:
    """Return what tells a file from others, and from itself once changed; raises `OSError`.

    The time counts where it is read without a log, since nothing else shows a change there.
    """
    found, is_logless = path.stat(), "immutable" in address_of(path, "")
    return found.st_dev, found.st_ino, found.st_mtime_ns * is_logless


@contextmanager
def errors_in_text() -> Iterator[None]:
    """Raise an error of SQLite's where its words quote a damaged name, which no text is made of.

    Reading the schema, SQLite says which entry is wrong; of bytes that are no UTF-8, Python says
    only that it cannot read these words.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        raise sqlite3.DatabaseError("its schema holds a name that is no text") from error


def remedy_of(error: sqlite3.Error, path: Path) -> str | None:
    """Return what to do where a disk without room, or one that is not to be written, is to blame.

    On a full disk SQLite may say no more than that reading or writing failed, as of a broken one:
    so whether the folder takes a file of the size of a log is tried.

    Args:
        error: What SQLite said.
        path: Of the file that it was about.

    Returns:
        The remedy; None where neither is to blame.
    """
    code = code_of(error) & 0xFF
    refused = _refused(path.parent) if code in _VAGUE else 0
    if code == sqlite3.SQLITE_FULL or refused in _NO_ROOM:
        return f"the disk is full: free some space on the disk of {path.parent}"
    if code == sqlite3.SQLITE_READONLY or refused:
        why = f" ({os.strerror(refused)})" if refused else ""
        return f"let this user write {path} and its folder{why}, or choose another home by --home"
    return None


def is_full(folder: Path) -> bool:
    """Tell whether the disk of a folder lacks the room that a log needs."""
    return _refused(folder) in _NO_ROOM


def _refused(folder: Path) -> int:
    """Return why a folder takes no such file, as `errno` counts; 0 where it does."""
    try:
        with TemporaryFile(dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, _ROOM_BYTES)
    except OSError as error:
        return error.errno or errno.EIO
    return 0
