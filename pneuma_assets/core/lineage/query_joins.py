"""Which columns a query joins its tables by: what ON, USING, WHERE and IN say are equal.

Only what must hold of every row counts: an equality under OR, NOT or CASE says nothing of the
others. A column that the query computes is none of its table, nor is what comes from several.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, walk_in_scope

from pneuma_assets.core.lineage.resolver import ColumnResolver, Relations
from pneuma_assets.core.lineage.scopes import (
    Budget,
    Relation,
    Scopes,
    Source,
    Sources,
    listed_names,
    star_of,
)

MOST_JOINS = 500
"""Of one query; more are of no use to anybody, and the first ones are kept."""

MOST_COLUMNS = 20
"""Of one join, of each table."""

MOST_QUERIES_BELOW = 100
"""Each of which reads the next one, that a column is followed through."""

Join = tuple[tuple[Source, Source], ...]
"""Pairs of equal columns of two tables, sorted; the table whose name comes first stands first."""

_Side = tuple[int, Source]
"""Names where a column is read, of several readings of one table each, and the column."""


class JoinReader:
    """Reads the joins of one query, which is of a dialect of sqlglot's, scope by scope."""

    def __init__(
        self,
        scopes: Scopes,
        resolver: ColumnResolver,
        relations: Relations,
        budget: Budget,
        dialect: str,
    ) -> None:
        self._scopes, self._resolver, self._relations = scopes, resolver, relations
        self._budget, self._dialect = budget, dialect
        self._projections: dict[int, dict[str, exp.Expr]] = {}

    def joins(self) -> tuple[Join, ...]:
        """Return the joins of the query, each once, at most `MOST_JOINS`.

        Raises:
            UnreadableSQLError: Telling what they mean takes too long.
        """
        found: dict[Join, None] = {}
        for scope in self._scopes:
            if isinstance(scope.expression, exp.Select):
                found.update(dict.fromkeys(_together(self._equal(scope))))
            if len(found) >= MOST_JOINS:
                break
        return tuple(found)[:MOST_JOINS]

    def _equal(self, scope: Scope) -> Iterator[tuple[_Side, _Side]]:
        joins = [one for one in walk_in_scope(scope.expression) if isinstance(one, exp.Join)]
        for condition in _conditions(scope.expression, joins):
            self._budget.look(1)
            if isinstance(condition, exp.EQ | exp.NullSafeEQ):
                sides = self._side(scope, condition.this), self._side(scope, condition.expression)
            elif isinstance(condition, exp.In) and condition.args.get("query"):
                sides = self._side(scope, condition.this), self._only_column(condition)
            else:
                continue
            if sides[0] is not None and sides[1] is not None:
                yield sides[0], sides[1]
        yield from self._merged(scope, joins)

    def _side(self, scope: Scope, expression: exp.Expr) -> _Side | None:
        column = plain_column(expression, self._dialect)
        if column is None:
            return None
        reading = self._reading(scope, column)
        if reading is None or self._is_made(reading, self._relations.key(column.name)):
            return None
        return _one(id(reading), self._resolver.of_column(scope, column))

    def _reading(self, scope: Scope, column: exp.Column) -> Relation | None:
        """Return the table or query that has a column, of a scope or those around it."""
        name, table = self._relations.key(column.name), column.text("table")
        at: Scope | None = scope
        while at is not None:
            visible = self._scopes.visible_in(at)
            if table and table in visible:
                return visible[table]
            if not table:
                having = [one for one in visible.values() if name in self._relations.names_of(one)]
                if having:
                    return having[0]
            at = at.parent
        return None

    def _is_made(self, reading: Relation, name: str) -> bool:
        """Tell whether what is read computes a column, or may, however many queries below."""
        at: Relation | None = reading
        for _ in range(MOST_QUERIES_BELOW):
            if not isinstance(at, Scope):
                return at is None
            if not isinstance(at.expression, exp.Select):
                return True
            projection = self._projections_of(at).get(name)
            column = (
                exp.column(name) if projection is None else plain_column(projection, self._dialect)
            )
            if column is None:
                return True
            at, name = self._reading(at, column), self._relations.key(column.name)
        return True

    def _projections_of(self, scope: Scope) -> Mapping[str, exp.Expr]:
        """Return the columns of a SELECT by name, those of stars aside."""
        key = id(scope.expression)
        if key not in self._projections:
            all_of = [one for one in scope.expression.expressions if star_of(one) is None]
            self._budget.look(len(all_of))
            names = [one.alias_or_name for one in all_of]
            given = listed_names(scope)
            names[: len(given)] = given[: len(names)]
            found: dict[str, exp.Expr] = {}
            for name, projection in zip(names, all_of, strict=True):
                found.setdefault(self._relations.key(name), projection)
            self._projections[key] = found
        return self._projections[key]

    def _only_column(self, condition: exp.In) -> _Side | None:
        """Return what the query of an IN gives, if that is one column."""
        scope = self._scopes.of(condition.args["query"].unnest())
        outputs = [] if scope is None else self._relations.outputs(scope)
        if scope is None or len(outputs) != 1 or self._is_made(scope, outputs[0].name):
            return None
        return _one(id(scope), outputs[0].sources)

    def _merged(self, scope: Scope, joins: Sequence[exp.Join]) -> Iterator[tuple[_Side, _Side]]:
        """Yield what USING and NATURAL say is equal: a column of a table, and of one before it."""
        named = {
            join.this.alias_or_name: join
            for join in joins
            if join.method == "NATURAL" or join.args.get("using")
        }
        holders: dict[str, Relation] = {}  # of each name, the first that has it so far
        for alias, given in self._scopes.visible_in(scope).items():
            join = named.get(alias)
            names = [] if join is None else self._shared_names(join, given)
            for name in names:
                left = self._of_relation(holders[name], name) if name in holders else None
                right = self._of_relation(given, name)
                if left is not None and right is not None:
                    yield left, right
            own = self._relations.names_of(given) if named else ()
            self._budget.look(len(own))
            for name in own:
                holders.setdefault(name, given)

    def _shared_names(self, join: exp.Join, given: Relation) -> Collection[str]:
        if join.method == "NATURAL":
            return sorted(self._relations.names_of(given))
        return [self._relations.key(one.name) for one in join.args.get("using") or []]

    def _of_relation(self, given: Relation, name: str) -> _Side | None:
        if self._is_made(given, name):
            return None
        return _one(id(given), self._resolver.of_relation(given, name))


