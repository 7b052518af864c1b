"""Documents of every kind, made from what a stage has read of tables and kept in the store."""

from collections.abc import Mapping, Sequence
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


def keep_documents(store: Store, tables: Sequence[Made[M]]) -> None:
    """Make the documents of these tables, of the kinds that were made, exactly these."""
    for kind in dict.fromkeys(kind for made in tables for kind in made.documents):
        store.documents.replace(
            kind, [(made.material.table.table_id, made.documents[kind]) for made in tables]
        )
