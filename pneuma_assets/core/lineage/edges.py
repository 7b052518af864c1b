"""What one table has to do with another, and what is up- and downstream of it, however far."""

from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

MOST_COLUMN_PAIRS = 5_000
"""Pairs of columns of one edge; more say nothing that people could look at."""


class EdgeKind(StrEnum):
    """Who says that two tables belong together."""

    VIEW = "view"
    """The query of a view."""
    FOREIGN_KEY = "foreign_key"
    """A declared key: the downstream table refers to the upstream one, and is not built from it."""
    DAGSTER = "dagster"
    """The definition of a Dagster asset."""
    DBT = "dbt"
    """A dbt project."""
    OPENLINEAGE = "openlineage"
    """Events of runs, of whatever orchestrator."""
    DEPENDENCY = "dependency"
    """The engine's own view of dependencies."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One table is built from another, or refers to it.

    Attributes:
        upstream: The table that data comes from, or that a key refers to.
        downstream: The other one.
        kind: Who says so.
        columns: Pairs of an upstream and a downstream column, as the tables spell them, where
            that is known; sorted, at most `MOST_COLUMN_PAIRS`.
    """

    upstream: str
    downstream: str
    kind: EdgeKind
    columns: tuple[tuple[str, str], ...] = ()

    @property
    def derives(self) -> bool:
        """Whether the downstream table is built from the upstream one."""
        return self.kind is not EdgeKind.FOREIGN_KEY


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
    circle is the wrong one nobody can tell, so all go: those within one strongly connected
    component.
    """
    component = _components({table_id: sorted(others) for table_id, others in upstream.items()})
    kept = {
        table_id: tuple(
            sorted({one for one in others if component.get(one) != component[table_id]})
        )
        for table_id, others in upstream.items()
    }
    return {table_id: others for table_id, others in kept.items() if others}


def _components(graph: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return of each table one that stands for its strongly connected component (Kosaraju).

    Without recursion, as chains may be long.
    """
    seen: set[str] = set()
    finished: list[str] = []
    for root in graph:
        path = [] if root in seen else [(root, iter(graph[root]))]
        seen.add(root)
        while path:
            here, others = path[-1]
            there = next((one for one in others if one not in seen), None)
            if there is None:
                finished.append(path.pop()[0])
            else:
                seen.add(there)
                path.append((there, iter(graph.get(there, ()))))
    downstream: dict[str, list[str]] = {}
    for below_it, above in graph.items():
        for one in above:
            downstream.setdefault(one, []).append(below_it)
    found: dict[str, str] = {}
    for root in reversed(finished):
        waiting = [root]
        while waiting:
            here = waiting.pop()
            if here not in found:
                found[here] = root
                waiting += downstream.get(here, ())
    return found