def _conditions(select: exp.Expr, joins: Sequence[exp.Join]) -> Iterator[exp.Expr]:
    """Yield what must hold of every row: the parts between the ANDs of ON and WHERE."""
    given = [join.args.get("on") for join in joins]
    where = select.args.get("where")
    waiting = [one for one in (where.this if where else None, *reversed(given)) if one is not None]
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.And):
            waiting += [node.expression, node.this]
        elif isinstance(node, exp.Paren):
            waiting.append(node.this)
        else:
            yield node


def _one(reading: int, sources: Sources) -> _Side | None:
    """Return where a column comes from if that is one column of one table."""
    return (reading, next(iter(sources))) if len(sources) == 1 else None


def _together(equal: Iterable[tuple[_Side, _Side]]) -> Iterator[Join]:
    """Yield a join for each two readings of two tables, with all the columns that are equal."""
    found: dict[object, dict[tuple[Source, Source], None]] = {}
    for one, other in equal:
        (first, left), (second, right) = sorted((one, other), key=_source_of)
        if left[0] != right[0]:
            found.setdefault((first, left[0], second, right[0]), {})[left, right] = None
    for pairs in found.values():
        if len(pairs) <= MOST_COLUMNS:
            yield tuple(sorted(pairs, key=_pair_of))


def _source_of(side: _Side) -> tuple[str, ...]:
    (name, column) = side[1]
    return name.catalog, name.schema, name.name, column


def _pair_of(pair: tuple[Source, Source]) -> tuple[str, ...]:
    return pair[0][1], pair[1][1]


_TEXTS = frozenset({exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.NVARCHAR})
_ALSO: Mapping[str, frozenset[exp.DType]] = {
    "mysql": frozenset({exp.DType.CHAR, exp.DType.CHARACTER_SET}),
    "postgres": frozenset({exp.DType.DECIMAL}),
}
"""Types in which, if no length is given, values stay apart in that dialect alone.

The one text that MySQL casts to is CHAR, of any length there. PostgreSQL's numeric has all digits,
and it writes that cast itself into a view that compares a whole number with a numeric.
"""
_BOUNDED: Mapping[str, frozenset[exp.DType]] = {
    "tsql": frozenset({exp.DType.VARCHAR, exp.DType.NVARCHAR})
}
"""Texts that have a length, of 30 there, although none is given."""


def plain_column(expression: exp.Expr, dialect: str) -> exp.Column | None:
    """Return the column that an expression is, as it is or as a text; None for any other.

    Args:
        expression: A side of a comparison, or a column of a SELECT.
        dialect: What sqlglot calls the SQL that it stands in.
    """
    while isinstance(expression, exp.Paren | exp.Cast | exp.Alias):
        if isinstance(expression, exp.Cast) and not _keeps_apart(expression.to, dialect):
            return None
        expression = expression.this
    if isinstance(expression, exp.Column) and star_of(expression) is None:
        return expression
    return None


def _keeps_apart(given: exp.DataType, dialect: str) -> bool:
    """Tell whether values that differ also differ as another type."""
    of_any_length = (_TEXTS | _ALSO.get(dialect, frozenset())) - _BOUNDED.get(dialect, frozenset())
    if given.expressions:
        return given.this in _TEXTS and [one.name.upper() for one in given.expressions] == ["MAX"]
    return given.this in of_any_length
