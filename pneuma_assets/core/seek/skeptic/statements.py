"""What misleads in a statement: filters that nothing meets, joins that repeat, wrong quotients.

A rule looks at the statement's tree, and counts in the tables that the statement reads. What of a
statement no rule understands is not looked at; what is found is so.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from rapidfuzz import fuzz, process
from sqlglot import exp

from pneuma_assets.core.answers.made_rows import SERIES
from pneuma_assets.core.answers.statements import OF, Checked
from pneuma_assets.core.answers.values import folded
from pneuma_assets.core.seek.operators.sql_text import kind_of, of, quoted, type_of
from pneuma_assets.core.seek.results import Finding, Severity, as_far_as_counted
from pneuma_assets.core.seek.skeptic.joins import findings_of_joins
from pneuma_assets.core.seek.tables import DIALECT, Tables
from pneuma_assets.core.tables import MISSING

_MOST = 40
"""Conditions, means and quotients of one table that are looked at."""
_NOT_EQUAL = (exp.NEQ, exp.NullSafeNEQ)
_COMPARISONS = (
    *(exp.EQ, exp.NullSafeEQ, *_NOT_EQUAL, exp.In, exp.Like, exp.ILike),
    *(exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between),
)
_INNER = (exp.Query, exp.AggFunc, exp.Window)
_UNITS = ("unit", "units", "uom", "currency", "currency_code", "measure_unit", "unit_of_measure")
_MANY_NULLS = 0.05


@dataclass(frozen=True, slots=True)
class _Looked:
    """A part of a statement that is counted in one table: how, and what is said of the count."""

    table: str
    count: exp.Expr
    part: exp.Expr
    rule: str


def findings_of(statement: Checked, subject: str, tables: Tables) -> Iterator[Finding]:
    """Yield what the rules find in a statement that has run or is about to.

    Args:
        statement: It.
        subject: The step or query that it is.
        tables: What it reads.
    """
    looked: dict[str, list[_Looked]] = defaultdict(list)
    for one in (*_conditions(statement), *_numbers(statement), *_units(statement, tables)):
        if len(looked[one.table]) < _MOST:
            looked[one.table].append(one)
    yield from as_far_as_counted(_counted(statement, looked, subject, tables), subject)
    of_joins = findings_of_joins(statement, subject, lambda sql: tables.derived(statement, sql))
    yield from as_far_as_counted(of_joins, subject)
    counts = bool(statement.tables) and statement.tree.find(exp.Count) is not None
    if not statement.columns and not counts and statement.tree.find(*SERIES) is None:
        text = "it reads no column, so what it gives was written and not found; read it from a "
        text += "source, or say in an assumption where it is from"
        yield Finding("constants", Severity.WARNING, subject, text)


def _counted(
    statement: Checked, looked: Mapping[str, Sequence[_Looked]], subject: str, tables: Tables
) -> Iterator[Finding]:
    """Count all that is looked at by one statement, and yield what the rules say of it."""
    if not looked:
        return
    queries, columns = [], []
    for at, (table, parts) in enumerate(looked.items()):
        counts = [exp.Count(this=exp.Star()), *(one.count for one in parts)]
        cells = (exp.alias_(count, f"n{at}_{n}") for n, count in enumerate(counts))
        query = exp.select(*cells).from_(exp.to_identifier(table, quoted=True))
        queries.append(f"({query.sql(DIALECT, identify=True)}) AS q{at}")
        columns += [(table, one.name) for one in query.find_all(exp.Column)]
    row = iter(tables.derived(statement, f"SELECT * FROM {', '.join(queries)}", columns).rows[0])
    for table, parts in looked.items():
        rows, *found = (int(cell) for cell in islice(row, 1 + len(parts)))
        if not rows:
            yield Finding("no rows", Severity.WARNING, subject, f"{table} has no rows")
            continue
        for one, count in zip(parts, found, strict=True):
            yield from _RULES[one.rule](one, rows, count, subject, tables)


# --- filters -----------------------------------------------------------------------------------


def _conditions(statement: Checked) -> Iterator[_Looked]:
    """Yield each comparison of columns of one table with literals.

    What a condition leaves out need not be there, unless it is a name, which may be misspelled.
    """
    for node in statement.tree.find_all(*_COMPARISONS):
        table = _table_of(node)
        if table is None or node.find(exp.Literal) is None:
            continue
        if isinstance(node, _NOT_EQUAL):
            parts: list[exp.Expr] = [exp.EQ(this=node.this, expression=node.expression)]
        elif isinstance(node, exp.In):
            parts = [exp.EQ(this=node.this, expression=one) for one in node.expressions]
        else:
            parts = [node]
        around = node.parent.parent if isinstance(node.parent, exp.Paren) else node.parent
        leaves_out = isinstance(node, _NOT_EQUAL) or isinstance(around, exp.Not)
        for part in parts:
            if not leaves_out or (isinstance(part, exp.EQ) and _is_name(part)):
                yield _Looked(table, _count_if(part, table), part, "filter")


def _is_name(equal: exp.EQ) -> bool:
    texts = [one.this.strip() for one in equal.find_all(exp.Literal) if one.is_string]
    return bool(texts) and not {*MISSING} & {*texts}


def _table_of(node: exp.Expr) -> str | None:
    """Return the one table whose columns an expression consists of, if there is one."""
    columns = list(node.find_all(exp.Column))
    tables = {one.meta.get(OF) for one in columns}
    if len(tables) != 1 or node.find(*_INNER) is not None:
        return None
    (table,) = tables
    return table


def _count_if(condition: exp.Expr, table: str) -> exp.Expr:
    return exp.Count(this=exp.Case(ifs=[exp.If(
        this=over(condition, table), true=exp.Literal.number(1)
    )]))  # fmt: skip


def over(node: exp.Expr, table: str) -> exp.Expr:
    """Return an expression over a table by its own name."""
    copy = node.copy()
    for column in copy.find_all(exp.Column):
        column.set("table", exp.to_identifier(table, quoted=True))
    return copy


def _filter(
    one: _Looked, _rows: int, count: int, subject: str, tables: Tables
) -> Iterator[Finding]:
    if count:
        return
    said = over(one.part, one.table).sql(DIALECT)[:200].replace('"', "")
    instead = spelled_otherwise(one.part, one.table, tables)
    text = f"no row of {one.table} has {said}{instead}; filter by what is there, or say so"
    yield Finding("literal not found", Severity.WARNING, subject, text, {"rows": 0.0})


# --- numbers -----------------------------------------------------------------------------------


def _numbers(statement: Checked) -> Iterator[_Looked]:
    """Yield what is divided by, and what sums and means are of."""
    for node in statement.tree.find_all(exp.Div):
        by = node.expression.unnest()
        table = _table_of(by)
        if table is not None:
            zero = exp.EQ(this=by, expression=exp.Literal.number(0))
            null = exp.Is(this=by, expression=exp.Null())
            yield _Looked(table, _count_if(exp.or_(zero, null), table), by, "denominator")
    for mean in statement.tree.find_all(exp.Sum, exp.Avg, exp.Median):
        table = _table_of(mean.this)
        if table is not None:
            null = exp.Is(this=mean.this, expression=exp.Null())
            yield _Looked(table, _count_if(null, table), mean, "null in aggregate")


def _denominator(
    one: _Looked, rows: int, count: int, subject: str, _tables: Tables
) -> Iterator[Finding]:
    if count:
        said = one.part.sql(DIALECT)[:100].replace('"', "")
        text = f"{count:,} of {rows:,} rows of {one.table} divide by 0 or NULL ({said}), which "
        text += "gives no number; leave them out by a filter, or say what they are to give"
        yield Finding("denominator", Severity.WARNING, subject, text, _figures(rows, count))


def _null(one: _Looked, rows: int, count: int, subject: str, _tables: Tables) -> Iterator[Finding]:
    if not count:
        return
    said = one.part.sql(DIALECT)[:100].replace('"', "")
    whole = one.part.find_ancestor(exp.Div, exp.Select)
    by = whole.expression if isinstance(whole, exp.Div) else None
    by_all = by is not None and any(isinstance(c.this, exp.Star) for c in by.find_all(exp.Count))
    text = f"{said} leaves out {count:,} of {rows:,} rows of {one.table} that are NULL"
    if by_all:
        text += ", and is divided by the count of all; divide by the count of the column"
    is_much = by_all or count > _MANY_NULLS * rows
    severity = Severity.WARNING if is_much else Severity.NOTE
    yield Finding("null in aggregate", severity, subject, text, _figures(rows, count))


def _figures(rows: int, count: int) -> Mapping[str, float]:
    return {"rows": float(rows), "cells": float(count), "share": count / rows}


# --- units -------------------------------------------------------------------------------------


def _units(statement: Checked, tables: Tables) -> Iterator[_Looked]:
    """Yield columns of units that no part of a statement looks at, where it aggregates."""
    summed = {
        column.meta.get(OF)
        for node in statement.tree.find_all(exp.Sum, exp.Avg, exp.Median, exp.Min, exp.Max)
        for column in node.find_all(exp.Column)
    }
    for table in filter(None, summed):
        for one in tables.columns(table):
            if is_unit(one.name) and (table, one.name) not in statement.columns:
                column = exp.column(one.name, table=table, quoted=True)
                count = exp.Count(this=exp.Distinct(expressions=[column]))
                yield _Looked(table, count, column, "units differ")


def is_unit(name: str) -> bool:
    """Tell whether a column says by its name in which unit or currency a row is."""
    folded = name.casefold().replace(" ", "_")
    return folded in _UNITS or folded.endswith(tuple(f"_{one}" for one in _UNITS))


def _unit(one: _Looked, _rows: int, count: int, subject: str, tables: Tables) -> Iterator[Finding]:
    if count < 2:
        return
    name = one.part.sql(DIALECT)
    sql = f'SELECT DISTINCT CAST({name} AS VARCHAR) AS v FROM "{one.table}" ORDER BY v LIMIT 6'
    shown = ", ".join(str(row[0])[:20] for row in tables.ask(sql, [one.table]).rows)
    text = f"rows of {one.table} are of {count} different {one.part.name} ({shown}) and are "
    text += "aggregated together; convert them, filter by one, or group by it"
    yield Finding("units differ", Severity.WARNING, subject, text, {"units": float(count)})


_RULES: Mapping[str, Any] = {
    "filter": _filter,
    "denominator": _denominator,
    "null in aggregate": _null,
    "units differ": _unit,
}


_MOST_VALUES, _MOST_CHARACTERS = 5_000, 60
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
    near = _near(literals[0][:_MOST_CHARACTERS], values) if literals else values[:_SHOWN]
    return f"; {column} has {', '.join(repr(one[:40]) for one in near)}" if near else ""


def values_of(table: str, column: str, tables: Tables) -> list[str]:
    """Return the different values of a column, the most frequent first, up to 5,000, as texts.

    Of each its first 60 characters: to compare two long texts takes minutes.
    """
    cell = f"left(CAST({of(table, column)} AS VARCHAR), {_MOST_CHARACTERS})"
    sql = (
        f"SELECT {cell} AS v FROM {quoted(table)} WHERE {cell} IS NOT NULL GROUP BY v "
        f"ORDER BY count(*) DESC, v LIMIT {_MOST_VALUES}"
    )
    return [str(row[0]) for row in tables.ask(sql, [table], _MOST_VALUES).rows]


def _near(wanted: str, values: list[str]) -> list[str]:
    same = [one for one in values if folded(one) == folded(wanted)]
    alike = process.extract(wanted, values, scorer=fuzz.WRatio, limit=_SHOWN)
    return (same or [text for text, *_ in alike])[:_SHOWN]
