"""One SQLite file in WAL mode: several processes read and write it, a killed one leaves it whole.

It holds the project's own state only; users' DuckDB files are never used for it, because a
DuckDB writer locks every other process out.
"""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.sqlite_codes import code_of
from pneuma_assets.core.store import row_sums
from pneuma_assets.core.store.migrations import SCHEMA_VERSION, STEPS, migrate, run_statements
from pneuma_assets.core.store.row_sums import damaged

BUSY_TIMEOUT_S = 30.0
PRECIOUS = "user_contexts"
"""The table that nothing brings back but a backup."""

_DAMAGE = {
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,  # an unreadable schema, or `row_sums` refused a row
    sqlite3.SQLITE_TOOBIG,
    sqlite3.SQLITE_IOERR,
}
_CONSTRAINTS = {
    sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
    sqlite3.SQLITE_CONSTRAINT_ROWID,
    sqlite3.SQLITE_CONSTRAINT_TRIGGER,
    sqlite3.SQLITE_CONSTRAINT_UNIQUE,
}

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tables (
    table_id TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    location TEXT NOT NULL,
    format TEXT NOT NULL,
    version TEXT NOT NULL,
    context_locations TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'indexed', 'failed', 'gone')),
    attempts INTEGER NOT NULL DEFAULT 0,
    claimed_by TEXT,
    claimed_version TEXT,
    columns TEXT,
    row_count INTEGER,
    comment TEXT NOT NULL DEFAULT '',
    notes TEXT NOT NULL DEFAULT '[]',
    indexed_version TEXT,
    indexed_schema_hash TEXT,
    indexed_row_count INTEGER,
    sampled_row_count INTEGER,
    deaths INTEGER NOT NULL DEFAULT 0,
    indexed_at REAL,
    block_count INTEGER,
    sampled_rows TEXT
) WITHOUT ROWID;
CREATE INDEX tables_by_state ON tables (state, table_id);
CREATE INDEX tables_by_claim ON tables (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE TABLE documents (
    table_id TEXT NOT NULL, kind TEXT NOT NULL, ordinal INTEGER NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (table_id, kind, ordinal)
) WITHOUT ROWID;
CREATE TABLE narrations (
    model TEXT NOT NULL, schema_hash TEXT NOT NULL, position INTEGER NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (model, schema_hash, position)
) WITHOUT ROWID;
CREATE TABLE table_narrations (
    table_id TEXT NOT NULL, model TEXT NOT NULL, column_name TEXT NOT NULL,
    column_type TEXT NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (table_id, column_name)
) WITHOUT ROWID;
CREATE TABLE staged_blocks (
    table_id TEXT NOT NULL, kind TEXT NOT NULL, ordinal INTEGER NOT NULL,
    text TEXT NOT NULL, vector BLOB NOT NULL, encoder TEXT NOT NULL,
    PRIMARY KEY (table_id, kind, ordinal)
);
CREATE TABLE problems (
    subject TEXT NOT NULL, source TEXT NOT NULL, stage TEXT NOT NULL, cause TEXT NOT NULL,
    PRIMARY KEY (subject, stage)
) WITHOUT ROWID;
CREATE TABLE runs (
    run_id TEXT PRIMARY KEY, started_at REAL NOT NULL, reading TEXT
) WITHOUT ROWID;
CREATE TABLE stages (
    run_id TEXT NOT NULL, stage TEXT NOT NULL, seconds REAL NOT NULL, figures TEXT NOT NULL,
    PRIMARY KEY (run_id, stage)
) WITHOUT ROWID;
CREATE TABLE user_contexts (
    table_id TEXT NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (table_id, name)
) WITHOUT ROWID;
CREATE TABLE row_sums (
    name TEXT NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (name, checksum)
) WITHOUT ROWID;
CREATE TABLE pages (
    asset_key TEXT PRIMARY KEY, table_id TEXT NOT NULL, mark TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE listings (source TEXT PRIMARY KEY, unlisted TEXT NOT NULL) WITHOUT ROWID;
"""


class Database:
    """A connection that any thread may use, with transactions that either happen or do not."""

    def __init__(self, path: Path) -> None:
        """Open or create the file; raises `StateError` where it cannot be used."""
        self.path = path
        self._lock = threading.RLock()
        made = path.with_name(f"{path.name}.made")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lost = path.exists() and not path.stat().st_size and made.exists()
        except OSError as error:
            raise _cannot_open(path, error) from error
        if lost:
            raise damaged("it is empty")
        self._connection = self._connect()
        self._reader = self._connection
        try:
            self._prepare()
            self._reader = self._connect()
            with self._errors():
                row_sums.cover(self._reader)
            self._look()
            _note(made)
        except BaseException:
            self.close()
            raise

    def _connect(self) -> sqlite3.Connection:
        with self._errors():
            try:
                connection = sqlite3.connect(
                    self.path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
                )
            except sqlite3.OperationalError as error:
                raise _cannot_open(self.path, error) from error
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            row_sums.prepare(connection)
            return connection

    def _prepare(self) -> None:
        with self.write() as connection:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:
                run_statements(connection, SCHEMA)
                row_sums.install(connection)
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            elif version in STEPS:
                migrate(connection, version)
            elif version > SCHEMA_VERSION:
                row_sums.check_everything(connection)  # the version may be what is damaged
                raise StateError(
                    f"The state file {str(self.path)!r} was written by a newer version of "
                    f"pneuma-assets (format {version}, this one reads up to {SCHEMA_VERSION}); "
                    f"upgrade pneuma-assets here, too. The file is whole: if no newer version has "
                    "used it, only this number is damaged, and SQLite's shell sets it right: "
                    f"PRAGMA user_version = {SCHEMA_VERSION}."
                )
            elif version != SCHEMA_VERSION:
                raise damaged(f"there is no format {version}")

    def _look(self) -> None:
        """Notice what is missing, and damage to what only people know."""
        with self._reading() as connection:
            row_sums.check_shape(connection)
            tables = row_sums.tables_of(connection)
            row_sums.check_table(connection, PRECIOUS, tables[PRECIOUS])

    def check(self) -> None:
        """Compare every row with what was written, about 5 us a row.

        Raises:
            StateDamagedError: Something is not as it was written, or is missing.
        """
        with self._reading() as connection:
            row_sums.check_everything(connection)

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Run one transaction: all of it happens, or, after an exception or a kill, none."""
        with self._lock, self._errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # SQLite ends some by itself (disk full)
                    self._connection.execute("ROLLBACK")
                raise

    def read(self, sql: str, parameters: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """Return all rows of one query, none of which has changed since it was written."""
        with self._lock, self._errors():
            # Inside a transaction one sees what it has written.
            connection = self._connection if self._connection.in_transaction else self._reader
            return connection.execute(sql, parameters).fetchall()

    def settle(self) -> None:
        """Take what is committed out of the log, whose damage SQLite would not notice.

        A reader that is at it keeps it there; it then goes with the next transactions.
        """
        with self._lock, self._errors():
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._errors():
            self._reader.execute("BEGIN")
            try:
                yield self._reader
            finally:
                self._reader.execute("ROLLBACK")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if str(error) == row_sums.RAISED:
                raise self._what_raised(error) from None  # SQLite's words say nothing of it
            if _is_damage(error):
                raise damaged(str(error)) from error
            raise StateError(
                f"The state file {str(self.path)!r} failed ({error}); free disk space, or wait for "
                "the other process that uses it, and run again: nothing is lost."
            ) from error

    def _what_raised(self, error: sqlite3.Error) -> BaseException:
        """Tell Ctrl-C inside a checksum from a value that no checksum can be made of."""
        interruption = row_sums.interruption()
        if interruption is not None:
            return interruption
        try:
            row_sums.check_everything(self._reader)
        except (sqlite3.Error, StateError):
            return damaged(str(error))
        return KeyboardInterrupt()

    def close(self) -> None:
        """Close the file; further use raises `StateError`."""
        with self._lock:
            self._reader.close()
            self._connection.close()


def _note(made: Path) -> None:
    """Note that there is a state file, so that an empty one is not taken for a new one."""
    try:
        if not made.exists():
            made.touch()
    except OSError as error:
        raise _cannot_open(made, error) from error


def _cannot_open(path: Path, error: Exception) -> StateError:
    return StateError(
        f"Cannot open the state file {str(path)!r} ({error}); check that the folder is "
        "writable, or choose another with --home."
    )


def _is_damage(error: sqlite3.Error) -> bool:
    """Tell damage from a full disk, a lock, or a closed file."""
    code = code_of(error)
    return code in _CONSTRAINTS or code & 0xFF in _DAMAGE
