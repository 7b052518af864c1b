"""Connections to the embedded index's file and its transactions."""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pneuma_assets.core.errors import IndexMismatchError, SearchIndexError
from pneuma_assets.core.index.embedded.sqlite_errors import errors_named
from pneuma_assets.core.index.identity import REBUILD
from pneuma_assets.core.sqlite_codes import errors_in_text
from pneuma_assets.core.tables import DocumentKind

_VARIABLES = 500  # values bound in one statement; old builds of SQLite allow 999
_WAL_BYTES_KEPT = 64 << 20
_NEVER_CLOSED: list[sqlite3.Connection] = []


class SqliteFile:
    """One open file: a pool of connections, each used by one thread at a time.

    Write-ahead logging keeps readers and a writer, in any number of processes, out of each
    other's way; what is committed survives a kill and a power cut (`synchronous=FULL`). Not to
    be used across a fork.
    """

    def __init__(self, path: Path, lock_timeout: float) -> None:
        self.path = path
        self.lock_timeout = lock_timeout
        self._idle: list[sqlite3.Connection] = []
        self._pool_lock = threading.Lock()
        self._closed = False
        self._identity: tuple[int, int] | None = None
        with errors_named(self.path, self.lock_timeout):
            self._release(self._open())

    def is_current(self) -> bool:
        """Tell whether the path still leads to the file that was opened."""
        return self._identify() == self._identity

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection outside any transaction; SQLite's errors become ours."""
        with errors_named(self.path, self.lock_timeout):
            connection = self._acquire()
            try:
                yield connection
            finally:
                self._release(connection)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Hold the one write lock for a transaction, committed durably unless it raises."""
        with self.connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read one state of the file, whatever others write meanwhile."""
        with self.connection() as connection:
            connection.execute("BEGIN")
            yield connection

    def size_bytes(self) -> int:
        """Return the bytes on disk, the write-ahead log included."""
        total = 0
        for suffix in ("", "-wal"):
            with suppress(FileNotFoundError):  # the log goes when the last connection closes
                total += self.path.with_name(self.path.name + suffix).stat().st_size
        return total

    def close(self) -> None:
        """Close every connection; one that is in use is closed when it comes back."""
        with self._pool_lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            self._dispose(connection)

    def _identify(self) -> tuple[int, int]:
        try:
            status = self.path.stat()
        except OSError as error:
            raise SearchIndexError(
                f"The search index {self.path} is gone ({error.strerror}); "
                "run `pneuma-assets index` to build it again."
            ) from error
        return status.st_dev, status.st_ino

    def _acquire(self) -> sqlite3.Connection:
        with self._pool_lock:
            if self._closed:
                raise SearchIndexError(f"The search index {self.path} has been closed.")
            if self._idle:
                return self._idle.pop()
        connection = self._connect("rw")
        if not self._leads_here(connection):
            raise IndexMismatchError(
                f"The search index {self.path} was replaced at this moment; ask again."
            )
        return connection

    def _open(self) -> sqlite3.Connection:
        """Return the first connection, and keep in mind which file it is to."""
        while True:
            self._identity = self._identify() if self.path.exists() else None
            connection = self._connect("rwc")
            self._identity = self._identity or self._identify()
            if self._leads_here(connection):
                return connection

    def _leads_here(self, connection: sqlite3.Connection) -> bool:
        """Tell whether a new connection is to the file that is open; closed, if it is not.

        SQLite finds the log by its name when it first reads. Were the folder replaced in between,
        it would read one file with the other's log; so this is asked after a first reading.
        """
        failure: sqlite3.Error | None = None
        try:
            with errors_in_text():
                connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone()
        except sqlite3.Error as error:
            failure = error
        if self.is_current() and failure is None:
            return True
        self._dispose(connection)
        if self.is_current() and failure is not None:
            raise failure
        return False

    def _release(self, connection: sqlite3.Connection) -> None:
        if connection.in_transaction:
            try:
                connection.execute("ROLLBACK")
            except sqlite3.Error:
                self._dispose(connection)  # undoes the transaction, too
                return
        with self._pool_lock:
            if not self._closed:
                self._idle.append(connection)
                return
        self._dispose(connection)

    def _dispose(self, connection: sqlite3.Connection) -> None:
        """Close a connection, but not to an empty file that another has replaced.

        SQLite takes a file for replaced only if it is not empty, and would remove the log of the
        one that stands there now.
        """
        with suppress(SearchIndexError):  # the path leads nowhere
            if not self.is_current() and _is_empty(connection):
                _NEVER_CLOSED.append(connection)
                return
        connection.close()

    def _connect(self, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=self.lock_timeout,
            isolation_level=None,  # transactions begin and end where this module says
            check_same_thread=False,  # the pool gives a connection to one thread at a time
        )
        with errors_in_text():
            connection.execute("PRAGMA page_size = 16384")  # several blocks a page; only new files
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA secure_delete = ON")  # rows that left their table are gone
            connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES_KEPT}")
        return connection


def _is_empty(connection: sqlite3.Connection) -> bool:
    try:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
    except sqlite3.Error:
        return True
    return not pages


def select_in(
    connection: sqlite3.Connection, statement: str, values: Sequence[bytes | int]
) -> Iterator[tuple[Any, ...]]:
    """Run `statement`, whose `{values}` stands inside IN (...), for any number of values."""
    for start in range(0, len(values), _VARIABLES):
        chunk = values[start : start + _VARIABLES]
        marks = ",".join("?" * len(chunk))
        yield from connection.execute(statement.replace("{values}", marks), chunk)


def to_blob(text: str) -> bytes:
    """Store any string, lone surrogates (undecodable file names) and NUL included."""
    return text.encode("utf-8", "surrogatepass")


def from_blob(blob: bytes) -> str:
    """Undo `to_blob`."""
    return blob.decode("utf-8", "surrogatepass")


def to_kind(name: str) -> DocumentKind:
    """Return a stored kind of document.

    Raises:
        SearchIndexError: A newer version has written a name that this version takes for none.
    """
    try:
        return DocumentKind(name)
    except ValueError as error:
        raise SearchIndexError(
            f"The search index holds blocks of the kind {name!r}, which is no name of a kind here; "
            f"upgrade pneuma-assets, or {REBUILD}."
        ) from error
