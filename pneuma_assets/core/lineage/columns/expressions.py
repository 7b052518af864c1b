"""What the expressions of a query name, as far as each alone can tell."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, walk_in_scope

from pneuma_assets.core.lineage.names import TableName

Input = exp.Table | Scope
"""What a scope reads: a table, or a query that stands in a table's place."""


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
    if isinstance(projection, exp.Star):
        return projection
    if isinstance(projection, exp.Column) and isinstance(projection.this, exp.Star):
        return projection.this
    return None


def aliases_of(expression: exp.Expr) -> dict[str, tuple[int, exp.Expr]]:
    """Return the columns of a SELECT that have names of their own, each with its place."""
    found: dict[str, tuple[int, exp.Expr]] = {}
    for place, projection in enumerate(expression.args.get("expressions") or []):
        if isinstance(projection, exp.Alias):
            found.setdefault(projection.alias, (place, projection))
    return found


def using(expression: exp.Expr) -> Iterator[str]:
    """Yield the names in the USING of joins."""
    for join in expression.args.get("joins") or []:
        yield from (one.name for one in join.args.get("using") or [])


def merged_columns(
    scope: Scope,
    key: Callable[[str], str],
    names_of: Callable[[Input], Iterable[str]],
    visible: Mapping[str, Input],
) -> Iterator[str]:
    """Yield the columns that joins make one of."""
    yield from map(key, using(scope.expression))
    joins = scope.expression.args.get("joins") or []
    if any(join.method == "NATURAL" for join in joins):
        seen: set[str] = set()
        for source in visible.values():
            names = set(names_of(source))
            yield from seen & names
            seen |= names


def given_names(expression: exp.Expr) -> list[str]:
    """Return the columns that the alias of a recursive expression's first part lists."""
    node = expression.parent
    while isinstance(node, exp.SetOperation | exp.Subquery):
        if node.args.get("this") is not expression and isinstance(node, exp.SetOperation):
            return []
        expression, node = node, node.parent
    return list(node.alias_column_names) if isinstance(node, exp.CTE) else []
