"""The embedded index's file: schema, description, and errors.

`tables` lists the tables, `contents` holds all that is searched and kept of each under the number
`seq`, which only grows, as that of `facts` does: a reader that has loaded everything up to one seq
loads what is above it, and learns from `removed` what has gone since its `generation`. Each table
has one checksum of all that is kept of it, 64 bits of SHA-256, and the description counts tables
and blocks. What does not fit is never answered with: the index is built again.
"""

import json
import sqlite3
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from pneuma_assets.core.errors import IndexDamagedError, IndexMismatchError, SearchIndexError
from pneuma_assets.core.index.identity import REBUILD, Identity, other_format
from pneuma_assets.core.sqlite_codes import code_of, identity_of, remedy_of
from pneuma_assets.core.sqlite_wal import SqliteFile

APPLICATION_ID = 0x504E4541  # "PNEA"
FORMAT = 4
"""Raised with every change of the tables, or of what they mean."""
FILE_NAME = "index.db"

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
    """One state of the index; `last_seq` is the highest number that was ever given."""

    encoder: str
    dimension: int
    analyzer: str
    generation: int = 0
    last_seq: int = 0
    tables: int = 0
    blocks: int = 0

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


class IndexFile(SqliteFile):
    """The file of one build; what is committed survives a power cut, too."""

    def __init__(self, path: Path, lock_timeout: float, mode: str = "rw") -> None:
        pages = 16384  # several blocks each
        super().__init__(path, lock_timeout, mode=mode, page_size=pages, survives_power_cuts=True)
        self._identity: tuple[int, ...] | None = None
        with suppress(FileNotFoundError):  # it is being made, or just removed
            self._identity = identity_of(path)
        with self.errors():
            self._release(self._acquire())

    @property
    def build(self) -> str:
        """The name of the build."""
        return self.path.parent.name

    def is_current(self) -> bool:
        """Tell whether the path still leads to the file that was opened, and as it was.

        Where it is read without a log, on a disk that cannot be written, a change shows in its time
        alone.
        """
        try:
            return self._identity in {None, identity_of(self.path)}
        except OSError:
            return False

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Raise SQLite's errors as `SearchIndexError`, one line that names a remedy."""
        try:
            yield
        except sqlite3.Error as error:
            code = code_of(error) & 0xFF
            if not self.path.exists():
                raise IndexMismatchError(
                    f"The search index {self.path} was replaced at this moment; ask again."
                ) from error
            remedy = _REMEDIES.get(code, "cannot be used")
            if disk := remedy_of(error, self.path):
                remedy = f"cannot be written; {disk}, and try again"
            elif code in {_BUSY, sqlite3.SQLITE_LOCKED}:
                remedy = (
                    f"has been locked by another process for {self.timeout_s:g} seconds; "
                    "wait until that finishes and try again"
                )
            kind = IndexDamagedError if REBUILD in remedy else SearchIndexError
            raise kind(f"The search index {self.path} {remedy} (SQLite: {error}).") from error


def make_file(path: Path, identity: Identity) -> None:
    """Make the file of a new build, of which nobody else knows yet."""
    file = IndexFile(path, 0.0, "rwc")
    try:
        with file.writing() as connection:
            (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
            if mode != "wal":
                raise SearchIndexError(
                    f"The search index {path} stands on a file system without shared memory "
                    "(a network drive?); choose a folder on a local disk with --home."
                )
            for statement in _SCHEMA:
                connection.execute(statement)
            write_meta(connection, Meta(**asdict(identity)))
            connection.execute(f"PRAGMA user_version = {FORMAT}")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    finally:
        file.close()


def open_file(path: Path, identity: Identity, lock_timeout: float) -> IndexFile:
    """Open the file of a build.

    Raises:
        IndexMismatchError: It was built with another encoder, dimension or analyzer.
        SearchIndexError: It cannot be opened, or is not an index of this version.
    """
    file = IndexFile(path, lock_timeout)
    try:
        with file.connection() as connection:
            check_format(path, connection)
            read_meta(connection).identity.check(identity, str(path))
    except BaseException:
        file.close()
        raise
    return file


def check_format(path: Path, connection: sqlite3.Connection) -> None:
    """Raise `SearchIndexError` unless the file is an index of this format."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise damaged(f"{path.name} is not as it was written")
    if found != FORMAT:
        raise IndexDamagedError(other_format(f"The search index {path}", found, FORMAT))
