"""Finding which tables can be joined, once those of a run are searchable."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.pipeline.kept_cells import KeptCells
from pneuma_assets.core.relations.infer_joins import RECIPE, infer_joins
from pneuma_assets.core.relations.join_columns import JoinColumn, join_columns
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import Description

_MOST_TIMES = 2
"""Joins are looked for in one stage, however often tables of other runs come in between."""

_MOST_COMPARED = 200
_AT_ONCE = 100
"""Tables whose profiles and sketches are read at a time."""


def mark_joins(store: Store, index: SearchIndex) -> int:
    """Note in the store which tables can be joined; returns of how many joins that is news.

    All tables are looked at, since a new one may be the home of a key that others hold; where no
    table is another than last time, nothing is. Killed in between, it is done by the next run.
    Where tables of another run came meanwhile, they are looked for once more: that run may have
    looked before this one wrote, and no other may come for long.
    """
    news = 0
    for _ in range(_MOST_TIMES):
        now = (RECIPE, *store.joins.stamp())
        if store.joins.made_of() == now:
            break
        tables, kept = columns_of_all(store), KeptCells(index)
        tables |= kept.whole(tables)
        news += store.joins.replace(infer_joins(tables, kept.share), now)
        _compare_views(store, store.joins.of_views(), tables)
    new = store.joins.of_views(compared=False)
    _compare_views(store, new, columns_of(store, sorted(_tables_of(new))))
    return news


def _tables_of(said: Iterable[tuple[str, JoinEdge]]) -> set[str]:
    return {table for _, edge in said for table in edge.tables}


def _compare_views(
    store: Store,
    said: Sequence[tuple[str, JoinEdge]],
    tables: Mapping[str, Sequence[JoinColumn]],
) -> None:
    """Note of joins of queries which side is the key, by the cells, and how much of it is there."""
    known = _by_name(tables)
    found = [(origin, edge, _compared(edge, known)) for origin, edge in said]
    if found:
        store.joins.compare_views(found)


def _compared(edge: JoinEdge, known: Mapping[tuple[str, str], JoinColumn]) -> JoinEdge:
    """Return a join by one column with its share of cells; its key is the side referred to."""
    column = known.get((edge.table, edge.columns[0]))
    key = known.get((edge.other, edge.other_columns[0]))
    if len(edge.columns) > 1 or column is None or key is None:
        return edge
    if column.is_key and not key.is_key and edge.kind is JoinKind.VIEW:
        edge, column, key = edge.turned(), key, column
    return replace(edge, share=column.share_in(key))


def _by_name(
    tables: Mapping[str, Sequence[JoinColumn]],
) -> dict[tuple[str, str], JoinColumn]:
    return {(one.table_id, one.name): one for columns in tables.values() for one in columns}


def columns_of_all(store: Store) -> dict[str, list[JoinColumn]]:
    """Return what is known of the columns of every searchable table, by its id."""
    return columns_of(store, store.tables.indexed(), store.narrations.of_all())


def columns_of(
    store: Store,
    table_ids: Sequence[str],
    described: Mapping[str, Mapping[str, tuple[str, Description]]] = MappingProxyType({}),
) -> dict[str, list[JoinColumn]]:
    """Return what is known of the columns of tables, by their ids.

    Args:
        store: Where tables and their sketches are kept.
        table_ids: The tables; those that were not read yet are left out.
        described: What is said of columns, as `Pages.described_columns` returns it.
    """
    found: dict[str, list[JoinColumn]] = {}
    for some in chunks(table_ids, _AT_ONCE):
        sketches = store.profiles.sketches(some)
        for table in store.tables.profiles(some):
            sketch = sketches.get(table.table_id)
            said = {name: one.text for name, (_, one) in described.get(table.table_id, {}).items()}
            columns = join_columns(
                table.table_id, table.columns, table.row_count, sketch, table.primary_key, said
            )
            found[table.table_id] = list(columns)
    return found


def with_shares(store: Store, edges: Sequence[JoinEdge]) -> list[JoinEdge]:
    """Return joins by one column with the share of cells, also of those that nobody inferred.

    What somebody confirmed, a source declares or a view says is compared as inferred joins are, by
    the sampled cells; of the first `_MOST_COMPARED` joins.
    """
    untold = [one for one in edges if one.share is None and len(one.columns) == 1][:_MOST_COMPARED]
    tables = columns_of(store, sorted({table for one in untold for table in one.tables}))
    known = _by_name(tables)
    compared = {one.on: _compared(one, known) for one in untold}
    return [compared.get(one.on, one) for one in edges]
