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
from pneuma_assets.core.store.migrations import SCHEMA_VERSION, migrate, run_statements

BUSY_TIMEOUT_S = 30.0

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
    block_count INTEGER
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
"""


class Database:
    """A connection that any thread may use, with transactions that either happen or do not."""

    def __init__(self, path: Path) -> None:
        """Open or create the file; raises `StateError` where it cannot be used."""
        self.path = path
        self._lock = threading.RLock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
            self._connection.row_factory = sqlite3.Row
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
        except (OSError, sqlite3.Error) as error:
            raise StateError(
                f"Cannot open the state file {str(path)!r} ({error}); check that the folder is "
                "writable, or choose another with --home."
            ) from error
        self._prepare()

    def _prepare(self) -> None:
        with self.write() as connection:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:
                run_statements(connection, SCHEMA)
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            elif version < SCHEMA_VERSION:
                migrate(connection, version)
            elif version > SCHEMA_VERSION:
                raise StateError(
                    f"The state file {str(self.path)!r} was written by a newer version of "
                    f"pneuma-assets (format {version}, this one reads up to {SCHEMA_VERSION}); "
                    "upgrade pneuma-assets here, too."
                )

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
        """Return all rows of one query."""
        with self._lock, self._errors():
            return self._connection.execute(sql, parameters).fetchall()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StateError(
                f"The state file {str(self.path)!r} failed ({error}); free disk space, or wait for "
                "the other process that uses it, and run again: nothing is lost."
            ) from error

    def close(self) -> None:
        """Close the file; further use raises `StateError`."""
        with self._lock:
            self._connection.close()
