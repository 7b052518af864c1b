"""The scopes of a query: what it is made of, and what can be named in each."""

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope

from pneuma_assets.core.lineage.columns.effort import Effort
from pneuma_assets.core.lineage.columns.expressions import Input, aliases_of, is_named, table_name
from pneuma_assets.core.lineage.names import TableName


class Scopes:
    """The scopes of one query; to go through them is to meet each after those that it reads."""

    def __init__(self, query: exp.Query, effort: Effort) -> None:
        self._effort = effort
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
            if not _is_own(scope, node) and is_named(node)
        )
        return list(dict.fromkeys(found))

    def visible_in(self, scope: Scope) -> dict[str, Input]:
        """Return what a scope reads, by the names that columns can have before theirs."""
        found = {name: source for name, (_, source) in scope.selected_sources.items()}
        self._effort.look(1 + len(found))
        if isinstance(scope.expression, exp.UDTF):
            return {**scope.lateral_sources, **found}
        for name, source in scope.sources.items():  # what a SEMI JOIN reads can be named in it
            if name in scope.semi_or_anti_join_tables:
                found.setdefault(name, source)
        return found

    def alias_for(self, scope: Scope, column: exp.Column) -> exp.Expr | None:
        """Return the earlier column of the same SELECT that a name means, where the engine may."""
        expression = scope.expression
        key = id(expression)
        if key not in self._aliases:
            self._aliases[key] = aliases_of(expression)
        place, alias = self._aliases[key].get(column.name, (0, None))
        if alias is None:
            return None
        own: exp.Expr | None = column
        while own is not None and own.parent is not expression:
            self._effort.look(1)
            own = own.parent
        is_later = own is not None and own.arg_key == "expressions" and place >= (own.index or 0)
        return None if is_later else alias


def _is_own(scope: Scope, node: exp.Table) -> bool:
    """Tell whether a name means a query that the query itself names."""
    return isinstance(scope.sources.get(node.alias_or_name), Scope) and not node.db
