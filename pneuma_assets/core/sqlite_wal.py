"""This program's own SQLite files, in write-ahead mode: how they are opened, read and written."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random

from pneuma_assets.core.sqlite_codes import address_of, code_of, errors_in_text


def _is_busy(error: BaseException) -> bool:
    return isinstance(error, sqlite3.Error) and code_of(error) & 0xFF == sqlite3.SQLITE_BUSY


class SqliteFile:
    """One file and a pool of connections, each used by one thread at a time.

    Write-ahead logging keeps readers and a writer, in any number of processes, out of each other's
    way; what is committed survives a kill. Not to be used across a fork.

    Args:
        path: The file.
        timeout_s: How long a transaction waits for the others.
        mode: `rwc` makes a file that is missing, `rw` does not.
        page_size: Bytes of a page of a new file.
        survives_power_cuts: Wait for the disk at each commit.
    """

    def __init__(
        self,
        path: Path,
        timeout_s: float,
        *,
        mode: str = "rwc",
        page_size: int = 4096,
        survives_power_cuts: bool = False,
    ) -> None:
        self.path = path
        self.timeout_s = timeout_s
        self._mode = mode
        self._page_size = page_size
        self._synchronous = "FULL" if survives_power_cuts else "NORMAL"
        self._idle: list[sqlite3.Connection] = []
        self._pool_lock = threading.Lock()
        self._is_closed = False

    def connect(self) -> sqlite3.Connection:
        """Return a new connection, whose transactions begin and end by hand.

        Where two change a new file to write-ahead mode at once, SQLite waits for neither, whatever
        its timeout.
        """
        connection = sqlite3.connect(
            address_of(self.path, self._mode),
            uri=True,
            timeout=self.timeout_s,
            isolation_level=None,
            check_same_thread=False,
        )
        waiting = Retrying(
            retry=retry_if_exception(_is_busy),
            stop=stop_after_delay(self.timeout_s),
            wait=wait_random(max=0.05),
            reraise=True,
        )
        try:
            with errors_in_text():
                connection.execute(f"PRAGMA page_size = {self._page_size}")
                if self._mode == "rwc":
                    waiting(connection.execute, "PRAGMA journal_mode = WAL")
                connection.execute(f"PRAGMA synchronous = {self._synchronous}")
                connection.execute("PRAGMA secure_delete = ON")  # what is removed leaves the file
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection outside any transaction."""
        with self.errors():
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

    def errors(self) -> AbstractContextManager[None]:
        """Return what turns SQLite's errors in its block into others; here none."""
        return nullcontext()

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
            self._is_closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _acquire(self) -> sqlite3.Connection:
        with self._pool_lock:
            if self._idle:
                return self._idle.pop()
        return self.connect()

    def _release(self, connection: sqlite3.Connection) -> None:
        if connection.in_transaction:
            with suppress(sqlite3.Error):  # closing undoes the transaction, too
                connection.execute("ROLLBACK")
        with self._pool_lock:
            if not (self._is_closed or connection.in_transaction):
                self._idle.append(connection)
                return
        connection.close()


def checkpoint(connection: sqlite3.Connection, *, patient: bool = True) -> None:
    """Take what is committed out of the log, whose damage SQLite would not notice.

    The log holds what was removed, too. Readers of an older state keep some of it there, until they
    end, which is waited for if `patient`, or until the next call.
    """
    (timeout,) = connection.execute("PRAGMA busy_timeout").fetchone()
    try:
        connection.execute(f"PRAGMA busy_timeout = {timeout if patient else 0}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.execute(f"PRAGMA busy_timeout = {timeout}")
