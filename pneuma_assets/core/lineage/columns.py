"""Which columns of which tables each column of a query comes from, scope by scope.

sqlglot's own `lineage` follows each column by itself; here each scope is looked at once, and a
budget counts what is passed on.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, walk_in_scope

from pneuma_assets.core.lineage.parse import UnreadableSQLError
from pneuma_assets.core.lineage.qualified import (
    UNKNOWN,
    QualifiedQuery,
    Source,
    is_merged,
)
from pneuma_assets.core.lineage.query_joins import Join, Side, conditions, joined, plain_column

MOST_SOURCES = 500_000
"""Columns passed from scope to scope in one query."""

MOST_JOINS = 500
"""Of one query; more are of no use to anybody, and the first ones are kept."""

Sources = frozenset[Source]
NOTHING: Sources = frozenset()


@dataclass(frozen=True, slots=True)
class Output:
    """One column of a query.

    Attributes:
        name: Its key.
        sources: What its values are computed of.
        plain: The column of a table that it is, as that is; None where the query changes it.
    """

    name: str
    sources: Sources
    plain: Source | None = None


class ColumnReader:
    """Follows the columns of one query that sqlglot qualified."""

    def __init__(self, query: QualifiedQuery, dialect: str) -> None:
        self._query, self._dialect, self._spent = query, dialect, 0
        self._scopes = {id(one.expression): one for one in query.scopes}
        self._outputs: dict[int, list[Output]] = {}
        self._by_name: dict[int, dict[str, Output]] = {}
        self._rows: dict[int, Sources] = {}
        self._aliases: dict[int, dict[str, Output]] = {}
        for scope in query.scopes:  # each after those that it reads, so that nothing recurs deep
            self._of_scope(scope)

    def outputs(self) -> list[Output]:
        """Return the columns of the query that are known."""
        found = self._of_scope(self._query.scopes[-1]) if self._query.scopes else []
        return [one for one in found if not one.name.startswith(UNKNOWN)]

    def used(self) -> Sources:
        """Return every column that the query reads, also to join, filter, group or order.

        Raises:
            UnreadableSQLError: Too many columns are passed on in it.
        """
        found = set[Source]().union(*(one.sources for one in self.outputs()))
        for scope in self._query.scopes:
            found |= self._of_expression(scope, scope.expression, queries=False)
        return frozenset(found)

    def joins(self) -> tuple[Join, ...]:
        """Return which columns of two tables the query says are equal, at most `MOST_JOINS`."""
        found: dict[Join, None] = {}
        for scope in self._query.scopes:
            if isinstance(scope.expression, exp.Select):
                found.update(dict.fromkeys(joined(self._equal(scope))))
            if len(found) >= MOST_JOINS:
                break
        return tuple(found)[:MOST_JOINS]

    def _spend(self, steps: int) -> None:
        self._spent += steps
        if self._spent > MOST_SOURCES:
            raise UnreadableSQLError(f"it passes on more than {MOST_SOURCES:,} columns")

    def _of_scope(self, given: Scope) -> list[Output]:
        scope = self._scopes.get(id(given.expression), given)
        key = id(scope.expression)
        if key not in self._outputs:
            self._outputs[key] = []  # a recursive expression reads itself
            found: list[Output] = []
            for one in self._made_by(scope):
                self._spend(1 + len(one.sources))
                found.append(one)
            self._outputs[key] = found
        return self._outputs[key]

    def _made_by(self, scope: Scope) -> Iterable[Output]:
        expression = scope.expression
        if isinstance(expression, exp.SetOperation):
            return self._of_set(scope)
        if isinstance(expression, exp.Select):
            return self._of_select(scope)
        inner = [*scope.subquery_scopes, *scope.table_scopes]
        if isinstance(expression, exp.Subquery | exp.Lateral) and inner:
            found, listed = self._of_scope(inner[-1]), expression.alias_column_names
            named = zip(listed, found, strict=False)
            return [*(replace(one, name=name) for name, one in named), *found[len(listed) :]]
        through = self._of_rows(scope, expression)
        return [Output(name, through) for name in expression.alias_column_names]

    def _of_set(self, scope: Scope) -> list[Output]:
        """Columns of UNION and its like come from the same places of both sides."""
        first, second = (self._of_scope(one) for one in scope.set_operation_scopes)
        if scope.expression.args.get("by_name"):
            by_name = {one.name: one.sources for one in second}
            both = [Output(o.name, o.sources | by_name.get(o.name, NOTHING)) for o in first]
            names = {one.name for one in first}
            return [*both, *(one for one in second if one.name not in names)]
        rest = [one.sources for one in second] + [NOTHING] * len(first)
        return [Output(a.name, a.sources | b) for a, b in zip(first, rest, strict=False)]

    def _of_select(self, scope: Scope) -> Iterator[Output]:
        aliases = self._aliases[id(scope.expression)] = {}  # those that what follows may name
        for place, projection in enumerate(scope.expression.expressions):
            if projection.is_star:  # sqlglot leaves it where a name would stand twice
                table = projection.text("table")
                for called, (_, source) in scope.selected_sources.items():
                    if table in ("", called):
                        yield from self._all_of(source)
            elif isinstance(projection, exp.Aliases):
                sources = self._of_expression(scope, projection.this)
                yield from (Output(one.name, sources) for one in projection.expressions)
            else:
                name = projection.alias_or_name
                sources = self._of_expression(scope, projection)
                side = self._side(scope, projection) if len(sources) == 1 else None
                given = "" if name.lower() == f"_col_{place}" else name
                found = Output(given, sources, side and side[1])
                aliases.setdefault(given, found)
                yield found

    def _all_of(self, source: exp.Table | Scope) -> Sequence[Output]:
        """Return the known columns of what stands in FROM."""
        if isinstance(source, Scope):
            return self._of_scope(source)
        reading = self._query.reading(source)
        if reading is None:
            return []
        read = [(name, (reading[0], key)) for name, key in reading[1].items()]
        return [Output(name, frozenset({one}), one) for name, one in read]

    def _of_source(self, source: exp.Table | Scope, name: str) -> Output | None:
        """Return the column of that name of what stands in FROM, if it is known to have it."""
        key = id(source.expression) if isinstance(source, Scope) else id(source)
        if key not in self._by_name:
            found: dict[str, Output] = {}
            for one in self._all_of(source):
                found.setdefault(one.name, one)
            if not isinstance(source, Scope) or self._outputs.get(key):
                self._by_name[key] = found
            return found.get(name)
        return self._by_name[key].get(name)

    def _of_open(self, scope: Scope, source: exp.Table | Scope, name: str) -> Output | None:
        """Return a column that what stands in FROM may have though nobody knows it."""
        if isinstance(source, Scope):
            expression = source.expression
            if not isinstance(expression, exp.UDTF) or isinstance(expression, exp.Values):
                return None
            return Output(name, self._of_rows(source, expression))
        reading = self._query.reading(source)
        if reading is None:
            return Output(name, self._of_rows(scope, source.this))
        if reading[1] or name.startswith(UNKNOWN):
            return None
        return Output(name, frozenset({(reading[0], name)}), (reading[0], name))

    def _of_rows(self, scope: Scope, function: exp.Expr) -> Sources:
        """Return all that goes into a function that makes rows: UNNEST, EXPLODE and their like."""
        key = id(function)
        if key not in self._rows:
            self._rows[key] = NOTHING  # it may name itself
            self._rows[key] = self._of_expression(scope, function)
        return self._rows[key]

    def _of_expression(
        self, scope: Scope, expression: exp.Expr, *, queries: bool = True
    ) -> Sources:
        """Return all columns that an expression names, with those of `queries` in it."""
        found: set[Source] = set()
        for node in walk_in_scope(expression, prune=is_merged):
            sources = NOTHING
            if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
                sources = self._resolved(scope, node)[1].sources
            elif isinstance(node, exp.TableColumn):
                sources = self._of_row(scope, node.name) or NOTHING
            elif is_merged(node):
                sources = self._of_merged(scope, node)
            elif queries and isinstance(node, exp.Query):
                below = self._scopes.get(id(node.unnest()))
                if below is not None:
                    sources = NOTHING.union(*(one.sources for one in self._of_scope(below)))
            self._spend(len(sources))
            found |= sources
        return frozenset(found)

    def _of_merged(self, scope: Scope, node: exp.Expr) -> Sources:
        """Return what USING makes one of: of an outer join either side may be it."""
        joins = scope.expression.args.get("joins") or []
        outer = any(join.side in ("FULL", "RIGHT") for join in joins)
        sides = [node.this, *node.expressions] if outer else [node.this]
        return NOTHING.union(*(self._resolved(scope, one)[1].sources for one in sides))

    def _of_row(self, scope: Scope, name: str) -> Sources | None:
        source = scope.sources.get(name)
        if source is None:
            return None
        return NOTHING.union(*(one.sources for one in self._all_of(source)))

    def _resolved(self, scope: Scope, column: exp.Column) -> tuple[object, Output]:
        """Return what a column's name means in a scope or those around it, and where it is read."""
        at: Scope | None = scope
        while at is not None:
            found = self._in(at, column)
            if found is not None:
                return found
            at = at.parent
        return None, Output(column.name, NOTHING)

    def _in(self, scope: Scope, column: exp.Column) -> tuple[object, Output] | None:
        table, name = column.table, column.name
        if table in scope.sources:
            source = scope.sources[table]
            found = self._of_source(source, name) or self._of_open(scope, source, name)
            return (id(scope), table), found or Output(name, NOTHING)
        name = table or name  # a field of a column: column.field
        given = scope.lateral_sources | {k: one for k, (_, one) in scope.selected_sources.items()}
        self._spend(1 + len(given) // 4)
        for called, source in given.items():
            if (known := self._of_source(source, name)) is not None:
                return (id(scope), called), known
        row = None if table else self._of_row(scope, name)
        if row is not None:
            return None, Output(name, row)
        alias = None if table else self._aliases.get(id(scope.expression), {}).get(name)
        if alias is not None:
            return None, alias
        unknown = {k: self._of_open(scope, one, name) for k, one in given.items()}
        maybe = [(k, one) for k, one in unknown.items() if one is not None]
        return ((id(scope), maybe[0][0]), maybe[0][1]) if len(maybe) == 1 and not table else None

    def _side(self, scope: Scope, expression: exp.Expr) -> Side | None:
        """Return the column of a table that an expression is, and where that is read."""
        column = plain_column(expression, self._dialect)
        if column is None:
            return None
        where, found = self._resolved(scope, column)
        return None if found.plain is None or where is None else (where, found.plain)

    def _equal(self, scope: Scope) -> Iterator[tuple[Side, Side]]:
        for condition in conditions(scope.expression):
            if isinstance(condition, exp.EQ | exp.NullSafeEQ):
                sides = self._side(scope, condition.this), self._side(scope, condition.expression)
            elif isinstance(condition, exp.In) and condition.args.get("query"):
                sides = self._side(scope, condition.this), self._only_column(condition)
            else:
                continue
            if sides[0] is not None and sides[1] is not None:
                yield sides[0], sides[1]

    def _only_column(self, condition: exp.In) -> Side | None:
        """Return what the query of an IN gives, if that is one column."""
        scope = self._scopes.get(id(condition.args["query"].unnest()))
        outputs = [] if scope is None else self._of_scope(scope)
        return (id(scope), outputs[0].plain) if len(outputs) == 1 and outputs[0].plain else None
