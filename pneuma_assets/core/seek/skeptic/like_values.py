"""What a column has where a filter looks for what it does not have."""

from rapidfuzz import fuzz, process
from sqlglot import exp

from pneuma_assets.core.answers.values import folded
from pneuma_assets.core.seek.operators.sql_text import kind_of, of, quoted, type_of
from pneuma_assets.core.seek.tables import Tables

_MOST_VALUES = 5_000
_SHOWN = 5


def spelled_otherwise(condition: exp.Expr, table: str, tables: Tables) -> str:
    """Return what is said of a column's own values; '' where the condition is not of one alone.

    Of numbers and days that is from where to where they go, of texts those most like the literal.
    """
    columns = {one.name for one in condition.find_all(exp.Column)}
    if len(columns) != 1:
        return ""
    (column,) = columns
    cell = of(table, column)
    kinds = [(one.name, one.type) for one in tables.columns(table)]
    if kind_of(type_of(kinds, column)) != "text":
        sql = f"SELECT CAST(min({cell}) AS VARCHAR) AS a, CAST(max({cell}) AS VARCHAR) AS b"
        ((first, last),) = tables.ask(f"{sql} FROM {quoted(table)}", [table]).rows
        return f"; {column} goes from {first} to {last}"
    literals = [one.this for one in condition.find_all(exp.Literal) if one.is_string]
    values = values_of(table, column, tables)
    near = _near(literals[0], values) if literals else values[:_SHOWN]
    return f"; {column} has {', '.join(repr(one[:40]) for one in near)}" if near else ""


def values_of(table: str, column: str, tables: Tables, most: int = _MOST_VALUES) -> list[str]:
    """Return the different values of a column as text, the most frequent first, up to so many."""
    cell = f"CAST({of(table, column)} AS VARCHAR)"
    sql = (
        f"SELECT {cell} AS v FROM {quoted(table)} WHERE {cell} IS NOT NULL GROUP BY v "
        f"ORDER BY count(*) DESC, v LIMIT {most}"
    )
    return [str(row[0]) for row in tables.ask(sql, [table], most).rows]


def _near(wanted: str, values: list[str]) -> list[str]:
    same = [one for one in values if folded(one) == folded(wanted)]
    alike = process.extract(wanted, values, scorer=fuzz.WRatio, limit=_SHOWN)
    return (same or [text for text, *_ in alike])[:_SHOWN]
