"""Two tables that can be joined, and by which columns."""

from dataclasses import dataclass
from enum import StrEnum


class JoinKind(StrEnum):
    """Who says that two tables can be joined; the earlier is believed before the later."""

    PERSON = "person"
    """Somebody who confirmed it."""
    DECLARED = "declared"
    """A foreign key of the source."""
    VIEW = "view"
    """A query that joins them so."""
    INFERRED = "inferred"
    """Names, types and cells of both columns (`inferring`)."""


_BELIEVED = tuple(JoinKind)

On = tuple[str, tuple[str, ...], str, tuple[str, ...]]
"""What is joined: a table, its columns, another table, and what of it they hold."""


@dataclass(frozen=True, slots=True)
class JoinEdge:
    """Columns of a table that hold the key of another one.

    Attributes:
        table: The table that refers.
        columns: Its columns.
        other: The table that is referred to.
        other_columns: What they hold, in the same order.
        kind: Who says so.
        score: How sure that is, from 0 to 1.
        share: Of the different cells, the share that the other column has; None where not told.
    """

    table: str
    columns: tuple[str, ...]
    other: str
    other_columns: tuple[str, ...]
    kind: JoinKind
    score: float
    share: float | None = None

    @property
    def tables(self) -> tuple[str, str]:
        """Both tables, in the order of their ids."""
        return (self.table, self.other) if self.table < self.other else (self.other, self.table)

    @property
    def on(self) -> On:
        """What is joined, whoever says so."""
        return self.table, self.columns, self.other, self.other_columns

    @property
    def equal(self) -> frozenset[tuple[str, str]]:
        """Which columns are equal, those of the table with the lower id first."""
        mine, theirs = self.columns, self.other_columns
        first, second = (mine, theirs) if self.table < self.other else (theirs, mine)
        return frozenset(zip(first, second, strict=True))

    def turned(self) -> "JoinEdge":
        """Return the join as if the other table referred to this one; its share is not told."""
        return JoinEdge(*self.on[2:], *self.on[:2], self.kind, self.score)

    @property
    def is_guess(self) -> bool:
        """Whether nobody said so: neither a person nor the source nor a view."""
        return self.kind is JoinKind.INFERRED

    @property
    def doubt(self) -> tuple[int, float, On]:
        """Orders joins, those first that are believed before others."""
        return _BELIEVED.index(self.kind), -self.score, self.on
