"""What names mean in one query of a statement: what it selects from, and what it gives."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from sqlglot import exp

from pneuma_assets.core.answers.statements import Guard, ReadTable, Relation, refuse
from pneuma_assets.core.text.suggest import nearest

_NAMED = (exp.Alias, exp.Column)
_AROUND = (exp.Paren, exp.Cast, exp.Window, exp.Filter, exp.WithinGroup)
FOUND = "found"
"""What is noted of a table or column whose name was looked up: the table that it is of, if any."""


@dataclass(slots=True)
class Scope:
    """What names mean in one query.

    Attributes:
        query: It.
        known: What WITH has named.
        relations: What it selects from, by name.
        merged: What each column is that USING makes of several.
        results: What its results are called, in order; '' where nobody knows.
        given: The positions of those to which the statement itself gives a name.
    """

    query: exp.Expr
    known: dict[str, Relation]
    relations: dict[str, Relation] = field(default_factory=dict)
    merged: Mapping[str, exp.Expr] = field(default_factory=dict)
    results: Sequence[str] = ()
    given: Mapping[str, int] = field(default_factory=dict)


def given(node: exp.Expr, columns: Sequence[str], query: exp.Expr | None) -> Relation:
    """Return what a query gives under a name, and perhaps new names of its first columns."""
    names, name = node.alias_column_names, node.alias_or_name
    inner = query.unnest() if isinstance(query, exp.Expr) else None
    return Relation(name, name, (*names, *columns[len(names) :]), inner)


def is_result(column: exp.Column, scope: Scope) -> bool:
    """Tell whether a name in ORDER BY is that of a result, which engines prefer there."""
    ordered, name, query = column.parent, column.name, scope.query
    if (
        not isinstance(ordered, exp.Ordered)
        or ordered.parent is not query.args.get("order")
        or name not in scope.results
    ):
        return False
    if isinstance(query, exp.Select) and scope.results.count(name) > 1:
        same = [one.unalias() for one in query.selects if one.alias_or_name == name]
        if len(same) < scope.results.count(name) or any(one != same[0] for one in same):
            refuse(Guard.COLUMN, f"several results are called {name[:60]!r}; order by one")
    column.meta[FOUND] = None
    return True


def written_out(
    one: exp.Expr, scope: Scope, merged_first: bool
) -> Iterator[tuple[exp.Expr, Sequence[str]]]:
    """Yield a result and its name; of a `*` all that it stands for.

    That of a query of which not all results have a name of their own stays.

    Args:
        one: The result.
        scope: Of whose query it is.
        merged_first: Whether columns that USING makes one of stand before all others.
    """
    star = one.this if isinstance(one, exp.Column) else one
    if not isinstance(star, exp.Star):
        yield one, [one.alias_or_name if isinstance(one, _NAMED) else ""]
        return
    table = one.text("table")
    if table not in scope.relations and (table or not scope.relations):
        unknown_relation(table or "*", scope.relations)
    merged = {} if table else scope.merged
    first = merged if merged_first else ()
    yield from ((exp.column(name, quoted=True), [name]) for name in first)
    done = set(first)
    for relation in [scope.relations[table]] if table else scope.relations.values():
        names = relation.times
        if relation.table is None and ("" in names or len(names) < len(relation.columns)):
            rest = exp.Column(this=exp.Star(), table=exp.to_identifier(relation.called, True))
            rest.meta[FOUND] = None
            yield rest, relation.columns
            continue
        for name in relation.columns:
            if name not in merged:
                yield exp.column(name, table=relation.name, quoted=True), [name]
            elif name not in done:
                yield exp.column(name, quoted=True), [name]
                done.add(name)


def name_results(select: exp.Select) -> None:
    """Call what is computed as PostgreSQL does, where it has no name and that is plain."""
    taken = {one.alias_or_name for one in select.expressions if isinstance(one, _NAMED)}
    for one in select.expressions:
        inner = one
        while isinstance(inner, _AROUND):
            inner = inner.this
        name = one.output_name
        if not name and isinstance(inner, exp.Func):
            name = inner.sql_name().lower()
        if name and name not in taken and not isinstance(one, (*_NAMED, exp.Literal, exp.Star)):
            one.replace(exp.alias_(one.copy(), name, quoted=True))
            taken.add(name)


_SHOWN = 60


def unknown_table(node: exp.Table, tables: Sequence[ReadTable]) -> NoReturn:
    """Refuse a table that is none of those a statement may read, and name the nearest."""
    spelled = ".".join(filter(None, (node.db, node.name)))[:_SHOWN]
    known = [".".join(filter(None, (one.schema, one.name))) for one in tables]
    refuse(
        Guard.TABLE,
        f"it reads {spelled!r}, which is none of the tables it may read{_meant(spelled, known)}",
    )


def unknown_column(
    name: str, relations: Sequence[Relation], tables: Iterable[ReadTable]
) -> NoReturn:
    """Refuse a column that none of the relations has; name the table that has it, or the nearest.

    Args:
        name: As the statement says it.
        relations: Where it was looked for.
        tables: All that the statement may read.
    """
    shown = name[:_SHOWN]
    for table in (one.table for one in relations if one.table is not None):
        if name.lower() in map(str.lower, table.hidden):
            refuse(
                Guard.COLUMN,
                f"column {shown!r} of table {table.name!r} is hidden by rules of privacy; "
                "ask for another",
            )
    known = dict.fromkeys(column for one in relations for column in one.columns)
    having = [one.name for one in tables if name.lower() in map(str.lower, one.columns)]
    meant = f"; table {having[0]!r} has it" if having else _meant(shown, known)
    what = repr(relations[0].name) if len(relations) == 1 else "what it reads"
    computed = any(one.query is not None for one in relations)
    hint = (
        "give what a query computes a name by AS" if computed else "a text stands in single quotes"
    )
    refuse(Guard.COLUMN, f"there is no column {shown!r} in {what}{meant}; {hint}")


def unknown_relation(name: str, known: Iterable[str]) -> NoReturn:
    """Refuse a name before a column that is none of those in FROM, and name the nearest."""
    shown = name[:_SHOWN]
    refuse(Guard.COLUMN, f"FROM has nothing called {shown!r}{_meant(shown, known)}")


def _meant(name: str, known: Iterable[str]) -> str:
    names = list(known)
    near = nearest(name, names)
    if near:
        return f"; did you mean {', '.join(map(repr, near))}?"
    some = ", ".join(repr(one) for one in names[:10])
    return f"; there are {some}" if some else ""
