"""By which columns the tables that have a page can be joined, as many as a page shows."""

from collections.abc import Collection
from operator import attrgetter

from pneuma_assets.core.relations.join_graph import JoinEdge
from pneuma_assets.core.store.manifest.contents import PageJoin
from pneuma_assets.core.store.store import Store
from pneuma_assets.core.text.safe import printable

MOST_JOINS = 30
"""Of one table, those that are believed first; a key that everything refers to has thousands."""

MOST_COLUMNS = 8
"""Of one join, on each side."""

NAME_CHARS = 100
"""Of the name of a column or of a table."""


def joins_of_pages(store: Store, table_ids: Collection[str]) -> dict[str, list[PageJoin]]:
    """Return the joins of tables with each other, by the table on whose page they stand.

    Args:
        store: Where joins are kept.
        table_ids: The tables with a page; no other is named on one.
    """
    edges = [edge for edge in store.joins.of_tables(table_ids) if {*edge.tables} <= {*table_ids}]
    found: dict[str, list[PageJoin]] = {}
    for edge in sorted(edges, key=attrgetter("doubt")):
        for refers in (True, False):
            shown = found.setdefault(edge.table if refers else edge.other, [])
            if len(shown) < MOST_JOINS:
                shown.append(_shown(edge, refers=refers))
    return found


def _shown(edge: JoinEdge, *, refers: bool) -> PageJoin:
    mine, theirs = _names(edge.columns), _names(edge.other_columns)
    if not refers:
        mine, theirs = theirs, mine
    other = printable(edge.other if refers else edge.table)[:NAME_CHARS]
    return PageJoin(mine, other, theirs, refers, str(edge.kind), edge.share)


def _names(columns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(printable(name)[:NAME_CHARS] for name in columns[:MOST_COLUMNS])
