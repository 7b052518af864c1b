"""Embeddings of all texts that tables say, for machines that share a PostgreSQL server.

What one machine embeds, no other embeds again; see `embeddings` for the same in a file.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from sqlalchemy import Column, Index, LargeBinary, Table, delete, select

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.embeddings import HEADERS, embedding_key
from pneuma_assets.core.store.schema import SHARED, Said
from pneuma_assets.core.store.statements import delete_by, insert_new, upsert
from pneuma_assets.core.tables import EmbeddedBlock, Vector

embeddings = Table(
    "embeddings",
    SHARED,
    Column("key", Said(), primary_key=True),
    Column("vector", LargeBinary, nullable=False),
)
uses = Table(
    "embedding_uses",
    SHARED,
    Column("table_id", Said(), primary_key=True),
    Column("key", Said(), primary_key=True),
)
Index("embedding_uses_by_key", uses.c.key)

_ASKED_AT_ONCE = 1000


class SharedEmbeddings:
    """A vector a text and encoder, in two tables of the server."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def known(self, encoder: str, texts: Iterable[str]) -> dict[str, Vector]:
        """Return the embeddings of those texts that have one by this encoder."""
        texts_by_key = {embedding_key(encoder, text): text for text in texts}
        found: dict[str, Vector] = {}
        for keys in chunks(list(texts_by_key), _ASKED_AT_ONCE):
            for row in self._db.read(select(embeddings).where(embeddings.c.key.in_(keys))):
                vector = np.frombuffer(row.vector, "<f4").astype(np.float32)
                found[texts_by_key[row.key]] = vector
        return found

    def keep(self, encoder: str, tables: Sequence[tuple[str, list[EmbeddedBlock]]]) -> None:
        """Keep the embeddings of what these tables say now, and that they say it."""
        said = [
            (table_id, embedding_key(encoder, one.block.text), one.vector.astype("<f4").tobytes())
            for table_id, embedded in tables
            for one in embedded
        ]
        vectors = {key: vector for _, key, vector in said}
        with self._db.write() as connection:
            upsert(connection, embeddings, [{"key": k, "vector": v} for k, v in vectors.items()])
            delete_by(connection, uses.c.table_id, [table_id for table_id, _ in tables])
            insert_new(connection, uses, [{"table_id": i, "key": key} for i, key, _ in said])

    def tables(self) -> set[str]:
        """Return the tables of whose texts embeddings are kept."""
        asked = select(uses.c.table_id).where(uses.c.table_id != HEADERS).distinct()
        return {row.table_id for row in self._db.read(asked)}

    def prune(self, gone: Iterable[str]) -> None:
        """Forget these tables, and the embeddings of texts that no other table says now."""
        used = select(uses.c.key).where(uses.c.key == embeddings.c.key).exists()
        with self._db.write() as connection:
            delete_by(connection, uses.c.table_id, gone)
            connection.execute(delete(embeddings).where(~used))

    def close(self) -> None:
        """Do nothing: the store closes the database."""
