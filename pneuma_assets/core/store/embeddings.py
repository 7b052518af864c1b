"""Embeddings of all texts that tables say, so that none is computed twice.

They stand here, beside the copies in the index, because no engine can be asked for a text: many
tables share theirs (a folder's README, one schema), and an index that is lost or begun anew is
filled again without the encoder. They are in a file of their own, with which nothing is lost but
time, or in two tables of a server: what one machine embeds, no other embeds again.
"""

import json
import logging
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
from filelock import FileLock
from sqlalchemy import delete, select

from pneuma_assets.core.closing import Closing
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.sqlite_codes import code_of, errors_in_text, remedy_of
from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.key_values import get_json, put_json
from pneuma_assets.core.store.schema import (
    delete_by,
    embedding_uses,
    embeddings,
    insert_new,
    upsert,
)
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, Vector, content_hash

logger = logging.getLogger(__name__)

FILE_NAME = "embeddings.db"
HEADERS = "headers"
"""Stands in the place of a table for texts that are headers of columns; the id of a table has a
slash."""

_MADE_OF = "headers made of"

_BUSY_TIMEOUT_S = 30.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS embeddings (
    key TEXT PRIMARY KEY, checksum INTEGER NOT NULL, vector BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS uses (
    table_id TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (table_id, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS uses_by_key ON uses (key);
"""
_NEVER_CLOSED: list[sqlite3.Connection] = []
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

_Result = TypeVar("_Result")


class Embeddings(Protocol):
    """A vector a text and encoder, kept for as long as a table says the text."""

    def known(self, encoder: str, texts: Iterable[str]) -> dict[str, Vector]:
        """Return the embeddings of those texts that have one by this encoder."""
        ...

    def keep(self, encoder: str, tables: Sequence[tuple[str, list[EmbeddedBlock]]]) -> None:
        """Keep the embeddings of what these tables say now, and that they say it.

        Both at once, so that `prune`, in whatever process, takes none that is just being used.
        """
        ...

    def tables(self) -> set[str]:
        """Return the tables of whose texts embeddings are kept."""
        ...

    def prune(self, gone: Iterable[str]) -> None:
        """Forget these tables, and the embeddings of texts that no other table says now."""
        ...

    def close(self) -> None:
        """Release what is held; a next use opens it again."""
        ...


class EmbeddingCache(Closing):
    """A vector a text and encoder, in a file that is opened when first needed.

    A vector that is not as it was written is made anew, and so is a file that SQLite calls
    damaged. Raises `StateError` where it can neither be read nor written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._changing = FileLock(
            path.with_name(f"{path.name}.lock"), _BUSY_TIMEOUT_S, thread_local=False
        )
        self._identity: tuple[int, int] | None = None
        self._connection: sqlite3.Connection | None = None

    def known(self, encoder: str, texts: Iterable[str]) -> dict[str, Vector]:
        """Return the embeddings of those texts that have one by this encoder."""
        texts_by_key = {embedding_key(encoder, text): text for text in texts}
        rows = self._do(
            lambda connection: connection.execute(
                "SELECT key, checksum, vector FROM embeddings"
                " WHERE key IN (SELECT value FROM json_each(?))",
                (json.dumps(list(texts_by_key)),),
            ).fetchall()
        )
        return {
            texts_by_key[key]: _vector_of(vector)
            for key, checksum, vector in rows
            if _checksum(key, vector) == checksum
        }

    def keep(self, encoder: str, tables: Sequence[tuple[str, list[EmbeddedBlock]]]) -> None:
        """Keep the embeddings of what these tables say now, and that they say it."""
        uses = _uses_of(encoder, tables)
        vectors = {key: (key, _checksum(key, vector), vector) for _, key, vector in uses}

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "INSERT INTO embeddings VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE"
                " SET checksum = excluded.checksum, vector = excluded.vector"
                " WHERE vector <> excluded.vector OR checksum <> excluded.checksum",
                vectors.values(),
            )
            connection.executemany(
                "DELETE FROM uses WHERE table_id = ?", [(table_id,) for table_id, _ in tables]
            )
            connection.executemany(
                "INSERT OR IGNORE INTO uses VALUES (?, ?)",
                [(table_id, key) for table_id, key, _ in uses],
            )

        self._do(write)

    def tables(self) -> set[str]:
        """Return the tables of whose texts embeddings are kept."""
        return self._do(
            lambda connection: {
                row[0]
                for row in connection.execute(
                    "SELECT DISTINCT table_id FROM uses WHERE table_id <> ?", (HEADERS,)
                )
            }
        )

    def prune(self, gone: Iterable[str]) -> None:
        """Forget these tables, and the embeddings of texts that no other table says now."""
        left = json.dumps(list(gone))

        def delete(connection: sqlite3.Connection) -> None:
            connection.execute(
                "DELETE FROM uses WHERE table_id IN (SELECT value FROM json_each(?))", (left,)
            )
            connection.execute("DELETE FROM embeddings WHERE key NOT IN (SELECT key FROM uses)")

        self._do(delete)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is None:
                return
            if self._identify() != self._identity:
                # Closing an empty one, SQLite would remove the log of the file that stands there.
                _NEVER_CLOSED.append(connection)
            else:
                connection.close()

    def _do(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """Run one transaction, once more on an empty file if this one is damaged."""
        with self._lock:
            try:
                try:
                    return self._transact(work)
                except sqlite3.DatabaseError as error:
                    if code_of(error) & 0xFF not in _DAMAGE:
                        raise
                    logger.warning("%s is damaged (%s) and begun anew", self._path, error)
                    self._discard()
                    return self._transact(work)
            except (OSError, sqlite3.Error) as error:
                disk = remedy_of(error, self._path) if isinstance(error, sqlite3.Error) else None
                raise StateError(
                    f"The file of embeddings {str(self._path)!r} failed ({error}); "
                    f"{disk or 'remove the file: its embeddings are then computed again'}."
                ) from error

    def _transact(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        if self._identify() != self._identity:  # another process has begun it anew
            self.close()
        connection = self._connection or self._open()
        connection.execute("BEGIN IMMEDIATE")
        try:
            result = work(connection)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return result

    def _open(self) -> sqlite3.Connection:
        with self._changing:
            connection = sqlite3.connect(
                self._path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
            self._identity = self._identify()
            try:
                with errors_in_text():
                    connection.execute("PRAGMA journal_mode = WAL")
                    connection.execute("PRAGMA synchronous = NORMAL")
                    connection.execute("PRAGMA secure_delete = ON")  # a vector tells of its text
                    connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT")
            except BaseException:
                connection.close()
                raise
        self._connection = connection
        return connection

    def _discard(self) -> None:
        """Remove the file that was found damaged, but not one that has taken its place.

        Whoever has it open goes on with what is removed until the next transaction.
        """
        with self._changing:
            damaged = self._identity
            self.close()
            if self._identify() == damaged:
                for suffix in ("", "-wal", "-shm"):
                    self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def _identify(self) -> tuple[int, int] | None:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return None
        return status.st_dev, status.st_ino


def embedding_key(encoder: str, text: str) -> str:
    """Name an encoder's embedding of a text."""
    return content_hash(encoder, text)


def _checksum(key: str, vector: bytes) -> int:
    return zlib.crc32(vector, zlib.crc32(key.encode()))


def _uses_of(
    encoder: str, tables: Iterable[tuple[str, Iterable[EmbeddedBlock]]]
) -> list[tuple[str, str, bytes]]:
    """Return which table says what, by the key of its embedding, and that as it is kept."""
    return [
        (table_id, embedding_key(encoder, one.block.text), one.vector.astype("<f4").tobytes())
        for table_id, embedded in tables
        for one in embedded
    ]


def _vector_of(kept: bytes) -> Vector:
    return np.frombuffer(kept, "<f4").astype(np.float32)


class SharedEmbeddings:
    """A vector a text and encoder, in two tables of the server."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def known(self, encoder: str, texts: Iterable[str]) -> dict[str, Vector]:
        """Return the embeddings of those texts that have one by this encoder."""
        texts_by_key = {embedding_key(encoder, text): text for text in texts}
        found = self._db.read_by(select(embeddings), embeddings.c.key, texts_by_key)
        return {texts_by_key[row.key]: _vector_of(row.vector) for row in found}

    def keep(self, encoder: str, tables: Sequence[tuple[str, list[EmbeddedBlock]]]) -> None:
        """Keep the embeddings of what these tables say now, and that they say it."""
        said = _uses_of(encoder, tables)
        vectors = {key: vector for _, key, vector in said}
        with self._db.write() as connection:
            upsert(connection, embeddings, [{"key": k, "vector": v} for k, v in vectors.items()])
            delete_by(connection, embedding_uses.c.table_id, [table_id for table_id, _ in tables])
            insert_new(
                connection, embedding_uses, [{"table_id": i, "key": key} for i, key, _ in said]
            )

    def tables(self) -> set[str]:
        """Return the tables of whose texts embeddings are kept."""
        asked = (
            select(embedding_uses.c.table_id).where(embedding_uses.c.table_id != HEADERS).distinct()
        )
        return {row.table_id for row in self._db.read(asked)}

    def prune(self, gone: Iterable[str]) -> None:
        """Forget these tables, and the embeddings of texts that no other table says now."""
        used = select(embedding_uses.c.key).where(embedding_uses.c.key == embeddings.c.key).exists()
        with self._db.write() as connection:
            delete_by(connection, embedding_uses.c.table_id, gone)
            connection.execute(delete(embeddings).where(~used))

    def close(self) -> None:
        """Do nothing: the store closes the database."""


class HeaderVectors:
    """The part of the store that knows headers (Octopus, section 4: the matrix H).

    They are kept with the other embeddings, one for each that any searchable table has.
    """

    def __init__(self, database: Database, embeddings: Embeddings) -> None:
        self._db = database
        self._embeddings = embeddings

    def of(self, encoder: str, headers: Iterable[str]) -> dict[str, Vector]:
        """Return the embeddings of those headers that have one by this encoder."""
        return self._embeddings.known(encoder, headers)

    def replace(self, encoder: str, vectors: Mapping[str, Vector], made_of: Sequence[str]) -> None:
        """Make these the headers that are kept; others go, and those of other encoders.

        Args:
            encoder: The name of the one that made them.
            vectors: The embedding of each.
            made_of: Names what they were made of; `made_of` returns it.
        """
        kept = [
            EmbeddedBlock(Block(HEADERS, DocumentKind.SCHEMA, header), vector)
            for header, vector in vectors.items()
        ]
        self._embeddings.keep(encoder, [(HEADERS, kept)])
        self._embeddings.prune(())
        with self._db.write() as connection:
            put_json(connection, _MADE_OF, list(made_of))

    def made_of(self) -> tuple[str, ...]:
        """Return what the headers were made of; nothing before there were any."""
        return tuple(get_json(self._db, _MADE_OF) or ())

    def forget(self) -> None:
        """Forget all headers: names among them are hidden now. The next run makes the others."""
        with self._db.write() as connection:
            put_json(connection, _MADE_OF, [])
        self._embeddings.prune([HEADERS])
