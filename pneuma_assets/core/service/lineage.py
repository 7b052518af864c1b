"""What a table is built from and what is built from it, as far as anybody says so."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.core.lineage.edges import (
    DEPTH,
    MOST_TABLES,
    Direction,
    Edge,
    Graph,
    other_end,
)
from pneuma_assets.core.service.visible_tables import (
    check_among,
    check_table,
    seen_among,
    seen_tables,
)

if TYPE_CHECKING:
    from pneuma_assets.core.store import Store

MOST_DEPTH = 100


@dataclass(frozen=True, slots=True)
class LinkedTable:
    """A table up- or downstream of another.

    Attributes:
        table_id: The table.
        direction: `upstream` or `downstream` of the one that was asked about.
        depth: By how many steps at least; 1 is a neighbour.
        via: The table one step nearer.
        kind: Who says so: a view, a foreign_key, dbt, dagster, openlineage, a dependency.
        columns: Pairs of a column upstream and one downstream, of the edge between the two.
    """

    table_id: str
    direction: str
    depth: int
    via: str
    kind: str
    columns: tuple[tuple[str, str], ...] = ()


def lineage_of(
    store: "Store",
    table_id: str,
    direction: str | None = None,
    depth: int = DEPTH,
    *,
    keys: bool = True,
    readers: Sequence[str] | None = None,
) -> list[LinkedTable]:
    """Return the tables up- and downstream of one, the nearest first, as `Workspace.lineage` says.

    Raises:
        ConfigError: There is no such table, or none that who asks may see.
        QueryError: Direction or depth are none.
    """
    check_table(store, table_id, readers)
    ways = directions(direction)
    if not isinstance(depth, int) or isinstance(depth, bool) or not 1 <= depth <= MOST_DEPTH:
        raise QueryError(f"depth must be a whole number from 1 to {MOST_DEPTH}, not {depth!r}")
    found: list[LinkedTable] = []
    for way in ways:
        graph = _near(store, table_id, way, depth, readers, keys=keys)
        found += _reached(graph, table_id, way, depth)
    return found


def _near(
    store: "Store",
    table_id: str,
    way: Direction,
    depth: int,
    readers: Sequence[str] | None,
    *,
    keys: bool,
) -> Graph:
    """Return the edges by which one direction leads from a table, a step at a time.

    What leads through a table that the asker may not see is not found.
    """
    edges: list[Edge] = []
    met, ends = {table_id}, {table_id}
    for _ in range(depth):
        if not ends or len(met) > MOST_TABLES:
            break
        steps = [
            edge
            for edge in store.edges.leading(ends, upward=way is Direction.UPSTREAM)
            if keys or edge.derives
        ]
        seen = seen_among(store, {other_end(edge, way) for edge in steps}, readers)
        edges += [edge for edge in steps if other_end(edge, way) in seen]
        ends = seen - met
        met |= ends
    return Graph(edges)


def directions(given: str | None) -> Sequence[Direction]:
    """Return the ways to follow; raises `QueryError` for what is none."""
    if given is None:
        return tuple(Direction)
    try:
        return (Direction(given),)
    except ValueError as error:
        raise QueryError(
            f"direction must be upstream, downstream or None for both, not {given!r}"
        ) from error


def related(
    store: "Store", upstream_of: Sequence[str], downstream_of: Sequence[str], where: IndexFilter
) -> IndexFilter:
    """Return a filter for tables that feed each of some, and are built from each of others.

    Foreign keys do not count. Tables that are not indexed are left out.

    Raises:
        ConfigError: There is no such table.
        QueryError: No table is so related to them.
    """
    seen = seen_tables(store, where.readers)
    graph = _graph(store, seen, keys=False)
    asked = [
        *((table_id, Direction.UPSTREAM) for table_id in upstream_of),
        *((table_id, Direction.DOWNSTREAM) for table_id in downstream_of),
    ]
    if not asked:
        return where
    found = seen & set(where.tables or store.tables.indexed())
    for table_id, way in asked:
        check_among(table_id, seen)
        found &= {one.table_id for one in graph.reach(table_id, way, MOST_DEPTH)}
    if not found:
        named = "; ".join(f"{way} of {table_id}" for table_id, way in asked)
        raise QueryError(
            f"no indexed table is {named}; `pneuma-assets lineage {asked[0][0]}` shows what is"
        )
    return replace(where, tables=tuple(sorted(found)))


def _graph(store: "Store", seen: set[str], *, keys: bool) -> Graph:
    return Graph(
        edge
        for edge in store.edges.all()
        if (keys or edge.derives) and edge.upstream in seen and edge.downstream in seen
    )


def _reached(graph: Graph, table_id: str, way: Direction, depth: int) -> Iterator[LinkedTable]:
    for one in graph.reach(table_id, way, depth):
        edge: Edge = one.edge
        via = edge.downstream if way is Direction.UPSTREAM else edge.upstream
        yield LinkedTable(one.table_id, str(way), one.depth, via, str(edge.kind), edge.columns)
