"""Finding which tables can be joined, once those of a run are searchable."""

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.joins.columns import JoinColumn, join_columns
from pneuma_assets.core.joins.inferring import RECIPE, infer_joins
from pneuma_assets.core.store import Store

_MOST_TIMES = 2
"""Joins are looked for in one stage, however often tables of other runs come in between."""

_AT_ONCE = 100
"""Tables whose profiles and sketches are read at a time."""


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
    found: dict[str, list[JoinColumn]] = {}
    for some in chunks(store.tables.indexed(), _AT_ONCE):
        sketches = store.drawn.sketches(some)
        for table in store.tables.profiles(some):
            sketch = sketches.get(table.table_id)
            columns = join_columns(
                table.table_id, table.columns, table.row_count, sketch, table.primary_key
            )
            found[table.table_id] = list(columns)
    return found
