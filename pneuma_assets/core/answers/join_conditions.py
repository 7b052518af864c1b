"""How tables are joined: by a condition each, and by one that means what it says."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlglot import exp

from pneuma_assets.core.answers.made_rows import rows_of
from pneuma_assets.core.answers.statements import Guard, Relation, refuse

_FEW = 100
"""Rows that may stand beside others without a condition."""


def write_using(
    joins: Sequence[exp.Join], nested: bool, relations: Iterable[Relation]
) -> dict[str, exp.Expr]:
    """Put ON in the place of USING; return what each column is that they make one of.

    Args:
        joins: Of a query, in order.
        nested: Whether there are joins in parentheses, too.
        relations: What the query selects from, in order.

    Raises:
        SqlRefusedError: Engines may mean another condition than what would be written.
    """
    merged: dict[str, exp.Expr] = {}
    if not any(one.args.get("using") for one in joins):
        return merged
    plain = all(one.args.get("using") or one.args.get("on") for one in joins)
    outer = any(one.side in ("RIGHT", "FULL") for one in joins)
    if nested or not plain or (outer and len(joins) > 1):
        refuse(
            Guard.SYNTAX,
            "USING may not stand beside ',', joins in parentheses or RIGHT and FULL joins; say by "
            "ON which columns are equal",
        )
    first, *others = relations
    before = [first]
    for join, other in zip(joins, others, strict=True):
        conditions = []
        for name in (one.name for one in join.args.get("using") or ()):
            holders = [one for one in before if name in one.times]
            if len(holders) > 1 and name not in merged:
                refuse(Guard.COLUMN, f"several tables have {name[:60]!r}; say by ON which is meant")
            if not holders or name not in other.times:
                refuse(Guard.COLUMN, f"USING names {name[:60]!r}, which not both sides have")
            left = merged.get(name) or exp.column(name, table=holders[0].name)
            right = exp.column(name, table=other.name)
            conditions.append(exp.EQ(this=left.copy(), expression=right))
            merged[name] = exp.Coalesce(this=left, expressions=[right.copy()]) if outer else left
        if conditions:
            join.set("on", exp.and_(*conditions))
            join.set("using", None)
        before.append(other)
    return merged


def check_joined(
    select: exp.Select, joins: Iterable[exp.Join], relations: Mapping[str, Relation]
) -> None:
    """Refuse relations between which no condition stands.

    One that gives few rows whatever the tables hold, such as an average, may stand beside others,
    and so may one of which a column has to equal a value.

    Args:
        select: Every column of which says whose it is.
        joins: All of it.
        relations: What it selects from, by what columns say.

    Raises:
        SqlRefusedError: Two are joined by nothing.
    """
    group = {name: name for name in relations}
    fixed: set[str] = set()
    for condition in (select.args.get("where"), *(one.args.get("on") for one in joins)):
        for part in _conjuncts(condition):
            owners = {one.table for one in part.find_all(exp.Column)} & group.keys()
            met = {group[one] for one in owners}
            group = {one: min(met) if of in met else of for one, of in group.items()}
            if _fixes_a_value(part):
                fixed |= owners
    large = [
        name
        for name, one in relations.items()
        if name not in fixed and not (one.query is not None and _gives_few(one.query))
    ]
    if len({group[name] for name in large}) > 1:
        names = ", ".join(map(repr, large[:5]))
        refuse(
            Guard.CROSS_JOIN,
            f"no condition joins all of {names}; say by ON or WHERE which columns have to be equal",
        )


def _conjuncts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """Yield the parts of a condition that all have to hold."""
    if isinstance(condition, exp.Paren | exp.Where):
        yield from _conjuncts(condition.this)
    elif isinstance(condition, exp.And):
        yield from _conjuncts(condition.left)
        yield from _conjuncts(condition.right)
    elif condition is not None:
        yield condition


def _fixes_a_value(condition: exp.Expr) -> bool:
    """Tell whether a condition says that a column equals a value that the statement names."""
    if not isinstance(condition, exp.EQ):
        return False
    sides = {type(condition.left.unnest()), type(condition.right.unnest())}
    return sides == {exp.Column, exp.Literal}


def _gives_few(node: exp.Expr) -> bool:
    if isinstance(node, exp.Table):  # a series
        return rows_of(node.this) <= _FEW
    if not isinstance(node, exp.Select):
        return isinstance(node, exp.Values | exp.Unnest)
    limit = node.args.get("limit")
    count = limit.expression if isinstance(limit, exp.Limit) else None
    if isinstance(count, exp.Literal) and count.is_int and int(count.this) <= _FEW:
        return True
    if not node.args.get("from_"):
        return node.find(exp.Explode) is None
    if any(map(_fixes_a_value, _conjuncts(node.args.get("where")))):
        return True
    return not node.args.get("group") and any(
        found.find_ancestor(exp.Window, exp.Select) is node
        for part in node.expressions
        for found in part.find_all(exp.AggFunc)
    )
