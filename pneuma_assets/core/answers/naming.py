"""Whose the columns of a statement are, and how they are spelled there."""

from collections.abc import Sequence
from itertools import chain

from sqlglot import exp

from pneuma_assets.core.answers.outputs import spelling_of
from pneuma_assets.core.answers.refusing import Guard, ReadTable, refuse
from pneuma_assets.core.answers.relations import (
    Found,
    Relation,
    unknown_column,
    unknown_relation,
)

_OF_ENGINES = frozenset({"oid", "tableoid", "xmin", "cmin", "xmax", "cmax", "ctid", "rowid"})
"""Columns that engines have of every table."""

Outer = tuple[Sequence[Relation], ...]
"""What the queries around a subquery select from, the nearest first."""


class Columns:
    """Finds columns of what may be read, and notes in `found` what is read."""

    def __init__(self, found: Found, tables: Sequence[ReadTable], dialect: str) -> None:
        self._found = found
        self._tables = tables
        self._bare = dialect == "postgres"

    def using(self, name: exp.Expr, relations: Sequence[Relation]) -> None:
        """Find a column of USING; raises `SqlRefusedError` where nothing has it."""
        owned = [self._owned(name, one) for one in relations]  # it is read of each that has it
        if not any(owned):
            unknown_column(name.name, relations, self._tables)

    def natural(
        self, before: Sequence[Relation], added: Sequence[Relation]
    ) -> list[tuple[Relation, ...]]:
        """Note that the columns are read that both sides have in common; return whose each is.

        Args:
            before: What stands before NATURAL JOIN.
            added: What it adds; several where that is in parentheses.
        """
        linked = []
        for name in dict.fromkeys(name.lower() for one in added for name in one.output.names):
            sides = [
                [(one, spelled) for one in side if (spelled := one.column(name))]
                for side in (before, added)
            ]
            owners = [*chain(*sides)] if all(sides) else []
            for relation, spelled in owners:
                self.read(relation, spelled)
            linked.append(tuple(relation for relation, _ in owners))
        return linked

    def _owned(self, node: exp.Expr, relation: Relation) -> bool:
        """Tell whether a relation has the column that is named, and spell it as that does."""
        spelled = relation.column(node.name)
        if spelled is None:
            return False
        name = node.this if isinstance(node, exp.Column) else node
        name.set("this", spelled)
        self._found.seen.add(id(node))
        self.read(relation, spelled)
        return True

    def read(self, relation: Relation, column: str) -> None:
        """Note that a column is read, if it is a table's."""
        table = relation.table
        if table is not None and column in table.columns:
            self._found.columns.setdefault((table.name, column))

    def column(
        self,
        node: exp.Column,
        relations: Sequence[Relation],
        aliases: Sequence[str],
        outer: Outer,
        aliases_first: bool,
    ) -> None:
        """Find one column, and spell it as it is kept.

        Args:
            node: It.
            relations: What its query selects from.
            aliases: What that calls its results.
            outer: What the queries around it select from.
            aliases_first: Whether a result is meant before a column (ORDER BY).

        Raises:
            SqlRefusedError: It is unknown, or hidden.
        """
        self._found.seen.add(id(node))
        alias = self._result_named(node, aliases, (relations, *outer))
        if alias is not None and (aliases_first or not any(r.column(node.name) for r in relations)):
            node.this.set("this", alias)
            return
        node.set("db", None)  # The schema of a table that FROM has named.
        if node.args.get("catalog"):
            refuse(Guard.COLUMN, f"{node.sql()[:60]!r} has too many parts; name table and column")
        for around in (relations, *outer):
            for relation in around:
                if node.table and relation.name.lower() != node.table.lower():
                    continue
                if isinstance(node.this, exp.Star) or self._owned(node, relation):
                    self._belongs(node, relation)
                    return
                if node.table:
                    unknown_column(node.name, [relation], self._tables)
        known = [relation for around in (relations, *outer) for relation in around]
        if not node.table:
            unknown_column(node.name, known, self._tables)
        self._field(node, known)

    def _result_named(
        self, node: exp.Column, aliases: Sequence[str], around: Sequence[Sequence[Relation]]
    ) -> str | None:
        """Return the result that a name may mean, as it is spelled.

        None is meant where the name is also that of something which an engine would rather read: a
        whole row, a column of its own, or one that rules of privacy hide; nor within what is
        computed in PostgreSQL's ORDER BY.
        """
        if self._bare and not isinstance(node.parent, exp.Ordered | exp.Group):
            return None
        name = node.name.lower()
        rows = {relation.name.lower() for some in around for relation in some}
        hidden = {one.lower() for table in self._tables for one in table.hidden}
        if node.table or name in _OF_ENGINES or name in rows or name in hidden:
            return None
        return spelling_of(node.name, aliases)

    def _field(self, node: exp.Column, known: Sequence[Relation]) -> None:
        """Find the column of which a field is named (`column.field`)."""
        for relation in known:
            spelled = relation.column(node.table)
            if spelled is not None:
                node.args["table"].set("this", spelled)
                self.read(relation, spelled)
                self._found.owners[id(node)] = relation
                return
        unknown_relation(node.table, known)

    def _belongs(self, node: exp.Column, relation: Relation) -> None:
        self._found.owners[id(node)] = relation
        if node.table:
            node.args["table"].set("this", relation.name)
        if isinstance(node.this, exp.Star):
            for name in relation.output.names:
                self.read(relation, name)
