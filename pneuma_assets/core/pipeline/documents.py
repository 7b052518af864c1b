"""Documents of every kind, made from what a stage has read of tables and kept in the store."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

from pneuma_assets.core.documents.maker import Material
from pneuma_assets.core.documents.registry import documents_of
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import Document, DocumentKind

M = TypeVar("M", bound=Material)


@dataclass(frozen=True, slots=True)
class Made(Generic[M]):
    """What a stage has read of one table, and the documents made of it, by kind."""

    material: M
    documents: Mapping[DocumentKind, Sequence[Document]]


def make_documents(material: M) -> Made[M]:
    """Make the documents of every kind that is made from such material."""
    return Made(material, documents_of(material))


@contextmanager
def keeping_documents(store: Store, run_id: str, tables: Sequence[Made[M]]) -> Iterator[set[str]]:
    """Keep the documents of these tables, and what the `with` block writes of them, as one act.

    Of the kinds that were made, a table has exactly these then. One that the run no longer holds
    keeps what it has; the block is given the ids of the others.
    """
    with store.queue.holding(run_id, [made.material.table_id for made in tables]) as held:
        mine = {
            made.material.table_id: made.documents
            for made in tables
            if made.material.table_id in held
        }
        for kind in dict.fromkeys(kind for documents in mine.values() for kind in documents):
            store.documents.replace(kind, [(i, made[kind]) for i, made in mine.items()])
        yield held
