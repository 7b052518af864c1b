"""Embeddings of all texts that tables say, so that none is computed twice.

They stand here, beside the copies in the index, because no engine can be asked for a text: many
tables share theirs (a folder's README, one schema), and an index that is lost or rebuilt is filled
again without the encoder. They are in a file of their own, with which nothing is lost but time, or
in two tables of a server: what one machine embeds, no other embeds again.
"""

import logging
import threading
import zlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import TypeVar

import numpy as np
from sqlalchemy import delete, select

from pneuma_assets.core.close_once import Closing
from pneuma_assets.core.errors import StateDamagedError, StateError
from pneuma_assets.core.store.database import Database, get_json, put_json
from pneuma_assets.core.store.schema import (
    SHARED,
    delete_by,
    embedding_uses,
    embeddings,
    insert_new,
    upsert,
)
from pneuma_assets.core.store.sqlite_database import SqliteDatabase
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, Vector, content_hash

logger = logging.getLogger(__name__)

FILE_NAME = "embeddings.db"
HEADERS = "headers"
"""Stands in the place of a table for texts that are headers of columns; the id of a table has a
slash."""

_MADE_OF = "headers made of"

_Result = TypeVar("_Result")


class Embeddings(Closing):
    """One vector for each text and encoder, kept for as long as a table says the text."""

    @abstractmethod
    def _do(self, work: Callable[[Database], _Result]) -> _Result:
        """Return what the work does with the database, which may be done twice."""

    def known(self, encoder: str, texts: Iterable[str]) -> dict[str, Vector]:
        """Return the embeddings of those texts that have one by this encoder."""
        texts_by_key = {content_hash(encoder, text): text for text in texts}
        found = self._do(
            lambda db: [*db.read_by(select(embeddings), embeddings.c.key, texts_by_key)]
        )
        return {
            texts_by_key[row.key]: np.frombuffer(row.vector, "<f4").astype(np.float32)
            for row in found
            if _checksum(row.key, row.vector) == row.checksum
        }

    def keep(
        self, encoder: str, tables: Sequence[tuple[str, list[EmbeddedBlock]]], *, more: bool = False
    ) -> None:
        """Keep the embeddings of what these tables say now (`more`: besides), and that they say it.

        Both at once, so that `prune`, in whatever process, takes none that is just being used.
        """
        vectors, uses = {}, []
        for table_id, embedded in tables:
            for one in embedded:
                key = content_hash(encoder, one.block.text)
                vectors[key] = one.vector.astype("<f4").tobytes()
                uses.append({"table_id": table_id, "key": key})
        rows = [{"key": k, "checksum": _checksum(k, v), "vector": v} for k, v in vectors.items()]

        def write(database: Database) -> None:
            with database.write() as connection:
                upsert(connection, embeddings, rows)
                if not more:
                    delete_by(connection, embedding_uses.c.table_id, [one for one, _ in tables])
                insert_new(connection, embedding_uses, uses)

        self._do(write)

    def tables(self) -> set[str]:
        """Return the tables of whose texts embeddings are kept."""
        ids = select(embedding_uses.c.table_id).distinct()  # all: what is no text is damage
        found = self._do(lambda db: db.read(ids))
        return {row.table_id for row in found if "/" in row.table_id}

    def has_any(self, table_id: str) -> bool:
        """Tell whether an embedding is kept of what a table says."""
        used = select(embedding_uses.c.table_id).where(embedding_uses.c.table_id == table_id)
        return bool(self._do(lambda db: db.read(used.limit(1))))

    def keep_only(self, table_id: str, keys: Set[str]) -> None:
        """Forget what a table says but the texts of these keys."""
        mine = embedding_uses.c.table_id == table_id

        def forget(database: Database) -> None:
            with database.write() as connection:
                said = connection.execute(select(embedding_uses.c.key).where(mine)).scalars()
                delete_by(connection, embedding_uses.c.key, {*said} - keys, mine)

        self._do(forget)
        self.prune(())

    def prune(self, gone: Iterable[str]) -> None:
        """Forget these tables, and the embeddings of texts that no other table says now."""
        left = list(gone)
        used = select(embedding_uses.c.key).where(embedding_uses.c.key == embeddings.c.key).exists()

        def forget(database: Database) -> None:
            with database.write() as connection:
                delete_by(connection, embedding_uses.c.table_id, left)
                connection.execute(delete(embeddings).where(~used))

        self._do(forget)


class SharedEmbeddings(Embeddings):
    """Those of a state on a server."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def _do(self, work: Callable[[Database], _Result]) -> _Result:
        return work(self._db)

    def close(self) -> None:
        """Do nothing: the store closes the database."""


class EmbeddingCache(Embeddings):
    """Those of a state in a file: a file beside it, which is opened when first needed.

    A vector that is not as it was written is unknown, and a file that SQLite calls damaged is
    replaced by an empty one; whoever has it open goes on with what is removed. Raises `StateError`
    where it can neither be read nor written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._file: SqliteDatabase | None = None

    def _do(self, work: Callable[[Database], _Result]) -> _Result:
        with self._lock:
            try:
                return work(self._opened())
            except StateDamagedError as error:
                logger.warning("%s It is now replaced by an empty one.", error)
                self.close()
                try:
                    for suffix in ("", "-wal", "-shm"):
                        self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
                except OSError as failure:
                    raise StateError(f"{error!s} ({failure})") from failure
                return work(self._opened())

    def _opened(self) -> SqliteDatabase:
        if self._file is None:
            self._file = _EmbeddingDatabase(self._path)
        return self._file

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            file, self._file = self._file, None
            if file is not None:
                file.close()


_REMEDY = "remove the file: its embeddings are then computed again"


class _EmbeddingDatabase(SqliteDatabase):
    remedy = _REMEDY

    def __init__(self, path: Path) -> None:
        super().__init__(path, "The file of embeddings")
        with self.write() as connection:
            SHARED.create_all(connection, [embeddings, embedding_uses])

    def _damaged(self, what: str) -> StateDamagedError:
        return StateDamagedError(f"{self.where} is damaged ({what}); {_REMEDY}.")


def _checksum(key: str, vector: bytes) -> int:
    return zlib.crc32(vector, zlib.crc32(key.encode()))


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

    def keep(self, encoder: str, vectors: Mapping[str, Vector]) -> None:
        """Keep the embeddings of these headers, by this encoder, beside others."""
        kept = [
            EmbeddedBlock(Block(HEADERS, DocumentKind.SCHEMA, header), vector)
            for header, vector in vectors.items()
        ]
        self._embeddings.keep(encoder, [(HEADERS, kept)], more=True)

    def keep_only(self, encoder: str, headers: Iterable[str], made_of: Sequence[str]) -> None:
        """Forget all headers but these, by this encoder; `made_of` returns of what they are."""
        self._embeddings.keep_only(HEADERS, {content_hash(encoder, one) for one in headers})
        put_json(self._db, _MADE_OF, list(made_of))

    def made_of(self) -> tuple[str, ...]:
        """Return what the headers were made of; nothing where there are none, or none any more."""
        kept = self._embeddings.has_any(HEADERS)  # whose file may have been replaced
        return tuple(get_json(self._db, _MADE_OF) or ()) if kept else ()

    def forget(self) -> None:
        """Forget all headers: names among them are hidden now. The next run makes the others."""
        put_json(self._db, _MADE_OF, [])
        self._embeddings.prune([HEADERS])
