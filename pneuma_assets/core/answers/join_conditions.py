"""How tables are joined: by a condition each, and by one that means what it says."""

from collections.abc import Iterable, Iterator, Mapping

from sqlglot import exp

from pneuma_assets.core.answers.statements import Guard, Relation, VisibleSchema, refuse

_FEW = 100
"""Rows that may stand beside others without a condition."""


def check_using(tree: exp.Expr, schema: VisibleSchema) -> None:
    """Refuse USING and NATURAL where sqlglot would write out another condition than engines mean.

    Args:
        tree: A statement.
        schema: Tells which columns tables have.
    """
    for select in tree.find_all(exp.Select):
        joins: list[exp.Join] = select.args.get("joins") or []
        if not any(one.args.get("using") or one.method for one in joins):
            continue
        first = select.args["from_"].this
        plain = all(one.args.get("using") or one.method or one.args.get("on") for one in joins)
        nested = any(
            isinstance(one, exp.Subquery) and not isinstance(one.this, exp.Query)
            for one in (first, *(join.this for join in joins))
        ) or any(one.this.args.get("joins") for one in (select.args["from_"], *joins))
        outer = len(joins) > 1 and any(one.side in ("RIGHT", "FULL") for one in joins)
        if not plain or nested or outer:
            refuse(
                Guard.SYNTAX,
                "USING and NATURAL may not stand beside ',', joins in parentheses or RIGHT and "
                "FULL joins; say by ON which columns are equal",
            )
        _check_unambiguous(first, joins, schema)


def _check_unambiguous(first: exp.Expr, joins: Iterable[exp.Join], schema: VisibleSchema) -> None:
    """Refuse a column of USING that several tables before have, and none of them is joined by."""
    before, merged = [first], set[str]()
    for join in joins:
        named = {one.name for one in join.args.get("using") or ()}
        added = set(schema.columns_of(join.this))
        known = [set(schema.columns_of(one)) for one in before]
        if join.method:
            named = {name for name in added if any(name in one for one in known)}
        for name in sorted(named - merged):
            if sum(name in one for one in known) > 1:
                refuse(Guard.COLUMN, f"several tables have {name[:60]!r}; say by ON which is meant")
        merged |= named
        before.append(join.this)


def check_joined(select: exp.Select, relations: Mapping[str, Relation]) -> None:
    """Refuse relations between which no condition stands.

    One that gives few rows whatever the tables hold, such as an average, may stand beside others,
    and so may one of which a column has to equal a value.

    Args:
        select: Every column of which says whose it is.
        relations: What it selects from.

    Raises:
        SqlRefusedError: Two are joined by nothing.
    """
    group = {name: name for name in relations}
    joins = list(_joins(select))
    if any(one.method for one in joins):
        refuse(Guard.CROSS_JOIN, "NATURAL joins what has no column in common; join by ON")
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


def _joins(node: exp.Expr) -> Iterator[exp.Join]:
    """Yield the joins of a query, those in parentheses among them."""
    first = node.args.get("from_")
    for part in (*([first] if first else ()), *(node.args.get("joins") or ())):
        if isinstance(part, exp.Join):
            yield part
        inner = part.this
        while isinstance(inner, exp.Subquery | exp.Table):
            yield from _joins(inner)
            inner = inner.this


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
    if isinstance(node, exp.Values):
        return True
    if not isinstance(node, exp.Select):
        return False
    limit = node.args.get("limit")
    count = limit.expression if isinstance(limit, exp.Limit) else None
    if isinstance(count, exp.Literal) and count.is_int and int(count.this) <= _FEW:
        return True
    if not node.args.get("from_") or any(map(_fixes_a_value, _conjuncts(node.args.get("where")))):
        return True
    return not node.args.get("group") and any(
        found.find_ancestor(exp.Window, exp.Select) is node
        for part in node.expressions
        for found in part.find_all(exp.AggFunc)
    )
