"""What is up- and downstream of a table, however far, whatever circles there are."""

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from pneuma_assets.core.lineage.edges import Edge, EdgeKind

K = TypeVar("K", bound=Hashable)

DEPTH = 10
"""Steps that are followed where nobody says how many."""

MOST_TABLES = 5_000
"""Tables of one answer."""


def below(above: Mapping[K, Iterable[K]], roots: Iterable[K]) -> set[K]:
    """Return the roots and all that depends on one, be it over others.

    Args:
        above: What each depends on.
        roots: Where to begin.
    """
    downstream: dict[K, list[K]] = {}
    for one, deps in above.items():
        for dep in deps:
            downstream.setdefault(dep, []).append(one)
    found = set(roots)
    waiting = list(found)
    while waiting:
        more = set(downstream.get(waiting.pop(), ())) - found
        found |= more
        waiting += more
    return found


class Direction(StrEnum):
    """Which way to follow the edges."""

    UPSTREAM = "upstream"
    DOWNSTREAM = "downstream"


@dataclass(frozen=True, slots=True)
class Reached:
    """A table that can be reached, by the fewest steps.

    Attributes:
        table_id: The table.
        depth: Steps from where one began; 1 is a neighbour.
        edge: The edge by which it was reached first.
    """

    table_id: str
    depth: int
    edge: Edge


class Graph:
    """Tables and the edges between them."""

    def __init__(self, edges: Iterable[Edge]) -> None:
        self._up: dict[str, list[Edge]] = {}
        self._down: dict[str, list[Edge]] = {}
        for edge in edges:
            self._up.setdefault(edge.downstream, []).append(edge)
            self._down.setdefault(edge.upstream, []).append(edge)

    def edges(self, table_id: str, direction: Direction) -> list[Edge]:
        """Return the edges of a table to its neighbours, in the order of their ids.

        Of several to one neighbour, first those by which data comes, and of these those that tell
        columns.
        """
        upward = direction is Direction.UPSTREAM
        found = (self._up if upward else self._down).get(table_id, [])
        return sorted(found, key=lambda edge: (other_end(edge, direction), *_rank(edge)))

    def reach(
        self, table_id: str, direction: Direction, depth: int = DEPTH, most: int = MOST_TABLES
    ) -> list[Reached]:
        """Return the tables that lead to one, or that it leads to, nearest first.

        Args:
            table_id: Where to begin; it is not among them, whatever circles there are.
            direction: Which way.
            depth: How many steps, at least one.
            most: How many tables; further ones are left out.
        """
        seen, waiting, found = {table_id}, deque([(table_id, 0)]), list[Reached]()
        while waiting and len(found) < most:
            here, steps = waiting.popleft()
            if steps >= depth:
                break
            for edge in self.edges(here, direction):
                there = other_end(edge, direction)
                if there not in seen and len(found) < most:
                    seen.add(there)
                    found.append(Reached(there, steps + 1, edge))
                    waiting.append((there, steps + 1))
        return found


_KINDS = list(EdgeKind)


def _rank(edge: Edge) -> tuple[bool, bool, int]:
    return not edge.derives, not edge.columns, _KINDS.index(edge.kind)


def other_end(edge: Edge, direction: Direction) -> str:
    """Return the table that an edge leads to."""
    return edge.upstream if direction is Direction.UPSTREAM else edge.downstream


def without_circles(upstream: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """Return what each table is built from, without the edges that lie on a circle.

    Dagster loads no definitions of which one depends on itself, be it over others. Which edge of a
    circle is the wrong one nobody can tell, so all go (Tarjan 1972: two tables are on a circle if
    they are in one strongly connected component).
    """
    component = {
        table_id: number
        for number, tables in enumerate(_components({t: sorted(u) for t, u in upstream.items()}))
        for table_id in tables
    }
    kept = {
        table_id: tuple(
            sorted({one for one in others if component.get(one) != component[table_id]})
        )
        for table_id, others in upstream.items()
    }
    return {table_id: others for table_id, others in kept.items() if others}


def _components(graph: Mapping[str, list[str]]) -> Iterator[list[str]]:
    """Yield the strongly connected components; without recursion, as chains may be long."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    on_stack: set[str] = set()
    stack: list[str] = []
    for root in graph:
        if root in index:
            continue
        work: list[tuple[str, Iterator[str]]] = [(root, iter(graph.get(root, ())))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, others = work[-1]
            other = next(others, None)
            if other is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    found = [stack.pop()]
                    while found[-1] != node:
                        found.append(stack.pop())
                    on_stack.difference_update(found)
                    yield found
            elif other not in index:
                index[other] = low[other] = len(index)
                stack.append(other)
                on_stack.add(other)
                work.append((other, iter(graph.get(other, ()))))
            elif other in on_stack:
                low[node] = min(low[node], index[other])
