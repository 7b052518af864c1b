"""How much of memory and of an engine's work a table is, for those who take several at once."""

from collections.abc import Iterable

from pneuma_assets.core.index.base import TableContents
from pneuma_assets.core.terms.fields import HEADERS_IN_ROWS

_CHARACTERS = 1_000
"""So much evidence is worth a block, whose text and vector are two to three kilobytes."""


def blocks_worth(contents: TableContents) -> int:
    """Return the size of a table's contents as a number of blocks, evidence counted by its text.

    Each row counts with the columns' names, which are searched with it.
    """
    evidence = contents.evidence
    spelled = evidence.spelled_names, evidence.spelled_columns
    texts: Iterable[str] = (*evidence.names, *evidence.columns, *spelled, *evidence.cells)
    cells = sum(len(cell) + 1 for row in evidence.rows for cell in row if cell)
    headers = sum(len(name) + 1 for name in evidence.columns[:HEADERS_IN_ROWS])
    return (
        len(contents.blocks)
        + (sum(map(len, texts)) + cells + headers * len(evidence.rows)) // _CHARACTERS
    )
