"""A kind of document that the product does not have: the distinct cells of the sampled rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pneuma_assets.core.describe.kinds import _KINDS, register_documents
from pneuma_assets.core.describe.texts import DocumentMaker, DrawnRows
from pneuma_assets.core.tables import DocumentKind
from pneuma_assets.core.text.safe import one_line


def distinct_cells(drawn: DrawnRows) -> list[str]:
    """Return every cell once, all of them in one text."""
    cells = dict.fromkeys(cell for row in drawn.rows for cell in row if cell is not None)
    return [", ".join(one_line(str(cell), 100) for cell in cells)]


VALUES = DocumentMaker(
    DocumentKind("distinct"), DrawnRows, distinct_cells, version=1, called="sampled values"
)


@contextmanager
def registered(maker: DocumentMaker[Any]) -> Iterator[None]:
    register_documents(maker)
    try:
        yield
    finally:
        del _KINDS.known[maker.kind]
