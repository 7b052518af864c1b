"""SQLite's errors, told as what to do."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pneuma_assets.core.errors import IndexDamagedError, SearchIndexError
from pneuma_assets.core.index.identity import REBUILD
from pneuma_assets.core.sqlite_codes import code_of, remedy_of

_DAMAGED = f"is damaged; {REBUILD}"
_REMEDIES = {
    sqlite3.SQLITE_NOTADB: f"is not a search index or is damaged; {REBUILD}",
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_TOOBIG: _DAMAGED,  # a size that nothing stored here has
    sqlite3.SQLITE_CONSTRAINT: _DAMAGED,  # rows that a look-up did not find
    sqlite3.SQLITE_PERM: "cannot be opened; check the permissions of the file and its folder",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check that its folder exists and is writable",
    sqlite3.SQLITE_IOERR: f"cannot be read or written; check its disk, then {REBUILD}",
    sqlite3.SQLITE_SCHEMA: f"has unexpected contents; {REBUILD}",
    sqlite3.SQLITE_ERROR: f"has unexpected contents; {REBUILD}",
}


@contextmanager
def errors_named(path: Path, lock_timeout: float) -> Iterator[None]:
    """Raise SQLite's errors about `path` as `SearchIndexError`, one line that names a remedy."""
    try:
        yield
    except sqlite3.Error as error:
        code = code_of(error) & 0xFF
        remedy = _REMEDIES.get(code, "cannot be used")
        if disk := remedy_of(error, path):
            remedy = f"cannot be written; {disk}, and try again"
        elif code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            remedy = (
                f"has been locked by another process for {lock_timeout:g} seconds; "
                "wait until that finishes and try again"
            )
        kind = IndexDamagedError if REBUILD in remedy else SearchIndexError
        raise kind(f"The search index {path} {remedy} (SQLite: {error}).") from error
