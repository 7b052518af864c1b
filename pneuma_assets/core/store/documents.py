"""Documents about tables, the blocks made of them, and what people added by hand."""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.tables import Block, Document, DocumentKind, EmbeddedBlock


@dataclass(frozen=True, slots=True)
class UserContext:
    """A text that a person added to a table, under a name they chose."""

    name: str
    text: str


class DocumentStore:
    """The part of the store that holds texts between the stages of a run."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def replace(self, kind: DocumentKind, tables: Iterable[tuple[str, Sequence[Document]]]) -> None:
        """Make the documents of one kind of each of these tables exactly these."""
        with self._db.write() as connection:
            replace_documents(connection, kind, list(tables))

    def of_table(self, table_id: str) -> list[Document]:
        """Return every document about a table, by kind and in order, people's own included."""
        rows = self._db.read(
            "SELECT kind, text FROM documents WHERE table_id = ? ORDER BY kind, ordinal",
            (table_id,),
        )
        own = [Document(table_id, DocumentKind(row["kind"]), row["text"]) for row in rows]
        added = self.user_contexts(table_id)
        return own + [Document(table_id, DocumentKind.CONTEXT, c.text) for c in added]

    def preview(self, run_id: str, kind: DocumentKind, limit: int) -> list[tuple[str, str]]:
        """Return table ids and texts of some documents of the tables that a run has claimed."""
        rows = self._db.read(
            "SELECT d.table_id, d.text FROM documents d JOIN tables t USING (table_id)"
            " WHERE t.claimed_by = ? AND d.kind = ? AND d.ordinal = 0 ORDER BY d.table_id LIMIT ?",
            (run_id, kind, limit),
        )
        return [(row["table_id"], row["text"]) for row in rows]

    def staged_counts(self, run_id: str) -> list[int]:
        """Return the number of blocks that wait for the index, a claimed table each."""
        rows = self._db.read(
            "SELECT count(*) FROM staged_blocks JOIN tables USING (table_id)"
            " WHERE claimed_by = ? GROUP BY table_id",
            (run_id,),
        )
        return [int(row[0]) for row in rows]

    def stage(self, encoder: str, blocks: Sequence[tuple[str, Sequence[EmbeddedBlock]]]) -> None:
        """Keep embedded blocks until the index has them; a table's older ones are replaced."""
        with self._db.write() as connection:
            connection.executemany(
                "DELETE FROM staged_blocks WHERE table_id = ?", [(i,) for i, _ in blocks]
            )
            connection.executemany(
                "INSERT INTO staged_blocks VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (i, e.block.kind, ordinal, e.block.text, e.vector.tobytes(), encoder)
                    for i, embedded in blocks
                    for ordinal, e in enumerate(embedded)
                ],
            )

    def staged(self, encoder: str, table_id: str) -> list[EmbeddedBlock]:
        """Return the blocks of a table that wait for the index, embedded by this encoder."""
        rows = self._db.read(
            "SELECT kind, text, vector FROM staged_blocks WHERE table_id = ? AND encoder = ?"
            " ORDER BY kind, ordinal",
            (table_id, encoder),
        )
        return [
            EmbeddedBlock(
                Block(table_id, DocumentKind(row["kind"]), row["text"]),
                np.frombuffer(row["vector"], dtype=np.float32),
            )
            for row in rows
        ]

    def add_user_context(self, table_id: str, context: UserContext) -> None:
        """Keep a person's text about a table; the same name again replaces it."""
        with self._db.write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO user_contexts VALUES (?, ?, ?)",
                (table_id, context.name, storable(context.text)),
            )

    def remove_user_context(self, table_id: str, name: str) -> bool:
        """Forget a person's text; returns whether there was one of that name."""
        with self._db.write() as connection:
            cursor = connection.execute(
                "DELETE FROM user_contexts WHERE table_id = ? AND name = ?", (table_id, name)
            )
            return cursor.rowcount > 0

    def user_contexts(self, table_id: str) -> list[UserContext]:
        """Return what people added to a table, ordered by name."""
        rows = self._db.read(
            "SELECT name, text FROM user_contexts WHERE table_id = ? ORDER BY name", (table_id,)
        )
        return [UserContext(row["name"], row["text"]) for row in rows]


def replace_documents(
    connection: sqlite3.Connection,
    kind: DocumentKind,
    tables: Sequence[tuple[str, Sequence[Document]]],
) -> None:
    """Make the documents of one kind of tables exactly these, inside an open transaction."""
    connection.executemany(
        "DELETE FROM documents WHERE table_id = ? AND kind = ?",
        [(table_id, kind) for table_id, _ in tables],
    )
    connection.executemany(
        "INSERT INTO documents VALUES (?, ?, ?, ?)",
        [
            (table_id, kind, ordinal, storable(document.text))
            for table_id, documents in tables
            for ordinal, document in enumerate(documents)
        ],
    )


def storable(text: str) -> str:
    """Return the text with what UTF-8 cannot hold (lone surrogates) replaced by '?'."""
    return text.encode("utf-8", "replace").decode("utf-8")
