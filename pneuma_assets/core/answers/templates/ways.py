"""By which of several columns two tables are joined: `flights to Paris`."""

from collections.abc import Iterable, Sequence

from pneuma_assets.core.answers.tables import AnswerSet
from pneuma_assets.core.answers.templates.fields import KEYS, Field
from pneuma_assets.core.answers.templates.names import Names
from pneuma_assets.core.answers.templates.plan import NoPlanError, Plan
from pneuma_assets.core.answers.templates.sentence import Reading
from pneuma_assets.core.answers.templates.values import ValueSpan
from pneuma_assets.core.answers.templates.words import Word
from pneuma_assets.core.evidence.fields import name_parts
from pneuma_assets.core.joins.edges import JoinEdge
from pneuma_assets.core.joins.words import singular

_PLAIN = 0.8
"""What is left of a draft that joins by `customer_id` where there is a `referrer_id`, too."""


def ways_of(tables: AnswerSet) -> dict[tuple[str, str], list[JoinEdge]]:
    """Return the joins of each two tables of a set, the surest first."""
    ids = {one.table_id for one in tables.tables}
    found: dict[tuple[str, str], list[JoinEdge]] = {}
    for edge in tables.joins:
        if ids.issuperset(edge.tables):
            found.setdefault(edge.tables, []).append(edge)
    return found


class Ways:
    """Chooses between joins of the same two tables, by the role in which a row is referred to.

    That is what the columns say beyond the other table and its key: `from` of `from_airport`,
    `manager` of `manager_id`; `airport_code` has none.
    """

    def __init__(
        self, reading: Reading, words: Sequence[Word], names: Names, tables: AnswerSet
    ) -> None:
        self._reading = reading
        self._words = words
        self._ids = [one.table_id for one in tables.tables]
        self._fields = {
            (self._ids[known.place], one.name): one
            for known in names.tables
            for one in known.fields
        }
        self._of_table = {
            one.table_id: {singular(part) for part in name_parts(one.read.name)}
            for one in tables.tables
        }

    def meant(self, ways: Sequence[JoinEdge], plan: Plan) -> JoinEdge:
        """Return the join that is meant; raises `NoPlanError` where nothing tells which.

        It is the one whose role stands before the only value that is looked up in the table
        referred to (`to Paris`), or else the only one without a role, if no other one is named.
        """
        if len(ways) == 1 and not self._is_opposed(ways[0], self._before(ways[0], plan)):
            return ways[0]
        roles = [(edge, self._role(edge)) for edge in ways]
        said = [edge for edge, role in roles if self._before(edge, plan) in role]
        if len(said) == 1:
            return said[0]
        plain = [edge for edge, role in roles if not role]
        others = [edge for edge, role in roles if role]
        if len(plain) != 1 or any(self._is_named(edge, plain[0]) for edge in others):
            raise NoPlanError("tables are joined in several ways, and nothing says by which")
        plan.doubt *= _PLAIN
        return plain[0]

    def _of(self, table_id: str, columns: Iterable[str]) -> list[Field]:
        """Return columns; raises `NoPlanError` where one is not among those looked at."""
        found = [self._fields.get((table_id, column)) for column in columns]
        known = [one for one in found if one is not None]
        if len(known) < len(found):
            raise NoPlanError("these tables have too many columns")
        return known

    def _role(self, edge: JoinEdge) -> set[str]:
        keys = self._of(edge.other, edge.other_columns)
        known = {part for one in keys for part in one.parts} | KEYS
        parts = {part for one in self._of(edge.table, edge.columns) for part in one.parts}
        return {one for one in parts - known if singular(one) not in self._of_table[edge.other]}

    def _is_opposed(self, edge: JoinEdge, said: str) -> bool:
        """Tell whether a word is the role of a like column that nothing joins: `to_airport`."""
        role = self._role(edge)
        mine = {part for one in self._of(edge.table, edge.columns) for part in one.parts}
        like = {said} | mine - role
        return said not in mine and any(
            table == edge.table and like == {*one.parts} for (table, _), one in self._fields.items()
        )

    def _is_named(self, edge: JoinEdge, plain: JoinEdge) -> bool:
        """Tell whether a question says what a join has and the plain one has not: `managers`."""
        stems, own = (
            {stem for one in self._of(e.table, e.columns) for stem in one.stems | one.of_table}
            for e in (edge, plain)
        )
        role = self._role(edge)
        return any(
            word.text in role or (stems - own).intersection(word.stems) for word in self._words
        )

    def _before(self, edge: JoinEdge, plan: Plan) -> str:
        """Return the word before the only value that is looked up in the table referred to.

        Nothing where more is read of that table, or of others through it: who can fly to Paris is
        not there.
        """
        far = self._ids.index(edge.other)
        read = [*plan.shown, *plan.groups, plan.measured, plan.order]
        beyond = any(edge.other in e.tables and e.tables != edge.tables for e in plan.joins)
        wanted = [c for c in plan.where if any(one.table == far for one in c.fields)]
        if beyond or len(wanted) != 1 or any(one and one.table == far for one in read):
            return ""
        values = [one for one in self._reading.values if _is_of(one, far, wanted[0].values)]
        return self._word_before(values[0]) if len(values) == 1 else ""

    def _word_before(self, value: ValueSpan) -> str:
        labels = {n for name, of in self._reading.labels if of is value for n in name.words}
        at = value.start - 1
        while at >= 0 and (at in labels or self._words[at].text == "the"):
            at -= 1
        return self._words[at].text if at >= 0 and not self._words[at].quoted else ""


def _is_of(value: ValueSpan, table: int, stored: Sequence[str]) -> bool:
    return any(place.table == table and place.stored in stored for place in value.places)
