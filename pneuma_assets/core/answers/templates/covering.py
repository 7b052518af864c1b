"""Which tables of a set a question needs, and which of several columns is meant."""

from collections.abc import Sequence
from itertools import combinations

from pneuma_assets.core.answers.tables import AnswerSet
from pneuma_assets.core.answers.templates.fields import Field, Kind
from pneuma_assets.core.answers.templates.mentions import NameSpan, Option
from pneuma_assets.core.answers.templates.plan import NoPlanError
from pneuma_assets.core.answers.templates.sentence import Reading
from pneuma_assets.core.answers.templates.ways import ways_of
from pneuma_assets.core.joins.edges import JoinEdge

_SMALLER = 0.3
"""What a table more costs against names that fit better."""
_RANK = 0.01
"""What it costs that a table ranks one place lower."""
_NAMED = 0.9
"""How well a name fits a table that is surely meant."""


class Cover:
    """The fewest tables in which all that was read is found.

    Attributes:
        within: Their places in the set.
        places: The place of each table in the set.
        ways: The joins of each two tables, the surest first.
    """

    def __init__(self, reading: Reading, tables: AnswerSet) -> None:
        """Choose the tables; raises `NoPlanError` where none that are joined have everything."""
        self._reading = reading
        self._tables = tables
        self.ways = ways_of(tables)
        self.places = {one.table_id: place for place, one in enumerate(tables.tables)}
        self.within = self._chosen()
        self._edges = self.tree(self.within) or ()

    def _chosen(self) -> frozenset[int]:
        spans, values = self._spans(), self._reading.values
        best: tuple[float, frozenset[int]] | None = None
        places = range(len(self._tables.tables))
        for some in (one for size in places for one in combinations(places, size + 1)):
            within = frozenset(some)
            fits = [self._fit(span, within) for span in spans]
            fits += [float(any(p.table in within for p in v.places)) for v in values]
            tree = None if 0.0 in fits else self.tree(within)
            if tree is None:
                continue
            score = sum(fits) - _SMALLER * (1 + len(tree)) - _RANK * sum(some)
            if best is None or score > best[0]:
                best = score, within
        if best is None:
            raise NoPlanError("no table, nor several that join, has all that it names")
        return best[1]

    def _spans(self) -> list[NameSpan]:
        one = self._reading
        some = [*one.groups, *one.shown, *one.context, *one.truths, one.measured, one.ordered]
        some += [compared.name for compared in one.compared]
        return [span for span in some if span is not None]

    def _fit(self, span: NameSpan, within: frozenset[int]) -> float:
        """Return how well some tables have what is named; who asks which, means the table."""
        some = [one for one in span.options if one.table.place in within]
        best = max((one.fit for one in some), default=0.0)
        if span in self._reading.shown and _names_table(span.options) and not _names_table(some):
            return best / 2
        return best

    def reached(self) -> list[int]:
        """Return the places of the tables that are read, also those that only join others."""
        joined = {self.places[one] for edge in self._edges for one in edge.tables}
        return sorted(joined | self.within)

    def referring(self) -> set[int]:
        """Return the places of the tables that are read and refer to others."""
        return {self.places[edge.table] for edge in self._edges}

    def tree(self, within: frozenset[int]) -> tuple[JoinEdge, ...] | None:
        """Return the joins that connect some tables, others between them; None where none do."""
        if len(within) == 1:
            return ()
        places = self.places
        edges = [some[0] for some in self.ways.values()]
        while loose := [edge for edge in edges if self._ends(edge, edges, within)]:
            edges = [edge for edge in edges if edge not in loose]
        reached = {min(within)}
        for _ in edges:
            for edge in edges:
                ends = {places[table] for table in edge.tables}
                if len(ends & reached) == 1:
                    reached |= ends
        kept = tuple(edge for edge in edges if places[edge.table] in reached)
        return kept if within <= reached else None

    def _ends(self, edge: JoinEdge, edges: Sequence[JoinEdge], within: frozenset[int]) -> bool:
        """Tell whether a join leads to a table that nothing needs."""
        ends = [table for one in edges for table in one.tables]
        return any(
            ends.count(table) == 1 and self.places[table] not in within for table in edge.tables
        )

    def option(self, span: NameSpan) -> Option:
        """Return what is meant by a name: of what fits alike, a table before a column."""
        return max(
            (one for one in span.options if one.table.place in self.within),
            key=lambda one: (
                one.fit,
                one.field is None,
                one.field.matched if one.field else 0.0,
                -one.table.place,
            ),
        )

    def shown(self, span: NameSpan) -> tuple[Field, ...]:
        """Return the columns by which people know what is named."""
        option = self.option(span)
        return option.table.shown if option.field is None else (option.field,)

    def measure(self, span: NameSpan) -> Field:
        """Return the column of which a number is told; raises `NoPlanError` if there is none."""
        some = [
            (one.fit, one.field)
            for one in span.options
            if one.table.place in self.within and one.field is not None and _is_measure(one.field)
        ]
        if not some:
            raise NoPlanError("what is to be computed or compared has no number and no day")
        return max(some, key=lambda one: one[0])[1]


def _is_measure(one: Field) -> bool:
    return one.kind in {Kind.NUMBER, Kind.DATE, Kind.TIME} and not one.is_key


def _names_table(options: Sequence[Option]) -> bool:
    return any(one.field is None and one.fit > _NAMED for one in options)
