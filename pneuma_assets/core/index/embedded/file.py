"""The embedded index's file: connections and transactions, schema, description, and errors.

`tables` lists the tables, `contents` holds all that is searched and kept of each under the number
`seq`, which only grows, as that of `facts` does: a reader that has loaded everything up to one seq
loads what is above it, and learns from `removed` what has gone since its `generation`. Each table
has one checksum of all that is kept of it, 64 bits of SHA-256; sums of these tell where tables are
missing. What does not fit its checksum is never answered with: the index is built again.
"""

import json
import sqlite3
import struct
import threading
import uuid
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_fixed

from pneuma_assets.core.errors import IndexDamagedError, IndexMismatchError, SearchIndexError
from pneuma_assets.core.index.identity import REBUILD, Identity, other_format
from pneuma_assets.core.sqlite_codes import (
    address_of,
    code_of,
    errors_in_text,
    identity_of,
    remedy_of,
)

APPLICATION_ID = 0x504E4541  # "PNEA"
FORMAT = 3
"""Raised with every change of the tables, or of what they mean."""
FILE_NAME = "index.db"

NOTE = "committed"
"""A note beside the file of the newest state that a writer has committed.

SQLite takes a damaged write-ahead log for one that a crash cut off: it opens the state before the
damage without a word, and what had been promised durable is gone. The note tells."""

_WAL_BYTES_KEPT = 64 << 20
_NEVER_CLOSED: list[sqlite3.Connection] = []

_BUSY = sqlite3.SQLITE_BUSY
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

_SCHEMA = (
    # One row: `Meta` as JSON, and a checksum of it.
    "CREATE TABLE meta (value TEXT NOT NULL, checksum INTEGER NOT NULL)",
    # key: 63 bits of a hash of table_id; checksum: of all that `contents` has.
    "CREATE TABLE tables (key INTEGER PRIMARY KEY, seq INTEGER NOT NULL UNIQUE,"
    " table_id BLOB NOT NULL, blocks INTEGER NOT NULL, checksum INTEGER NOT NULL)",
    # The columns are those of `rows.Packed`.
    "CREATE TABLE contents (seq INTEGER PRIMARY KEY, texts BLOB NOT NULL, evidence BLOB NOT NULL,"
    " rows INTEGER NOT NULL, block_ids BLOB NOT NULL, kinds BLOB NOT NULL, sizes BLOB NOT NULL,"
    " vectors BLOB NOT NULL, different BLOB NOT NULL, terms BLOB NOT NULL, counts BLOB NOT NULL,"
    " entry_terms BLOB NOT NULL, entries BLOB NOT NULL, places BLOB NOT NULL,"
    " entry_counts BLOB NOT NULL)",
    # facts: JSON (`identity.facts_text`); one row a table.
    "CREATE TABLE facts (seq INTEGER PRIMARY KEY, key INTEGER NOT NULL UNIQUE, facts BLOB NOT NULL,"
    " checksum INTEGER NOT NULL)",
    "CREATE TABLE removed (generation INTEGER, seq INTEGER, PRIMARY KEY (generation, seq))"
    " WITHOUT ROWID",
)


@dataclass(frozen=True, slots=True)
class Meta:
    """One state of the index.

    `log_since` is the generation at which the log of removals begins, `last_seq` the highest number
    that was ever given. The sums add up the checksums of all tables, and of their facts.
    """

    index_id: str
    encoder: str
    dimension: int
    analyzer: str
    generation: int = 0
    log_since: int = 0
    last_seq: int = 0
    tables: int = 0
    blocks: int = 0
    sums: int = 0
    facts_sums: int = 0

    @property
    def identity(self) -> Identity:
        """What the index was built with."""
        return Identity(self.encoder, self.dimension, self.analyzer)


def read_meta(connection: sqlite3.Connection) -> Meta:
    """Return the state that the connection sees.

    Raises:
        IndexDamagedError: It is not as it was written.
    """
    with reading_rows("its description"):
        ((value, found),) = connection.execute("SELECT value, checksum FROM meta")
        return _parsed(value, found)


@lru_cache(maxsize=8)
def _parsed(value: str, found: int) -> Meta:
    if found != checksum(value.encode()):
        raise damaged("its description is not as it was written")
    return Meta(**json.loads(value))


def write_meta(connection: sqlite3.Connection, meta: Meta) -> None:
    """Record a state, inside the transaction that made it."""
    value = json.dumps(asdict(meta))
    connection.execute("DELETE FROM meta")
    connection.execute("INSERT INTO meta VALUES (?, ?)", (value, checksum(value.encode())))


def checksum(*parts: bytes | int) -> int:
    """Return 64 bits of SHA-256 over values in their order, as SQLite keeps an integer.

    They miss one damage in 10^19, where a CRC of 32 bits would miss one in four billion.
    """
    digest = sha256()
    for part in parts:
        if isinstance(part, int):
            digest.update(struct.pack("<cq", b"i", part))
        else:
            digest.update(struct.pack("<cq", b"b", len(part)))
            digest.update(part)
    return int.from_bytes(digest.digest()[:8], "little", signed=True)


def wrapped(total: int) -> int:
    """Return a sum of checksums as the signed 64 bits that numpy and SQLite keep of it."""
    return (total + (1 << 63)) % (1 << 64) - (1 << 63)


def damaged(what: str) -> IndexDamagedError:
    """Return the error that names damage and its remedy."""
    return IndexDamagedError(f"The search index is damaged ({what}); {REBUILD}.")


