"""What a column's name means where it stands in a query, and what is read there has."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from pneuma_assets.core.lineage.names import TableName, column_key
from pneuma_assets.core.lineage.scopes import (
    NOTHING,
    Budget,
    ColumnsOf,
    Output,
    Relation,
    Scopes,
    Source,
    Sources,
    columns_in,
    is_named,
    queries_in,
    table_name,
    using,
)

Outputs = Callable[[Scope], tuple[Sequence[Output], bool]]
"""Gives the columns of a scope, and whether these are all: a recursive one reads what it makes."""


class Relations:
    """The columns of what a scope reads, be that a table or a query in a table's place.

    Args:
        dialect: What sqlglot calls the SQL.
        columns_of: Asked once for each table.
        outputs: Tells the columns of scopes.
        budget: Counts what is looked at.
    """

    def __init__(
        self, dialect: str, columns_of: ColumnsOf, outputs: Outputs, budget: Budget
    ) -> None:
        self._dialect, self._columns_of = dialect, columns_of
        self._outputs_of, self._budget = outputs, budget
        self._columns: dict[TableName, Sequence[str] | None] = {}
        self._by_name: dict[object, Mapping[str, Sources]] = {}

    def key(self, name: str) -> str:
        """Return what a column of that name is known by."""
        return column_key(name, self._dialect)

    def outputs(self, given: Relation) -> Sequence[Output]:
        """Return all columns that are known."""
        if isinstance(given, Scope):
            return self._outputs_of(given)[0]
        named, columns = table_name(given), self._columns_in(given) or ()
        self._budget.look(len(columns))
        listed = [self.key(one) for one in given.alias_column_names]
        names = [*listed, *columns[len(listed) :]]
        return [
            Output(name, frozenset({(named, column)}))
            for name, column in zip(names, columns, strict=False)
        ]

    def names_of(self, given: Relation) -> Collection[str]:
        """Return the names of all columns that are known."""
        return self._named(given).keys()

    def sources_of(self, given: Relation, name: str) -> Sources | None:
        """Return what a column comes from; None where a function makes it, of what it is given."""
        if isinstance(given, exp.Table) and not is_named(given):
            return None
        found = self._named(given).get(name)
        if found is not None or not self.is_open(given):
            return found or NOTHING
        if isinstance(given, Scope):
            return None
        return frozenset({(table_name(given), name)})

    def is_open(self, given: Relation) -> bool:
        """Tell whether there may be columns that nobody knows of."""
        if isinstance(given, Scope):
            expression = given.expression
            return isinstance(expression, exp.UDTF) and not isinstance(expression, exp.Values)
        return self._columns_in(given) is None

    def _named(self, given: Relation) -> Mapping[str, Sources]:
        """Return columns by name, of several of one name the first."""
        self._budget.look(1)
        complete, key = True, object()
        if isinstance(given, Scope):
            complete, key = self._outputs_of(given)[1], id(given.expression)
        elif given.alias_column_names:
            key = id(given)
        else:
            key = table_name(given), is_named(given)
        if not complete or key not in self._by_name:
            outputs = self.outputs(given)
            self._budget.look(len(outputs))
            found: dict[str, Sources] = {}
            for one in outputs:
                found.setdefault(one.name, one.sources)
            if not complete:
                return found
            self._by_name[key] = found
        return self._by_name[key]

    def _columns_in(self, table: exp.Table) -> Sequence[str] | None:
        if not is_named(table):
            return None
        name = table_name(table)
        if name not in self._columns:
            self._columns[name] = self._columns_of(name)
        return self._columns[name]


class ColumnResolver:
    """Tells which columns of tables an expression, or a name in it, stands for."""

    def __init__(self, scopes: Scopes, relations: Relations, budget: Budget) -> None:
        self._scopes, self._relations, self._budget = scopes, relations, budget

    def of_expression(self, scope: Scope, expression: exp.Expr) -> Sources:
        """Return all that an expression is computed of, the columns of queries in it, too."""
        found = set(self._of_columns(scope, expression))
        for query in queries_in(expression):
            below = self._scopes.of(query)
            if below is not None:
                for output in self._relations.outputs(below):
                    found |= output.sources
        self._budget.spend(1 + len(found))
        return frozenset(found)

    def of_column(self, scope: Scope, column: exp.Column) -> Sources:
        """Return what a column's name means in a scope, or in those around it."""
        name, table = self._relations.key(column.name), column.text("table")
        at: Scope | None = scope
        while at is not None:
            found = self._in(at, self._scopes.visible_in(at), table, name, column)
            if found is not None:
                self._budget.spend(1)
                return found
            at = at.parent
        return NOTHING

    def of_relation(self, given: Relation, name: str) -> Sources:
        """Return what the column of that name comes from, of a table or query that is read."""
        found = self._relations.sources_of(given, name)
        if found is not None:
            return found
        return self.of_rows(given) if isinstance(given, Scope) else self._of_arguments(given)

    def of_rows(self, scope: Scope) -> Sources:
        """Return all that goes into a function that makes rows: UNNEST, EXPLODE and their like."""
        return self._of_columns(scope, scope.expression)

    def merged_names(self, scope: Scope, visible: Mapping[str, Relation]) -> Iterator[str]:
        """Yield the columns that USING and NATURAL make one of."""
        yield from map(self._relations.key, using(scope.expression))
        joins = scope.expression.args.get("joins") or []
        if any(join.method == "NATURAL" for join in joins):
            seen: set[str] = set()
            for source in visible.values():
                names = set(self._relations.names_of(source))
                yield from seen & names
                seen |= names

    def _of_columns(self, scope: Scope, expression: exp.Expr) -> Sources:
        found: set[Source] = set()
        for column in columns_in(expression):
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
        visible: Mapping[str, Relation],
        table: str,
        name: str,
        column: exp.Column,
    ) -> Sources | None:
        """Return what a name means in one scope; None if nothing there has it."""
        if table in visible and table:
            return self.of_relation(visible[table], name)
        if table:  # a field of a column of that name: column.field, table.column.field
            database = column.text("db")
            if database in visible and database:
                return self.of_relation(visible[database], self._relations.key(table))
            name = self._relations.key(table)
        found = self._merged_in(scope, visible).get(name)
        having = (one for one in visible.values() if name in self._relations.names_of(one))
        if found is None and (holder := next(having, None)) is not None:
            found = self.of_relation(holder, name)
        if found is not None:
            return found
        if not table and column.name in visible:  # a whole row
            row = self._relations.outputs(visible[column.name])
            return frozenset().union(*(one.sources for one in row))
        alias = None if table else self._scopes.alias_for(scope, column)
        if alias is not None:
            return self.of_expression(scope, alias)
        unknown = [one for one in visible.values() if self._relations.is_open(one)]
        return self.of_relation(unknown[0], name) if len(unknown) == 1 and not table else None

    def _merged_in(self, scope: Scope, visible: Mapping[str, Relation]) -> Mapping[str, Sources]:
        """Return what USING and NATURAL make one of: of an outer join either side may be it."""
        joins = scope.expression.args.get("joins") or []
        self._budget.look(len(joins))
        outer = any(join.side in ("FULL", "RIGHT") for join in joins)
        found: dict[str, Sources] = {}
        for name in set(self.merged_names(scope, visible)):
            holders = [
                self.of_relation(one, name)
                for one in visible.values()
                if name in self._relations.names_of(one) or self._relations.is_open(one)
            ]
            if holders:
                found[name] = frozenset().union(*holders) if outer else holders[0]
        return found
