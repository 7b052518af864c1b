"""Documents about tables, the blocks made of them, and what people added by hand."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, bindparam, delete, func, insert, select

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.schema import (
    corrections,
    documents,
    staged_blocks,
    tables,
    told,
    user_contexts,
)
from pneuma_assets.core.store.statements import delete_by, upsert
from pneuma_assets.core.tables import (
    Block,
    Description,
    Document,
    DocumentKind,
    EmbeddedBlock,
    Provenance,
)


@dataclass(frozen=True, slots=True)
class UserContext:
    """A text that a person added to a table, under a name they chose."""

    name: str
    text: str


_BEGINNING = 4_000
"""Characters."""

_ASKED_AT_ONCE = 500

_OF_TABLE = (
    select(documents.c.kind, documents.c.text)
    .where(documents.c.table_id == bindparam("table"))
    .order_by(documents.c.kind, documents.c.ordinal)
)
_staged = staged_blocks.c
_STAGED = (
    select(_staged.kind, _staged.text, _staged.vector)
    .where(_staged.table_id == bindparam("table"), _staged.encoder == bindparam("encoder"))
    .order_by(_staged.kind, _staged.ordinal)
)
_ADDED = (
    select(user_contexts.c.name, user_contexts.c.text)
    .where(user_contexts.c.table_id == bindparam("table"))
    .order_by(user_contexts.c.name)
)
_CORRECTED = select(corrections.c.text).where(
    corrections.c.table_id == bindparam("table"),
    corrections.c.about == "table",
    corrections.c.text != "",
)
_TOLD = (
    select(told.c.origin, told.c.text)
    .where(told.c.table_id == bindparam("table"))
    .order_by(told.c.origin)
)


class DocumentStore:
    """The part of the store that holds texts between the stages of a run."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def replace(
        self, kind: DocumentKind, replaced: Iterable[tuple[str, Sequence[Document]]]
    ) -> None:
        """Make the documents of one kind of each of these tables exactly these."""
        with self._db.write() as connection:
            replace_documents(connection, kind, list(replaced))

    def of_table(self, table_id: str) -> list[Document]:
        """Return every document about a table, by kind and in order, people's own included."""
        found = self._db.read(_OF_TABLE, table=table_id)
        own = [Document(table_id, DocumentKind(row.kind), row.text) for row in found]
        added = [context.text for context in self.user_contexts(table_id)]
        added += [row.text for row in self._db.read(_CORRECTED, table=table_id)]
        added += dict.fromkeys(row.text for row in self._db.read(_TOLD, table=table_id))
        return own + [Document(table_id, DocumentKind.CONTEXT, text) for text in added]

    def of_kind(self, kind: DocumentKind, table_ids: Sequence[str]) -> dict[str, list[str]]:
        """Return the texts of one kind of some tables, in order, of those that have any."""
        found: dict[str, list[str]] = {}
        for some in chunks(table_ids, _ASKED_AT_ONCE):
            asked = select(documents.c.table_id, documents.c.text).where(
                documents.c.table_id.in_(some), documents.c.kind == str(kind)
            )
            for row in self._db.read(asked.order_by(documents.c.table_id, documents.c.ordinal)):
                found.setdefault(row.table_id, []).append(row.text)
        return found

    def preview(self, run_id: str, kind: DocumentKind, limit: int) -> list[tuple[str, str]]:
        """Return table ids and texts of some documents of the tables that a run has claimed."""
        found = self._db.read(
            select(documents.c.table_id, documents.c.text)
            .join(tables, tables.c.table_id == documents.c.table_id)
            .where(
                tables.c.claimed_by == run_id, documents.c.kind == kind, documents.c.ordinal == 0
            )
            .order_by(documents.c.table_id)
            .limit(limit)
        )
        return [(row.table_id, row.text) for row in found]

    def beginnings(self, table_id: str | None = None) -> dict[str, list[Description]]:
        """Return how the texts begin that people wrote about each table, if they did.

        What lies beside a table comes before what was added to it by hand, and that before what
        dbt, other assets and the like tell of it.

        Args:
            table_id: Of this table alone; None: of all.
        """
        added, beside = user_contexts.c, documents.c
        by_hand = select(
            added.table_id, func.substr(added.text, 1, _BEGINNING).label("text"), added.name
        ).order_by(added.name)
        read = (
            select(beside.table_id, func.substr(beside.text, 1, _BEGINNING).label("text"))
            .where(beside.kind == str(DocumentKind.CONTEXT))
            .order_by(beside.ordinal)
        )
        others = select(told.c.table_id, told.c.fields, told.c.origin).order_by(told.c.origin)
        if table_id is not None:
            by_hand = by_hand.where(added.table_id == table_id)
            read = read.where(beside.table_id == table_id)
            others = others.where(told.c.table_id == table_id)
        found: dict[str, list[Description]] = {}
        for row in self._db.read(read):
            said = Description(row.text, Provenance.DOCUMENT, "")
            found.setdefault(row.table_id, []).append(said)
        for row in self._db.read(by_hand):
            said = Description(row.text, Provenance.PERSON, row.name)
            found.setdefault(row.table_id, []).append(said)
        for row in self._db.read(others):
            text = json.loads(row.fields).get("description", "")
            said = Description(text, Provenance.DOCUMENT, row.origin)
            found.setdefault(row.table_id, []).append(said)
        return found

    def staged_counts(self, run_id: str) -> list[int]:
        """Return the number of blocks that wait for the index, a claimed table each."""
        found = self._db.read(
            select(func.count())
            .select_from(staged_blocks)
            .join(tables, tables.c.table_id == staged_blocks.c.table_id)
            .where(tables.c.claimed_by == run_id)
            .group_by(staged_blocks.c.table_id)
        )
        return [int(row[0]) for row in found]

    def stage(self, encoder: str, blocks: Sequence[tuple[str, Sequence[EmbeddedBlock]]]) -> None:
        """Keep embedded blocks until the index has them; a table's older ones are replaced."""
        rows = [
            {
                "table_id": table_id,
                "kind": str(one.block.kind),
                "ordinal": ordinal,
                "text": one.block.text,
                "vector": one.vector.tobytes(),
                "encoder": encoder,
            }
            for table_id, embedded in blocks
            for ordinal, one in enumerate(embedded)
        ]
        with self._db.write() as connection:
            delete_by(connection, staged_blocks.c.table_id, [table_id for table_id, _ in blocks])
            if rows:
                connection.execute(insert(staged_blocks), rows)

    def staged(self, encoder: str, table_id: str) -> list[EmbeddedBlock]:
        """Return the blocks of a table that wait for the index, embedded by this encoder."""
        found = self._db.read(_STAGED, table=table_id, encoder=encoder)
        return [
            EmbeddedBlock(
                Block(table_id, DocumentKind(row.kind), row.text),
                np.frombuffer(row.vector, dtype=np.float32),
            )
            for row in found
        ]

    def staged_otherwise(self, encoder: str, run_id: str) -> list[str]:
        """Return the claimed tables whose blocks wait for the index by another encoder."""
        found = self._db.read(
            select(staged_blocks.c.table_id)
            .join(tables, tables.c.table_id == staged_blocks.c.table_id)
            .where(tables.c.claimed_by == run_id, staged_blocks.c.encoder != encoder)
            .distinct()
            .order_by(staged_blocks.c.table_id)
        )
        return [row.table_id for row in found]

    def add_user_context(self, table_id: str, context: UserContext) -> None:
        """Keep a person's text about a table; the same name again replaces it."""
        row = {"table_id": table_id, "name": context.name, "text": context.text}
        with self._db.write() as connection:
            upsert(connection, user_contexts, [row])

    def remove_user_context(self, table_id: str, name: str) -> bool:
        """Forget a person's text; returns whether there was one of that name."""
        added = user_contexts.c
        with self._db.write() as connection:
            removed = connection.execute(
                delete(user_contexts).where(added.table_id == table_id, added.name == name)
            )
            return removed.rowcount > 0

    def user_contexts(self, table_id: str) -> list[UserContext]:
        """Return what people added to a table, ordered by name."""
        found = self._db.read(_ADDED, table=table_id)
        return [UserContext(row.name, row.text) for row in found]


def replace_documents(
    connection: Connection,
    kind: DocumentKind,
    replaced: Sequence[tuple[str, Sequence[Document]]],
) -> None:
    """Make the documents of one kind of tables exactly these, inside an open transaction."""
    if replaced:
        old = documents.c.table_id == bindparam("wanted"), documents.c.kind == str(kind)
        connection.execute(delete(documents).where(*old), [{"wanted": i} for i, _ in replaced])
    rows = [
        {"table_id": table_id, "kind": str(kind), "ordinal": ordinal, "text": document.text}
        for table_id, some in replaced
        for ordinal, document in enumerate(some)
    ]
    if rows:
        connection.execute(insert(documents), rows)
