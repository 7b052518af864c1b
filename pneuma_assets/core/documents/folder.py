"""What people wrote about all tables of a folder, a document a text.

These texts are a kind of their own, so that each table's blocks of them are the same, and search
counts them for less the more tables say them.
"""

from collections.abc import Sequence

from pneuma_assets.core.documents.maker import DocumentMaker, ReadTable
from pneuma_assets.core.tables import DocumentKind


def folder_texts(read: ReadTable) -> Sequence[str]:
    """Return each text as it is."""
    return read.of_folder


MAKER = DocumentMaker(
    DocumentKind.FOLDER,
    ReadTable,
    folder_texts,
    version=1,
    called="what is said of its folder",
    introduction="Given this context describing the folder that a table is in:",
)
