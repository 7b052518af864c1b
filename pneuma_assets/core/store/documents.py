"""Documents about tables, the blocks made of them, and what people added by hand."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, delete, func, select

from pneuma_assets.core.store import schema
from pneuma_assets.core.store.database import StorePart
from pneuma_assets.core.tables import (
    Block,
    Description,
    Document,
    DocumentKind,
    EmbeddedBlock,
    Provenance,
)

_BEGINNING = 4_000
"""Characters."""

_d, _staged, _added = schema.documents.c, schema.staged_blocks.c, schema.user_contexts.c
_TEXTS = select(_d.table_id, _d.kind, _d.text).order_by(_d.table_id, _d.kind, _d.ordinal)
_CONTEXTS = select(schema.user_contexts).order_by(_added.name)
_CORRECTED = select(schema.corrections.c.table_id, schema.corrections.c.text).where(
    schema.corrections.c.about == "table", schema.corrections.c.text != ""
)
_TOLD = select(schema.told).order_by(schema.told.c.origin)
_OF_CLAIMED = schema.tables.c.table_id == _staged.table_id


@dataclass(frozen=True, slots=True)
class UserContext:
    """A text that a person added to a table, under a name they chose."""

    name: str
    text: str


class DocumentStore(StorePart):
    """The part of the store that holds texts between the stages of a run."""

    def replace(
        self, kind: DocumentKind, replaced: Iterable[tuple[str, Sequence[Document]]]
    ) -> None:
        """Make the documents of one kind of each of these tables exactly these."""
        with self._db.write() as connection:
            replace_documents(connection, kind, list(replaced))

    def of_tables(self, table_ids: Collection[str]) -> dict[str, list[Document]]:
        """Return every document about tables, by kind and in order, people's own included."""
        made = self._db.grouped(_TEXTS, _d.table_id, table_ids)
        added = self._db.grouped(_CONTEXTS, _added.table_id, table_ids)
        corrected = self._db.grouped(_CORRECTED, schema.corrections.c.table_id, table_ids)
        others = self._db.grouped(_TOLD, schema.told.c.table_id, table_ids)
        found: dict[str, list[Document]] = {}
        for i in table_ids:
            texts = [row.text for row in (*added[i], *corrected[i])]
            texts += dict.fromkeys(row.text for row in others[i])
            found[i] = [Document(i, DocumentKind(row.kind), row.text) for row in made[i]]
            found[i] += [Document(i, DocumentKind.CONTEXT, text) for text in texts]
        return found

    def of_kind(self, kind: DocumentKind, table_ids: Iterable[str]) -> dict[str, list[str]]:
        """Return the texts of one kind of some tables, in order, of those that have any."""
        found: dict[str, list[str]] = {}
        of_kind = _TEXTS.where(_d.kind == str(kind))
        for row in self._db.read_by(of_kind, _d.table_id, table_ids):
            found.setdefault(row.table_id, []).append(row.text)
        return found

    def preview(self, run_id: str, kind: DocumentKind, limit: int) -> list[tuple[str, str]]:
        """Return table ids and texts of some documents of the tables that a run has claimed."""
        found = self._db.read(
            _TEXTS.join(schema.tables, schema.tables.c.table_id == _d.table_id)
            .where(schema.tables.c.claimed_by == run_id, _d.kind == kind, _d.ordinal == 0)
            .limit(limit)
        )
        return [(row.table_id, row.text) for row in found]

    def beginnings(self, table_ids: Collection[str] | None = None) -> dict[str, list[Description]]:
        """Return how the texts begin that people wrote about tables (None: all), of those with any.

        What lies beside a table comes before what was added to it by hand, and that before what
        dbt, other assets and the like tell of it.
        """
        of_context = _d.kind == str(DocumentKind.CONTEXT)
        read = select(_d.table_id, _beginning(_d.text)).where(of_context).order_by(_d.ordinal)
        added = select(_added.table_id, _beginning(_added.text), _added.name).order_by(_added.name)
        found: dict[str, list[Description]] = {}

        def say(table_id: str, *description: Any) -> None:
            found.setdefault(table_id, []).append(Description(*description))

        for row in self._db.read_by(read, _d.table_id, table_ids):
            say(row.table_id, row.text, Provenance.DOCUMENT, "")
        for row in self._db.read_by(added, _added.table_id, table_ids):
            say(row.table_id, row.text, Provenance.PERSON, row.name)
        for row in self._db.read_by(_TOLD, schema.told.c.table_id, table_ids):
            text = json.loads(row.fields).get("description", "")
            say(row.table_id, text, Provenance.DOCUMENT, row.origin)
        return found

    def stage(self, encoder: str, blocks: Sequence[tuple[str, Sequence[EmbeddedBlock]]]) -> None:
        """Save embedded blocks until the index has them; a table's older ones are replaced."""
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
            schema.delete_by(connection, _staged.table_id, [table_id for table_id, _ in blocks])
            schema.insert_rows(connection, schema.staged_blocks, rows)

    def staged(self, encoder: str, table_ids: Collection[str]) -> dict[str, list[EmbeddedBlock]]:
        """Return the blocks of tables that wait for the index, embedded by this encoder."""
        blocks = select(schema.staged_blocks).where(_staged.encoder == encoder)
        ordered = blocks.order_by(_staged.kind, _staged.ordinal)
        return {
            table_id: [
                EmbeddedBlock(
                    Block(table_id, DocumentKind(row.kind), row.text),
                    np.frombuffer(row.vector, dtype=np.float32),
                )
                for row in rows
            ]
            for table_id, rows in self._db.grouped(ordered, _staged.table_id, table_ids).items()
        }

    def staged_otherwise(self, encoder: str, run_id: str) -> list[str]:
        """Return the claimed tables whose blocks wait for the index by another encoder."""
        found = self._db.read(
            select(_staged.table_id)
            .join(schema.tables, _OF_CLAIMED)
            .where(schema.tables.c.claimed_by == run_id, _staged.encoder != encoder)
            .distinct()
            .order_by(_staged.table_id)
        )
        return [row.table_id for row in found]

    def add_user_context(self, table_id: str, context: UserContext) -> None:
        """Save a person's text about a table; the same name again replaces it."""
        row = {"table_id": table_id, "name": context.name, "text": context.text}
        with self._db.write() as connection:
            schema.upsert(connection, schema.user_contexts, [row])

    def remove_user_context(self, table_id: str, name: str) -> bool:
        """Forget a person's text; returns whether there was one of that name."""
        here = _added.table_id == table_id, _added.name == name
        with self._db.write() as connection:
            return connection.execute(delete(schema.user_contexts).where(*here)).rowcount > 0

    def user_contexts(self, table_ids: Collection[str]) -> dict[str, list[UserContext]]:
        """Return what people added to tables, ordered by name."""
        found = self._db.grouped(_CONTEXTS, _added.table_id, table_ids)
        return {i: [UserContext(row.name, row.text) for row in rows] for i, rows in found.items()}


def _beginning(text: ColumnElement[str]) -> ColumnElement[str]:
    return func.substr(text, 1, _BEGINNING).label("text")


def replace_documents(
    connection: Connection, kind: DocumentKind, replaced: Sequence[tuple[str, Sequence[Document]]]
) -> None:
    """Make the documents of one kind of tables exactly these, inside an open transaction."""
    schema.delete_by(connection, _d.table_id, [i for i, _ in replaced], _d.kind == str(kind))
    rows = [
        {"table_id": table_id, "kind": str(kind), "ordinal": ordinal, "text": document.text}
        for table_id, some in replaced
        for ordinal, document in enumerate(some)
    ]
    schema.insert_rows(connection, schema.documents, rows)