@contextmanager
def reading_rows(what: str) -> Iterator[None]:
    """Raise rows that hold something of another type or size than was written as damage."""
    try:
        yield
    except (
        *(TypeError, ValueError, AttributeError, OverflowError, LookupError, RecursionError),
        *(struct.error, zlib.error),
    ) as error:
        raise damaged(f"{what}: {error}") from error


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
        elif code in {_BUSY, sqlite3.SQLITE_LOCKED}:
            remedy = (
                f"has been locked by another process for {lock_timeout:g} seconds; "
                "wait until that finishes and try again"
            )
        kind = IndexDamagedError if REBUILD in remedy else SearchIndexError
        raise kind(f"The search index {path} {remedy} (SQLite: {error}).") from error


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
        self._identity: tuple[int, ...] | None = None
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

    def _identify(self) -> tuple[int, ...]:
        try:
            return identity_of(self.path)
        except OSError as error:
            raise SearchIndexError(
                f"The search index {self.path} is gone ({error.strerror}); "
                "run `pneuma-assets index` to build it again."
            ) from error

    def _acquire(self) -> sqlite3.Connection:
        with self._pool_lock:
            if self._idle:
                return self._idle.pop()
            closed = self._closed
        if closed and self.is_current():
            raise SearchIndexError(f"The search index {self.path} has been closed.")
        connection = None if closed else self._connect("rw")
        if connection is None or not self._leads_here(connection):
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
            address_of(self.path, mode),
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


def open_file(folder: Path, identity: Identity, lock_timeout: float) -> SqliteFile:
    """Create or open the index in `folder`.

    Raises:
        IndexMismatchError: It was built with another encoder, dimension or analyzer.
        SearchIndexError: It cannot be created or opened, or is not an index of this version.
    """
    path = folder / FILE_NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SearchIndexError(
            f"The search index {path} cannot be created: {error.strerror}: {folder}. "
            "Choose another folder with --home, or correct this one."
        ) from error
    existed, committed = path.exists(), read_committed(folder)
    file = SqliteFile(path, lock_timeout)
    try:
        with file.connection() as connection:
            _create_if_new(file, connection, identity, lost=existed and committed is not None)
            check_format(path, connection)
            meta = read_meta(connection)
            check_committed(meta, committed)
            meta.identity.check(identity, str(path))
    except BaseException:
        file.close()
        raise
    return file


def _create_if_new(
    file: SqliteFile, connection: sqlite3.Connection, identity: Identity, *, lost: bool
) -> None:
    if not _is_new(connection):
        return
    if lost:
        raise damaged("the file is empty")
    _use_write_ahead_log(file, connection)
    connection.execute("BEGIN IMMEDIATE")
    if _is_new(connection):  # another process may have been faster
        for statement in _SCHEMA:
            connection.execute(statement)
        write_meta(connection, Meta(index_id=uuid.uuid4().hex, **asdict(identity)))
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("COMMIT")


def _is_new(connection: sqlite3.Connection) -> bool:
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    return not objects and not application


def _use_write_ahead_log(file: SqliteFile, connection: sqlite3.Connection) -> None:
    """Switch the journal's mode, which may fail at once, not wait, while another does it, too."""
    waiting = Retrying(
        retry=retry_if_exception(lambda error: getattr(error, "sqlite_errorcode", 0) == _BUSY),
        wait=wait_fixed(0.01),
        stop=stop_after_delay(file.lock_timeout),
        reraise=True,
    )
    (mode,) = waiting(connection.execute, "PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise SearchIndexError(
            f"The search index {file.path} stands on a file system without shared memory "
            "(a network drive?); choose a folder on a local disk with --home."
        )


def check_format(path: Path, connection: sqlite3.Connection) -> None:
    """Raise `SearchIndexError` unless the file is an index of this format."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        if _was_ours(path, connection):
            raise damaged("its header is not as it was written")
        raise SearchIndexError(
            f"{path} is a database of another program; move it away or choose another --home."
        )
    if found != FORMAT:
        raise IndexDamagedError(other_format(f"The search index {path}", found, FORMAT))


def _was_ours(path: Path, connection: sqlite3.Connection) -> bool:
    """Tell whether a file without our mark is an index all the same."""
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    ours = {"tables", "contents", "removed"} & names
    return bool(ours) or (not names and read_committed(path.parent) is not None)


def note_committed(folder: Path, index_id: str, generation: int) -> None:
    """Note a state that has become durable; of two writers' notes either may remain.

    A process that is killed before leaves an older note, which is as good.
    """
    fresh = folder / f"{NOTE}.{uuid.uuid4().hex}"
    try:
        fresh.write_text(f"{index_id} {generation}\n", encoding="ascii")
        fresh.replace(folder / NOTE)
    except OSError:  # the index itself is written; a full disk must not fail what is durable
        with suppress(OSError):
            fresh.unlink(missing_ok=True)


def read_committed(folder: Path) -> tuple[str, int] | None:
    """Return id and state of the noted index; None where there is no note.

    Read it before the index, whose state is then the noted one or newer.
    """
    try:
        index_id, generation = (folder / NOTE).read_text(encoding="ascii").split()
        return index_id, int(generation)
    except (OSError, ValueError):  # a power cut may leave it empty
        return None


def check_committed(meta: Meta, noted: tuple[str, int] | None) -> None:
    """Raise `IndexDamagedError` if the index is older than the noted state of it."""
    if noted is not None and noted[0] == meta.index_id and noted[1] > meta.generation:
        raise damaged("its write-ahead log lost what was written last")
