"""What a table is built from, and what is built from it, as text.

A report is asked for by what it reports on, which only the tables that it is built from may name.
"""

from collections.abc import Sequence

from pneuma_assets.core.documents.maker import DocumentMaker, LinkedTable
from pneuma_assets.core.sources.names import one_line, unescape
from pneuma_assets.core.tables import DocumentKind

NAMED = 12
"""Tables that are named each way; of more only the number is told."""

NAME_CHARACTERS = 80


def lineage_texts(linked: LinkedTable) -> list[str]:
    """Return `built from a (sales), b and 3 more; feeds c`; nothing of a table that stands alone.

    A table of the same schema or folder is named without it.
    """
    parts = [
        f"{verb} {_listed(linked.table_id, tables)}"
        for verb, tables in (("built from", linked.built_from), ("feeds", linked.feeds))
        if tables
    ]
    return ["; ".join(parts)] if parts else []


def _listed(table_id: str, others: Sequence[str]) -> str:
    named = [_named(table_id, other) for other in others[:NAMED]]
    more = len(others) - len(named)
    if more:
        return f"{', '.join(named)} and {more} more"
    *first, last = named
    return f"{', '.join(first)} and {last}" if first else last


def _named(table_id: str, other: str) -> str:
    place, _, name = other.rpartition("/")
    shown = one_line(unescape(name), NAME_CHARACTERS)
    if place == table_id.rpartition("/")[0]:
        return shown
    return f"{shown} ({one_line(unescape(place.rpartition('/')[2]), NAME_CHARACTERS)})"


MAKER = DocumentMaker(
    DocumentKind.LINEAGE,
    LinkedTable,
    lineage_texts,
    version=1,
    called="lineage",
    introduction="Given what a table is built from and what is built from it:",
)
