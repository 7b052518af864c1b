"""Which columns of which tables each column of a query comes from, scope by scope."""

from collections.abc import Iterable, Iterator, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from pneuma_assets.core.lineage.names import TableName
from pneuma_assets.core.lineage.query_joins import Join, JoinReader
from pneuma_assets.core.lineage.resolver import ColumnResolver, Relations
from pneuma_assets.core.lineage.scopes import (
    NOTHING,
    Budget,
    ColumnsOf,
    Output,
    Scopes,
    Source,
    Sources,
    columns_in,
    listed_names,
    star_of,
    using,
)


class ColumnReader:
    """Follows the columns of one query, whose identifiers are folded already."""

    def __init__(self, query: exp.Query, dialect: str, columns_of: ColumnsOf) -> None:
        self._dialect, self._budget = dialect, Budget()
        self._scopes = Scopes(query, self._budget)
        self._relations = Relations(dialect, columns_of, self._so_far, self._budget)
        self._key = self._relations.key
        self._resolver = ColumnResolver(self._scopes, self._relations, self._budget)
        self._done: dict[int, list[Output]] = {}
        self._running: dict[int, list[Output]] = {}

    def tables(self) -> list[TableName]:
        """Return the tables that the query reads, in order, each once."""
        return self._scopes.tables()

    def outputs(self) -> list[Output]:
        """Return the columns of the query.

        Raises:
            UnreadableSQLError: Too many columns are passed on in it.
        """
        for scope in self._scopes:  # each after those that it reads, so that nothing recurs deep
            self._outputs(scope)
        outermost = self._scopes.outermost()
        return [] if outermost is None else self._outputs(outermost)

    def used(self) -> Sources:
        """Return every column that the query reads, also to join, filter, group or order.

        Raises:
            UnreadableSQLError: As `outputs`.
        """
        found: set[Source] = set()
        for output in self.outputs():
            found |= output.sources
        for scope in self._scopes:
            for column in columns_in(scope.expression):
                found |= self._resolver.of_column(scope, column)
            for name in dict.fromkeys(using(scope.expression)):
                for given in self._scopes.visible_in(scope).values():
                    found |= self._resolver.of_relation(given, name)
        return frozenset(found)

    def joins(self) -> tuple[Join, ...]:
        """Return which columns of two tables the query says are equal.

        Raises:
            UnreadableSQLError: As `outputs`.
        """
        self.outputs()
        return JoinReader(
            self._scopes, self._resolver, self._relations, self._budget, self._dialect
        ).joins()

    def _so_far(self, scope: Scope) -> tuple[list[Output], bool]:
        outputs = self._outputs(scope)
        return outputs, id(scope.expression) in self._done

    def _outputs(self, given: Scope) -> list[Output]:
        scope = self._scopes.of(given.expression) or given
        key = id(scope.expression)
        if key in self._done:
            return self._done[key]
        if key in self._running:  # a recursive expression reads itself
            return self._running[key]
        self._running[key] = []
        found = self._named(scope, self._made_by(scope, key))
        del self._running[key]
        self._done[key] = found
        return found

    def _made_by(self, scope: Scope, key: int) -> list[Output]:
        if isinstance(scope.expression, exp.Select):
            return list(self._counted(self._of_select(scope)))
        return list(self._counted(self._of_other(scope, key)))

    def _counted(self, outputs: Iterable[Output]) -> Iterator[Output]:
        for one in outputs:
            self._budget.spend(1 + len(one.sources))
            yield one

    def _of_other(self, scope: Scope, key: int) -> Sequence[Output]:
        expression = scope.expression
        if isinstance(expression, exp.SetOperation):
            return self._of_set(scope, key)
        if isinstance(expression, exp.Table):
            return self._relations.outputs(expression)
        inner = [*scope.subquery_scopes, *scope.table_scopes]
        if isinstance(expression, exp.Subquery | exp.Lateral) and inner:
            return self._outputs(inner[-1])
        return []

    def _of_set(self, scope: Scope, key: int) -> list[Output]:
        """Columns of UNION and its like come from the same places of both sides."""
        if len(scope.set_operation_scopes) != 2:
            return []
        left, right = scope.set_operation_scopes
        first = self._outputs(left)
        self._running[key] = self._named(scope, first)  # what a recursive right side reads
        second = self._outputs(right)
        if scope.expression.args.get("by_name"):
            by_name = {one.name: one.sources for one in second}
            both = [Output(o.name, o.sources | by_name.get(o.name, NOTHING)) for o in first]
            names = {one.name for one in first}
            return [*both, *(one for one in second if one.name not in names)]
        pairs = zip(first, second, strict=False)
        return [Output(a.name, a.sources | b.sources) for a, b in pairs] or first

    def _of_select(self, scope: Scope) -> Iterator[Output]:
        for projection in scope.expression.expressions:
            star = star_of(projection)
            if star is not None:
                yield from self._starred(scope, projection, star)
            elif isinstance(projection, exp.Aliases):
                sources = self._resolver.of_expression(scope, projection.this)
                yield from (Output(self._key(i.name), sources) for i in projection.expressions)
            else:
                name = self._key(projection.alias_or_name)
                yield Output(name, self._resolver.of_expression(scope, projection))

    def _starred(self, scope: Scope, projection: exp.Expr, star: exp.Star) -> Iterator[Output]:
        """Write a star out: EXCEPT leaves columns out, REPLACE and RENAME change them."""
        left_out = {self._key(one.name) for one in star.args.get("except_") or []}
        replaced = {
            self._key(one.alias): self._resolver.of_expression(scope, one)
            for one in star.args.get("replace") or []
        }
        renamed = {
            self._key(one.this.name): self._key(one.alias) for one in star.args.get("rename") or []
        }
        for one in self._all_of(scope, projection):
            if one.name not in left_out:
                sources = replaced.get(one.name, one.sources)
                yield Output(renamed.get(one.name, one.name), sources)

    def _all_of(self, scope: Scope, star: exp.Expr) -> Iterator[Output]:
        """Yield what a star stands for: of columns that joins make one of, the first."""
        table = star.text("table") if isinstance(star, exp.Column) else ""
        visible = self._scopes.visible_in(scope)
        inputs = [visible[table]] if table in visible else [] if table else list(visible.values())
        merged = set() if table else set(self._resolver.merged_names(scope, visible))
        seen: set[str] = set()
        for given in inputs:
            for one in self._relations.outputs(given):
                if one.name not in merged or one.name not in seen:
                    yield one
                seen.add(one.name)

    def _named(self, scope: Scope, outputs: Sequence[Output]) -> list[Output]:
        """Give columns the names that stand in a list behind the alias."""
        names = [self._key(name) for name in listed_names(scope)]
        if isinstance(scope.expression, exp.UDTF) and not outputs:
            through = self._resolver.of_rows(scope)
            return [Output(name, through) for name in names]
        changed = [Output(name, one.sources) for name, one in zip(names, outputs, strict=False)]
        return [*changed, *outputs[len(changed) :]]
