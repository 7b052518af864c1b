"""A kind of document that the product does not have: the distinct cells of the sampled rows."""

from collections.abc import Iterator
from contextlib import contextmanager

from pneuma_assets.core.documents.maker import DocumentMaker, DrawnRows
from pneuma_assets.core.documents.registry import KINDS, register
from pneuma_assets.core.sources.names import one_line
from pneuma_assets.core.tables import DocumentKind


def distinct_cells(drawn: DrawnRows) -> list[str]:
    """Return every cell once, all of them in one text."""
    cells = dict.fromkeys(cell for row in drawn.rows for cell in row if cell is not None)
    return [", ".join(one_line(str(cell), 100) for cell in cells)]


VALUES = DocumentMaker(
    DocumentKind("values"), DrawnRows, distinct_cells, version=1, called="sampled values"
)


@contextmanager
def values_registered(version: int = 1) -> Iterator[None]:
    """Let the kind be made inside the `with` block."""
    maker = DocumentMaker(
        VALUES.kind, VALUES.made_from, VALUES.texts, version=version, called=VALUES.called
    )
    register(maker)
    try:
        yield
    finally:
        del KINDS[VALUES.kind]
