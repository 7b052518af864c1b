"""What one table has to do with another."""

from dataclasses import dataclass
from enum import StrEnum

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
