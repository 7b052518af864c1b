"""Which expressions are a column as it is, although they call it another type.

Two days are one as months, 1.4 and 1.6 may be one as whole numbers: what is equal after such a cast
says nothing of the columns. As texts of any length all values stay apart.
"""

from collections.abc import Mapping

from sqlglot import exp

from pneuma_assets.core.lineage.columns.expressions import star_of

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
