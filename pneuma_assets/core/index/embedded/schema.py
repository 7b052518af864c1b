"""What the embedded index's file contains, and the check that it fits this deployment.

`blocks` and `features`, and `evidence` and `evidence_terms`, share the key `seq`, which only grows,
as that of `facts` does: a reader that has loaded everything up to one seq loads what is above it,
and learns from `removed` what has gone since its `generation`. Numbers inside BLOBs are
little-endian. Checksums are of `embedded_sums`.
"""

import sqlite3
import time
import uuid
from dataclasses import asdict
from pathlib import Path

from pneuma_assets.core.errors import IndexDamagedError, SearchIndexError
from pneuma_assets.core.index.embedded.committed import check_committed, read_committed
from pneuma_assets.core.index.embedded.meta import Meta, read_meta, write_meta
from pneuma_assets.core.index.embedded.sqlite_file import SqliteFile
from pneuma_assets.core.index.embedded.sums import damaged
from pneuma_assets.core.index.identity import Identity, other_format

APPLICATION_ID = 0x504E4541  # "PNEA"
FORMAT = 1
"""Raised with every change of the tables, or of what they mean."""
FILE_NAME = "index.db"

_TABLES = (
    # Rows of embedded_meta.Meta, and a checksum of them.
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value NOT NULL)",
    # key: 63 bits of a hash of table_id; total: the sum of the checksums of the table's blocks;
    # evidence: that of the two of its evidence, if it has any.
    "CREATE TABLE tables (key INTEGER PRIMARY KEY, table_id BLOB NOT NULL, blocks INTEGER NOT NULL,"
    " total INTEGER NOT NULL, checksum INTEGER NOT NULL, evidence INTEGER)",
    "CREATE TABLE blocks (seq INTEGER PRIMARY KEY, block_id BLOB NOT NULL UNIQUE,"
    " table_key INTEGER NOT NULL REFERENCES tables (key), kind BLOB NOT NULL, text BLOB NOT NULL)",
    "CREATE INDEX blocks_by_table ON blocks (table_key)",
    # vector: float32[dimension]; terms: uint64[different terms]; counts: uint16[different terms].
    "CREATE TABLE features (seq INTEGER PRIMARY KEY, vector BLOB NOT NULL, terms BLOB NOT NULL,"
    " counts BLOB NOT NULL, checksum INTEGER NOT NULL)",
    # The text, compressed (`evidence_text`); one row a table that has any.
    "CREATE TABLE evidence (seq INTEGER PRIMARY KEY,"
    " table_key INTEGER NOT NULL UNIQUE REFERENCES tables (key),"
    " parts BLOB NOT NULL, rows BLOB NOT NULL)",
    # The terms, packed (`evidence_terms`); text_sum is the checksum of the text.
    "CREATE TABLE evidence_terms (seq INTEGER PRIMARY KEY, table_key INTEGER NOT NULL,"
    " text_sum INTEGER NOT NULL, checksum INTEGER NOT NULL, terms BLOB NOT NULL,"
    " entries BLOB NOT NULL, places BLOB NOT NULL, counts BLOB NOT NULL)",
    # facts: JSON (`facts_text`); one row a table.
    "CREATE TABLE facts (seq INTEGER PRIMARY KEY,"
    " table_key INTEGER NOT NULL UNIQUE REFERENCES tables (key),"
    " facts BLOB NOT NULL, checksum INTEGER NOT NULL)",
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
        for statement in _TABLES:
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
    ours = {"features", "blocks", "removed"} & names
    return bool(ours) or (not names and read_committed(path.parent) is not None)
