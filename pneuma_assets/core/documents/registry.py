"""Which kinds of documents there are: the one place that knows them all.

A new kind is a module with a maker, and a call of `register` in every process that indexes. The
stages make, embed and index its documents, search finds by them and filters on them, and the
figures count them. Every table is made anew then, and again once the kind is no longer registered;
no language model is asked again for what it has answered.
"""

from typing import Any

from pneuma_assets.core.documents import context, rows, schema
from pneuma_assets.core.documents.maker import CONTENT_INTRODUCTION, DocumentMaker, Material
from pneuma_assets.core.tables import Document, DocumentKind

KINDS: dict[DocumentKind, DocumentMaker[Any]] = {
    maker.kind: maker for maker in (schema.MAKER, rows.MAKER, context.MAKER)
}
"""The maker of each kind, in the order in which people see the kinds."""


def register(maker: DocumentMaker[Any]) -> None:
    """Let documents of another kind be made.

    Raises:
        ValueError: The kind has a maker, or the maker has no version of its own.
    """
    if maker.kind in KINDS:
        raise ValueError(f"The documents of kind {maker.kind!r} have a maker; choose another name.")
    if maker.version < 1:
        raise ValueError(f"The maker of {maker.kind!r} needs a version from 1 on.")
    KINDS[maker.kind] = maker


def makers_from(made_from: type[Material]) -> list[DocumentMaker[Any]]:
    """Return the makers that make documents from such material, in order."""
    return [maker for maker in KINDS.values() if maker.made_from is made_from]


def documents_of(material: Material) -> dict[DocumentKind, list[Document]]:
    """Return the documents of every kind that is made from this, in order."""
    table_id = material.table.table_id
    return {
        maker.kind: [Document(table_id, maker.kind, text) for text in maker.texts(material)]
        for maker in makers_from(type(material))
    }


def introduction_of(kind: DocumentKind) -> str:
    """Return the words before a text of this kind where a language model judges it.

    An index may hold kinds that are no longer made, or are made by a newer version.
    """
    maker = KINDS.get(kind)
    return CONTENT_INTRODUCTION if maker is None else maker.introduction
