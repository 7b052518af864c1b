"""The scopes of a query: what each of them reads, and what can be named in it.

sqlglot finds the scopes; what a name means in one is found by `resolver`, and what a scope gives by
`columns`. sqlglot's own `lineage` follows each column by itself, through a common table expression
once for each way that leads there, and its `qualify` writes stars out: both take exponential time
over a chain of twenty expressions that each read the one before twice. Here each scope is looked at
once, and a budget counts what is looked at and passed on.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope, walk_in_scope

from pneuma_assets.core.lineage.names import TableName
from pneuma_assets.core.lineage.parse import UnreadableSQLError

MOST_SOURCES = 300_000
"""Columns passed from scope to scope in one query."""

MOST_LOOKS = 500_000
"""Columns, tables and joins looked at to tell what the names of one query mean."""

Relation = exp.Table | Scope
"""What a scope reads: a table, or a query that stands in a table's place."""

_TURNED = exp.Table()
"""What PIVOT or UNPIVOT makes: its columns are of other names and in other places."""

Source = tuple[TableName, str]
"""A table as the query names it, and the key of a column of it."""

Sources = frozenset[Source]

ColumnsOf = Callable[[TableName], Sequence[str] | None]
"""Returns the keys of a table's columns in order; None where the table is not known."""

NOTHING: Sources = frozenset()


@dataclass(frozen=True, slots=True)
class Output:
    """One column of a query, by key, and what it comes from."""

    name: str
    sources: Sources


class Budget:
    """What one query may ask of whoever reads it: its SQL is anybody's."""

    def __init__(self) -> None:
        self._spent = self._looked = 0

    def look(self, steps: int) -> None:
        """Count what is looked at; raises `UnreadableSQLError` beyond `MOST_LOOKS`."""
        self._looked += steps
        if self._looked > MOST_LOOKS:
            raise UnreadableSQLError("telling what its names mean takes too long")

    def spend(self, steps: int) -> None:
        """Count what is passed on; raises `UnreadableSQLError` beyond `MOST_SOURCES`."""
        self._spent += steps
        if self._spent > MOST_SOURCES:
            raise UnreadableSQLError(f"it passes on more than {MOST_SOURCES:,} columns")


class Scopes:
    """The scopes of one query; to go through them is to meet each after those that it reads."""

    def __init__(self, query: exp.Query, budget: Budget) -> None:
        self._budget = budget
        self._all = traverse_scope(query)
        self._by_expression = {id(scope.expression): scope for scope in self._all}
        self._aliases: dict[int, dict[str, tuple[int, exp.Expr]]] = {}
        self._holders: dict[int, Scope] | None = None

    def __iter__(self) -> Iterator[Scope]:
        """Iterate over all scopes, the outermost last."""
        return iter(self._all)

    def outermost(self) -> Scope | None:
        """Return the scope of the query itself; None where there is none."""
        return self._all[-1] if self._all else None

    def of(self, expression: exp.Expr) -> Scope | None:
        """Return the scope that an expression is; None if it is none."""
        return self._by_expression.get(id(expression))

    def holder_of(self, table: exp.Table) -> Scope | None:
        """Return the scope that reads a table."""
        if self._holders is None:
            self._holders = {id(table): one for one in self._all for table in one.tables}
        return self._holders.get(id(table))

    def tables(self) -> list[TableName]:
        """Return the tables that the query reads, in order, each once."""
        found = (
            table_name(node)
            for scope in self._all
            for node in scope.tables
            if is_named(node)
            and (node.db or not isinstance(scope.sources.get(node.alias_or_name), Scope))
        )
        return list(dict.fromkeys(found))

    def visible_in(self, scope: Scope) -> dict[str, Relation]:
        """Return what a scope reads, by the names that columns can have before theirs."""
        found = {
            name: _TURNED if node.args.get("pivots") else source
            for name, (node, source) in scope.selected_sources.items()
        }
        self._budget.look(1 + len(found))
        if isinstance(scope.expression, exp.UDTF):
            return {**scope.lateral_sources, **found}
        for name, source in scope.sources.items():  # what a SEMI JOIN reads can be named in it
            if name in scope.semi_or_anti_join_tables:
                found.setdefault(name, source)
        return found

    def alias_for(self, scope: Scope, column: exp.Column) -> exp.Expr | None:
        """Return the earlier column of the same SELECT that a name means, where the engine may."""
        expression = scope.expression
        known = self._aliases.get(id(expression))
        if known is None:
            known = self._aliases[id(expression)] = {}
            for place, one in enumerate(expression.args.get("expressions") or []):
                if isinstance(one, exp.Alias):
                    known.setdefault(one.alias, (place, one))
        if column.name not in known:
            return None
        place, alias = known[column.name]
        own: exp.Expr | None = column
        while own is not None and own.parent is not expression:
            self._budget.look(1)
            own = own.parent
        is_later = own is not None and own.arg_key == "expressions" and place >= (own.index or 0)
        return None if is_later else alias


def table_name(table: exp.Table) -> TableName:
    """Return what a query calls a table."""
    return TableName(table.catalog, table.db, table.name)


def is_named(table: exp.Table) -> bool:
    """Tell whether a table is called by a name, and is no function."""
    return isinstance(table.this, exp.Identifier)


def columns_in(expression: exp.Expr) -> Iterator[exp.Column]:
    """Yield the columns that an expression names, without those of queries in it."""
    for node in walk_in_scope(expression):
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            yield node


def queries_in(expression: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the queries that stand in an expression, outermost ones only."""
    for node in walk_in_scope(expression):
        if isinstance(node, exp.Query):
            yield node.unnest()


def star_of(projection: exp.Expr) -> exp.Star | None:
    """Return the star that a column of a SELECT is, with or without a table; None if it is none."""
    inner = projection.this if isinstance(projection, exp.Column) else projection
    return inner if isinstance(inner, exp.Star) else None


def using(expression: exp.Expr) -> Iterator[str]:
    """Yield the names in the USING of joins."""
    for join in expression.args.get("joins") or []:
        yield from (one.name for one in join.args.get("using") or [])


def listed_names(scope: Scope) -> Sequence[str]:
    """Return the names that a list behind an alias gives a scope's columns.

    That of a recursive expression names the columns of its first part.
    """
    if scope.outer_columns:
        return scope.outer_columns
    expression, node = scope.expression, scope.expression.parent
    while isinstance(node, exp.SetOperation | exp.Subquery):
        if node.args.get("this") is not expression and isinstance(node, exp.SetOperation):
            return []
        expression, node = node, node.parent
    return list(node.alias_column_names) if isinstance(node, exp.CTE) else []
