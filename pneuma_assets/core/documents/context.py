"""What people wrote about a table, a document a text (Pneuma, section 2)."""

from collections.abc import Sequence

from pneuma_assets.core.documents.maker import DocumentMaker, ReadTable
from pneuma_assets.core.tables import DocumentKind


def context_texts(read: ReadTable) -> Sequence[str]:
    """Return each text as it is; what people added by hand, the store adds to these."""
    return read.contexts


MAKER = DocumentMaker(
    DocumentKind.CONTEXT,
    ReadTable,
    context_texts,
    version=0,
    called="context",
    introduction="Given this context describing a table:",
)
