"""Joins between tables, and how they connect a set of tables (Octopus, section 4.3)."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter


class JoinKind(StrEnum):
    """Who says that two tables can be joined; the earlier is believed before the later."""

    PERSON = "person"
    """Somebody who confirmed it."""
    DECLARED = "declared"
    """A foreign key of the source."""
    VIEW = "view"
    """A query that joins them so."""
    INFERRED = "inferred"
    """Names, types and cells of both columns (`infer_joins`)."""
    DOMAIN = "domain"
    """Cells of both columns alone: the same domain of values, and no key (`shared_domains`)."""


_BELIEVED = tuple(JoinKind)

On = tuple[str, tuple[str, ...], str, tuple[str, ...]]
"""What is joined: a table, its columns, another table, and what of it they hold."""


@dataclass(frozen=True, slots=True)
class JoinEdge:
    """Columns of a table that hold `other_columns` of another one, in order: its key (`is_key`).

    `kind` says who says so, and `score` how sure that is, from 0 to 1. `share` is that of the
    different cells that the other column has; None where not told.
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
        return self.kind in {JoinKind.INFERRED, JoinKind.DOMAIN}

    @property
    def is_key(self) -> bool:
        """Whether the other columns are said to be a key; a shared domain of values is none."""
        return self.kind is not JoinKind.DOMAIN

    def way(self, *, refers: bool) -> str:
        """Return what its table does with the other one; False: the other one with its table."""
        if not self.is_key:
            return "shares values with"
        return "refers to" if refers else "is referred to by"

    @property
    def doubt(self) -> tuple[int, float, On]:
        """Orders joins, those first that are believed before others."""
        return _BELIEVED.index(self.kind), -self.score, self.on


Group = frozenset[str]

MOST_WAYS = 8
"""Of joining two tables: what has more is a list of codes, and a prompt has little room."""


class JoinGraph:
    """Tables and the joins between them; of several between two tables the most certain first.

    Sets grow along keys; a shared domain makes no neighbours, and joins what nothing else does.
    """

    def __init__(self, edges: Iterable[JoinEdge]) -> None:
        self._between: dict[tuple[str, str], JoinEdge] = {}
        self._besides: dict[tuple[str, str], list[JoinEdge]] = {}
        self._near: dict[str, set[str]] = defaultdict(set)
        for edge in edges:
            if edge.table == edge.other:
                continue  # a table joined with itself adds no table
            known = self._between.get(edge.tables)
            if known is None:
                self._between[edge.tables] = edge
            else:
                surer, weaker = sorted((known, edge), key=attrgetter("doubt"))
                self._between[edge.tables] = surer
                self._besides.setdefault(edge.tables, []).append(weaker)
            for one, other in (edge.tables, edge.tables[::-1]) if edge.is_key else ():
                self._near[one].add(other)

    @property
    def tables(self) -> AbstractSet[str]:
        """The tables that can be joined with any."""
        return self._near.keys()

    def neighbours(self, table: str) -> AbstractSet[str]:
        """Return the tables that can be joined with a table."""
        return self._near.get(table, frozenset())

    def between(self, one: str, other: str) -> JoinEdge | None:
        """Return how two tables are joined, most surely; None if they are not."""
        return self._between.get((one, other) if one < other else (other, one))

    def linking(self, tables: Collection[str]) -> set[str]:
        """Return other tables that join two of these, or more."""
        near: dict[str, int] = defaultdict(int)
        for table in tables:
            for other in self.neighbours(table):
                near[other] += 1
        return {table for table, count in near.items() if count > 1} - {*tables}

    def beyond_guesses(self, group: Collection[str], most: int) -> Group:
        """Return a set with the tables by which what it joins by guesses is joined as was said.

        The set itself where it has no guess, nothing said connects these tables, or the set would
        have more than `most` tables.
        """
        guesses = [edge for edge in self.tree(sorted(group)) if edge.is_guess]
        paths = [self._said_path(*edge.tables, most - len(group)) for edge in guesses]
        wider = frozenset(group).union(*paths)
        return wider if len(wider) <= most else frozenset(group)

    def _said_path(self, one: str, other: str, most: int) -> Sequence[str]:
        """Return the fewest tables, up to `most`, by which two are joined as was said; or none.

        What two tables both refer to, a country say, does not join them: it pairs each row of one
        with all of the other that share it.
        """
        ends: dict[tuple[str, bool], tuple[str, ...]] = {(one, False): ()}
        ways = dict(ends)  # by where they end, and whether that was referred to
        while ends:
            ends = {
                (near, edge.table == at): (*between, near)
                for (at, referred), between in ends.items()
                for near in sorted(self.neighbours(at))
                if len(between) <= most
                and (edge := self.between(at, near)) is not None
                and not edge.is_guess
                and not (referred and edge.other == at)
                and (near, edge.table == at) not in ways
            }
            if found := next(
                (ends[at] for at in ((other, True), (other, False)) if at in ends), ()
            ):
                return found[:-1]
            ways |= ends
        return ()

    def tree(self, group: Sequence[str]) -> tuple[JoinEdge, ...]:
        """Return the surest joins that connect a set, one fewer than it has tables, best first.

        Fewer where they do not connect all of it.
        """
        inside = sorted(
            (
                edge
                for at, one in enumerate(group)
                for other in group[at + 1 :]
                if (edge := self.between(one, other)) is not None
            ),
            key=attrgetter("doubt"),
        )
        part = {table: table for table in group}
        kept = []
        for edge in inside:
            one, other = part[edge.table], part[edge.other]
            if one != other:
                kept.append(edge)
                part = {table: one if of == other else of for table, of in part.items()}
        return tuple(kept)

    def joins(self, group: Sequence[str]) -> tuple[JoinEdge, ...]:
        """Return the joins of `tree`, behind each those of its two tables by other columns."""
        return tuple(way for edge in self.tree(group) for way in self._ways(edge))

    def _ways(self, surest: JoinEdge) -> Iterator[JoinEdge]:
        """Yield a join and those beside it that do not equate the same columns, or some of them."""
        known: list[frozenset[tuple[str, str]]] = []
        besides = sorted(self._besides.get(surest.tables, ()), key=attrgetter("doubt"))
        for edge in (surest, *besides):
            equal = edge.equal
            if not any(equal <= other or other <= equal for other in known):
                known.append(equal)
                yield edge
            if len(known) == MOST_WAYS:
                return
