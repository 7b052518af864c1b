"""Finding which tables can be joined, once those of a run are searchable."""

from collections.abc import Iterator

from pneuma_assets.core.joins.columns import JoinColumn, join_columns
from pneuma_assets.core.joins.inferring import RECIPE, infer_joins
from pneuma_assets.core.store import Store

_MOST_TIMES = 2
"""Joins are looked for in one stage, however often tables of other runs come in between."""


def mark_joins(store: Store) -> int:
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
        news += store.joins.replace(infer_joins(columns_of_all(store)), now)
    return news


def columns_of_all(store: Store) -> dict[str, list[JoinColumn]]:
    """Return what is known of the columns of every searchable table, by its id."""
    return {table_id: list(columns) for table_id, columns in _columns(store)}


def _columns(store: Store) -> Iterator[tuple[str, Iterator[JoinColumn]]]:
    for table in store.tables.profiles(store.tables.indexed()):
        drawn = store.drawn.of_table(table.table_id)
        sketch = None if drawn is None else drawn.sketch
        yield (
            table.table_id,
            join_columns(table.table_id, table.columns, table.row_count, sketch, table.primary_key),
        )
