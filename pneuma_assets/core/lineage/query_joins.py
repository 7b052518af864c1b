"""Which columns a query joins its tables by: what ON, USING, WHERE and IN say are equal.

Only what must hold of every row counts: an equality under OR, NOT or CASE says nothing of the
others. A column that the query computes is none of its table, nor is what comes from several.
"""

from collections.abc import Iterable, Iterator, Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import walk_in_scope

from pneuma_assets.core.lineage.qualified import Source, is_merged

MOST_COLUMNS = 20
"""Of one join, of each table."""

Join = tuple[tuple[Source, Source], ...]
"""Pairs of equal columns of two tables, sorted; the table whose name comes first stands first."""

Side = tuple[object, Source]
"""Names where a column is read, of several readings of one table each, and the column."""


def conditions(select: exp.Expr) -> Iterator[exp.Expr]:
    """Yield what must hold of every row: the parts between the ANDs of ON and WHERE."""
    joins = [one for one in walk_in_scope(select) if isinstance(one, exp.Join)]
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


def joined(equal: Iterable[tuple[Side, Side]]) -> Iterator[Join]:
    """Yield a join for each two readings of two tables, with all the columns that are equal."""
    found: dict[object, dict[tuple[Source, Source], None]] = {}
    for one, other in equal:
        (first, left), (second, right) = sorted((one, other), key=_source_of)
        if left[0] != right[0]:
            found.setdefault((first, left[0], second, right[0]), {})[left, right] = None
    for pairs in found.values():
        if len(pairs) <= MOST_COLUMNS:
            yield tuple(sorted(pairs, key=_pair_of))


def _source_of(side: Side) -> tuple[str, ...]:
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
    while isinstance(expression, exp.Paren | exp.Cast | exp.Alias) or is_merged(expression):
        if isinstance(expression, exp.Cast) and not _keeps_apart(expression.to, dialect):
            return None
        expression = expression.this
    if isinstance(expression, exp.Column) and not expression.is_star:
        return expression
    return None


def _keeps_apart(given: exp.DataType, dialect: str) -> bool:
    """Tell whether values that differ also differ as another type."""
    of_any_length = (_TEXTS | _ALSO.get(dialect, frozenset())) - _BOUNDED.get(dialect, frozenset())
    if given.expressions:
        return given.this in _TEXTS and [one.name.upper() for one in given.expressions] == ["MAX"]
    return given.this in of_any_length
