"""What a column's name means where it stands in a query."""

from collections.abc import Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from pneuma_assets.core.lineage.columns.effort import Effort
from pneuma_assets.core.lineage.columns.expressions import (
    Input,
    columns_in,
    merged_columns,
    queries_in,
)
from pneuma_assets.core.lineage.columns.inputs import Inputs
from pneuma_assets.core.lineage.columns.output import NOTHING, Source, Sources
from pneuma_assets.core.lineage.columns.scopes import Scopes
from pneuma_assets.core.lineage.columns.tables import Tables


class Meaning:
    """Tells which columns of tables an expression, or a name in it, stands for."""

    def __init__(self, scopes: Scopes, inputs: Inputs, tables: Tables, effort: Effort) -> None:
        self._scopes = scopes
        self._inputs = inputs
        self.key = tables.key
        """Returns what a column of a name is known by."""
        self._effort = effort

    def of_expression(self, scope: Scope, expression: exp.Expr) -> Sources:
        """Return all that an expression is computed of, the columns of queries in it, too."""
        found: set[Source] = set()
        for column in columns_in(expression):
            found |= self.of_column(scope, column)
        for query in queries_in(expression):
            below = self._scopes.of(query)
            if below is not None:
                for output in self._inputs.outputs(below):
                    found |= output.sources
        self._effort.spend(1 + len(found))
        return frozenset(found)

    def of_column(self, scope: Scope, column: exp.Column) -> Sources:
        """Return what a column's name means in a scope, or in those around it."""
        name, table = self.key(column.name), column.text("table")
        at: Scope | None = scope
        while at is not None:
            found = self._in(at, self._scopes.visible_in(at), table, name, column)
            if found is not None:
                self._effort.spend(1)
                return found
            at = at.parent
        return NOTHING

    def of_input(self, given: Input, name: str) -> Sources:
        """Return what the column of that name comes from, of a table or query that is read."""
        found = self._inputs.sources_of(given, name)
        if found is not None:
            return found
        return self.of_rows(given) if isinstance(given, Scope) else self._of_arguments(given)

    def of_rows(self, scope: Scope) -> Sources:
        """Return all that goes into a function that makes rows: UNNEST, EXPLODE and their like."""
        found: set[Source] = set()
        for column in columns_in(scope.expression):
            found |= self.of_column(scope, column)
        return frozenset(found)

    def _of_arguments(self, function: exp.Table) -> Sources:
        """Return all that goes into a function that stands in a table's place."""
        found: set[Source] = set()
        at = self._scopes.holder_of(function)
        for column in columns_in(function.this) if at is not None else ():
            if at is not None and column.text("table") != function.alias_or_name:
                found |= self.of_column(at, column)
        return frozenset(found)

    def _in(
        self,
        scope: Scope,
        visible: Mapping[str, Input],
        table: str,
        name: str,
        column: exp.Column,
    ) -> Sources | None:
        """Return what a name means in one scope; None if nothing there has it."""
        if table in visible and table:
            return self.of_input(visible[table], name)
        if table:  # a field of a column of that name: column.field, table.column.field
            database = column.text("db")
            if database in visible and database:
                return self.of_input(visible[database], self.key(table))
            name = self.key(table)
        held = self._held(scope, visible, name)
        if held is not None:
            return held
        if not table and column.name in visible:  # a whole row
            row = self._inputs.outputs(visible[column.name])
            return frozenset().union(*(one.sources for one in row))
        alias = None if table else self._scopes.alias_for(scope, column)
        if alias is not None:
            return self.of_expression(scope, alias)
        unknown = [one for one in visible.values() if self._inputs.is_open(one)]
        return self.of_input(unknown[0], name) if len(unknown) == 1 and not table else None

    def _held(self, scope: Scope, visible: Mapping[str, Input], name: str) -> Sources | None:
        """Return the column of that name of what is known to have it."""
        if name in (merged := self._merged_in(scope, visible)):
            return merged[name]
        holders = (one for one in visible.values() if name in self._inputs.names_of(one))
        holder = next(holders, None)
        return None if holder is None else self.of_input(holder, name)

    def _merged_in(self, scope: Scope, visible: Mapping[str, Input]) -> Mapping[str, Sources]:
        """Return what USING and NATURAL make one of: of an outer join either side may be it."""
        joins = scope.expression.args.get("joins") or []
        self._effort.look(len(joins))
        names = set(merged_columns(scope, self.key, self._inputs.names_of, visible))
        outer = any(join.side in ("FULL", "RIGHT") for join in joins)
        found: dict[str, Sources] = {}
        for name in names:
            having = (one for one in visible.values() if self._inputs.has(one, name))
            holders = [self.of_input(one, name) for one in having]
            if holders:
                found[name] = frozenset().union(*holders) if outer else holders[0]
        return found
