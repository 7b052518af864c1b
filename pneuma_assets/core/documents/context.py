"""What people wrote about a table, a document a text (Pneuma, section 2)."""

from collections.abc import Iterable

from pneuma_assets.core.tables import Document, DocumentKind, Table


def context_documents(table: Table, texts: Iterable[str]) -> list[Document]:
    """Return one document a text, as it is."""
    return [Document(table.table_id, DocumentKind.CONTEXT, text) for text in texts]
