"""What the embedded index's file contains, and the check that it fits this deployment.

`blocks` and `features` share the key `seq`, which only grows: a reader that has loaded
everything up to one seq loads what is above it, and learns from `removed` what has gone since
its `generation`. Numbers inside BLOBs are little-endian.
"""

import sqlite3
import time
from dataclasses import asdict
from pathlib import Path

from pneuma_assets.core.errors import IndexDamagedError, SearchIndexError
from pneuma_assets.core.index.identity import REBUILD, Identity
from pneuma_assets.core.index.sqlite_file import SqliteFile

APPLICATION_ID = 0x504E4541  # "PNEA"
SCHEMA_VERSION = 1
FILE_NAME = "index.db"

_TABLES = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value NOT NULL)",
    # Keys are never used twice, so a reader's older copy cannot take one table for another.
    "CREATE TABLE tables (key INTEGER PRIMARY KEY AUTOINCREMENT, table_id BLOB NOT NULL UNIQUE,"
    " source BLOB NOT NULL)",
    "CREATE TABLE blocks (seq INTEGER PRIMARY KEY AUTOINCREMENT, block_id BLOB NOT NULL UNIQUE,"
    " table_key INTEGER NOT NULL REFERENCES tables (key), kind TEXT NOT NULL, text BLOB NOT NULL)",
    "CREATE INDEX blocks_by_table ON blocks (table_key)",
    # vector: float32[dimension]; terms: uint64[different terms]; counts: uint16[different terms].
    "CREATE TABLE features (seq INTEGER PRIMARY KEY, vector BLOB NOT NULL, terms BLOB NOT NULL,"
    " counts BLOB NOT NULL)",
    "CREATE TABLE removed (generation INTEGER, seq INTEGER, PRIMARY KEY (generation, seq))"
    " WITHOUT ROWID",
)


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
    file = SqliteFile(path, lock_timeout)
    try:
        with file.connection() as connection:
            _create_if_new(file, connection, identity)
            check_version(path, connection)
            recorded_identity(connection).check(identity, str(path))
    except BaseException:
        file.close()
        raise
    return file


def _create_if_new(file: SqliteFile, connection: sqlite3.Connection, identity: Identity) -> None:
    if not _is_new(connection):
        return
    _use_write_ahead_log(file, connection)
    connection.execute("BEGIN IMMEDIATE")
    if _is_new(connection):  # another process may have been faster
        for statement in _TABLES:
            connection.execute(statement)
        meta = {"generation": 0, "log_since": 0, **asdict(identity)}
        connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("COMMIT")


def _is_new(connection: sqlite3.Connection) -> bool:
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    return not objects and not application


def _use_write_ahead_log(file: SqliteFile, connection: sqlite3.Connection) -> None:
    """Switch the journal's mode, which may fail at once, not wait, while another does it, too."""
    deadline = time.monotonic() + file.lock_timeout
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            break
    if mode != "wal":
        raise SearchIndexError(
            f"The search index {file.path} stands on a file system without shared memory "
            "(a network drive?); choose a folder on a local disk with --home."
        )


def check_version(path: Path, connection: sqlite3.Connection) -> None:
    """Raise `SearchIndexError` unless the file is an index of this version."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise SearchIndexError(
            f"{path} is a database of another program; move it away or choose another --home."
        )
    if version > SCHEMA_VERSION:
        raise IndexDamagedError(
            f"The search index {path} was written by a newer version of pneuma-assets; "
            f"upgrade pneuma-assets, or {REBUILD}."
        )
    if version < SCHEMA_VERSION:
        raise IndexDamagedError(
            f"The search index {path} was written by an older version of pneuma-assets; {REBUILD}."
        )


def recorded_identity(connection: sqlite3.Connection) -> Identity:
    """Return what the index was built with."""
    meta = dict(connection.execute("SELECT name, value FROM meta"))
    return Identity(*(meta[name] for name in ("encoder", "dimension", "analyzer")))
