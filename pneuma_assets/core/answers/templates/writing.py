"""A plan as a statement, made of sqlglot's expressions: names are quoted, values are literals."""

import re
from collections.abc import Sequence

from sqlglot import exp

from pneuma_assets.core.answers.tables import AnswerSet
from pneuma_assets.core.answers.templates.fields import Field, Kind
from pneuma_assets.core.answers.templates.plan import Condition, Plan

_NUMBER = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,18})?")
_AGGREGATES = {"average": exp.Avg, "sum": exp.Sum, "min": exp.Min, "max": exp.Max}
_HEADINGS = {"average": "average", "sum": "total", "min": "lowest", "max": "highest"}
_HEADINGS_OF_TIME = {"min": "earliest", "max": "latest"}
_COMPARED = {"more": exp.GT, "less": exp.LT, "least": exp.GTE, "most": exp.LTE}


class Writer:
    """Writes plans over one set of tables."""

    def __init__(self, tables: AnswerSet, dialect: str) -> None:
        self._tables = tables.tables
        self._names = {one.table_id: one.read.name for one in tables.tables}
        self._dialect = dialect

    def written(self, plan: Plan) -> str:
        """Return the statement."""
        query = exp.Select()
        computed = self._computed(plan) if plan.how else None
        shown = plan.groups if plan.groups else plan.shown
        parts: list[exp.Expr] = [self._column(one) for one in shown]
        if plan.groups:
            parts += [self._column(one) for one in plan.shown if one not in plan.groups]
        if computed is not None:
            parts.append(exp.alias_(computed.copy(), _name(_heading(plan))))
        query.set("expressions", parts)
        query = self._from(query, plan)
        for condition in plan.where:
            if plan.outer is None or condition.fields[0].table == plan.outer:
                query = query.where(self._condition(condition), copy=False)
        if plan.groups and computed is not None:
            grouped = dict.fromkeys([*plan.groups, *plan.shown])
            query = query.group_by(*(self._column(one) for one in grouped), copy=False)
        elif plan.distinct and computed is None and plan.order is None:
            query = query.distinct(copy=False)
        if plan.having is not None and computed is not None:
            counts = list(map(_number, plan.having.values))
            query = query.having(_compared(computed.copy(), plan.having, counts), copy=False)
        return self._ordered(query, plan, computed).sql(dialect=self._dialect, identify=True)

    def _ordered(self, query: exp.Select, plan: Plan, computed: exp.Expr | None) -> exp.Select:
        by = self._column(plan.order) if plan.order is not None else computed
        if plan.falling is not None and by is not None and (plan.groups or not plan.how):
            ordered = exp.Ordered(this=by.copy(), desc=plan.falling, nulls_first=False)
            query = query.order_by(ordered, copy=False)
        return query.limit(plan.limit, copy=False) if plan.limit > 0 else query

    def _column(self, one: Field) -> exp.Column:
        table = self._tables[one.table].read.name
        return exp.column(_name(one.name), _name(table))

    def _computed(self, plan: Plan) -> exp.Expr:
        if plan.how != "count":
            if plan.measured is None:
                raise ValueError("nothing is measured")
            return _AGGREGATES[plan.how](this=self._column(plan.measured))
        if plan.measured is None:
            return exp.Count(this=exp.Star())
        column = self._column(plan.measured)
        return exp.Count(this=exp.Distinct(expressions=[column]) if plan.distinct else column)

    def _from(self, query: exp.Select, plan: Plan) -> exp.Select:
        first = self._tables[plan.tables[0] if plan.outer is None else plan.outer]
        rest = [*plan.joins]
        query = query.from_(exp.Table(this=_name(first.read.name)), copy=False)
        reached = {first.table_id}
        while rest:
            edge = next((e for e in rest if len(reached.intersection(e.tables)) == 1), None)
            if edge is None:
                break
            rest.remove(edge)
            new = next(one for one in edge.tables if one not in reached)
            reached.add(new)
            on = exp.and_(*(
                exp.EQ(this=exp.column(_name(mine), _name(self._names[edge.table])),
                       expression=exp.column(_name(other), _name(self._names[edge.other])))
                for mine, other in zip(edge.columns, edge.other_columns, strict=True)))  # fmt: skip
            table = exp.Table(this=_name(self._names[new]))
            if plan.outer is None:
                query = query.join(table, on=on, copy=False)
            else:
                only = [c for c in plan.where if self._tables[c.fields[0].table].table_id == new]
                on = exp.and_(on, *map(self._condition, only))
                query = query.join(table, on=on, join_type="left", copy=False)
        return query

    def _condition(self, condition: Condition) -> exp.Expr:
        each = [self._of_field(one, condition) for one in condition.fields]
        return exp.or_(*each) if len(each) > 1 else each[0]

    def _of_field(self, one: Field, condition: Condition) -> exp.Expr:
        column: exp.Expr = self._column(one)
        if condition.how == "holds":
            return column
        if condition.is_year:
            column = exp.Extract(this=exp.var("year"), expression=column)
            return _compared(column, condition, list(map(_number, condition.values)))
        if one.kind is Kind.DATE:
            dates = [exp.cast(exp.Literal.string(value), "date") for value in condition.values]
            return _compared(exp.cast(column, "date"), condition, dates)
        as_number = one.kind is Kind.NUMBER
        values = [_number(v) if as_number else exp.Literal.string(v) for v in condition.values]
        return _compared(column, condition, values)


def _heading(plan: Plan) -> str:
    """Return what people read above what is computed: `count`, `average price`."""
    if plan.how == "count" or plan.measured is None:
        said = "count"
    else:
        dated = plan.measured.kind in {Kind.DATE, Kind.TIME}
        words = _HEADINGS | _HEADINGS_OF_TIME if dated else _HEADINGS
        said = f"{words[plan.how]} {plan.measured.name}"
    taken = {one.name.casefold() for one in (*plan.groups, *plan.shown)}
    return f"{said} of rows" if said.casefold() in taken else said


def _compared(column: exp.Expr, condition: Condition, values: Sequence[exp.Expr]) -> exp.Expr:
    if condition.how == "between":
        return exp.Between(this=column, low=values[0], high=values[1])
    if condition.how != "equals":
        return _COMPARED[condition.how](this=column, expression=values[0])
    if len(values) > 1:
        return exp.In(this=column, expressions=list(values))
    return exp.EQ(this=column, expression=values[0])


def _number(text: str) -> exp.Expr:
    """Return a number; a text that is none stays a text, whatever its column's type says."""
    return exp.Literal.number(text) if _NUMBER.fullmatch(text) else exp.Literal.string(text)


def _name(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)
