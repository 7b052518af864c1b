"""What joins of a statement do to the number of rows, and to what is aggregated over them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

from sqlglot import exp

from pneuma_assets.core.answers.statements import Checked
from pneuma_assets.core.seek.results import Finding, Severity
from pneuma_assets.core.sources.base import StatementRows

AGGREGATES = (exp.Sum, exp.Avg, exp.Median)
REPEATED = "repeated in aggregate"
"""The rule that a join repeats rows that are added up."""
_FROM = "from_"

Ask = Callable[[str], StatementRows]
"""Runs a statement over the tables of another, in its dialect."""


def findings_of_joins(statement: Checked, subject: str, ask: Ask) -> Iterator[Finding]:
    """Yield of each SELECT of a statement how many rows there are before and after each join.

    Of those that stand beside others, or in WITH; what a query of an outer row reads is not looked
    at.
    """
    for select in statement.tree.find_all(exp.Select):
        joins = select.args.get("joins") or []
        if joins and _stands_alone(select) and all(map(_is_named, _relations(select))):
            counted = _counted(select, statement.dialect, ask)
            yield from _of_rows(select, counted, subject)
            yield from _of_aggregates(select, counted, subject, statement.dialect)


def _relations(select: exp.Select) -> list[exp.Expr]:
    return [select.args[_FROM].this, *(one.this for one in select.args.get("joins") or [])]


def _is_named(relation: exp.Expr) -> bool:
    return isinstance(relation, exp.Table)


def _stands_alone(select: exp.Select) -> bool:
    """Tell whether a SELECT is the statement, in WITH, or in FROM of one that is."""
    parent = select.parent
    while parent is not None:
        if not isinstance(
            parent, exp.Query | exp.CTE | exp.With | exp.From | exp.Join | exp.TableAlias
        ):
            return False
        if isinstance(parent, exp.Subquery) and not isinstance(parent.parent, exp.From | exp.Join):
            return False
        parent = parent.parent
    return True


def _named(select: exp.Select) -> list[exp.CTE]:
    """Return the queries that WITH names where a SELECT stands: those before it, all around."""
    around: list[exp.Expr] = [select]
    while (parent := around[-1].parent) is not None:
        around.append(parent)
    named: dict[str, exp.CTE] = {}
    for node in reversed(around):
        with_ = node.args.get("with_")
        for one in takewhile(lambda one: one not in around, with_.expressions if with_ else ()):
            named[one.alias.casefold()] = one
    return list(named.values())


@dataclass(frozen=True, slots=True)
class _Counts:
    """How many rows there are.

    Attributes:
        of: Of each relation, by what the SELECT calls it.
        after: Behind each join.
        filtered: Behind the filter, of each relation; without those that an outer join fills up.
        kept: Of each relation that stand there, each once, as far as that is counted; else all.
    """

    of: Mapping[str, int]
    after: Sequence[int]
    filtered: Mapping[str, int]
    kept: Mapping[str, int]


def _counted(select: exp.Select, dialect: str, ask: Ask) -> _Counts:
    relations, joins = _relations(select), select.args["joins"]
    called = [one.alias_or_name for one in relations]
    queries = [exp.select(_count()).from_(one.copy()) for one in relations]
    for at in range(len(joins)):
        query = exp.select(_count()).from_(relations[0].copy())
        query.set("joins", [one.copy() for one in joins[: at + 1]])
        queries.append(query)
    queries.append(queries[-1].copy())
    if where := select.args.get("where"):
        queries[-1].set("where", where.copy())
    filled = dict(_filled(relations, joins, where))
    queries += [*filled.values(), *_kept(relations, joins, where)]
    cells = [exp.alias_(exp.Subquery(this=one), f"n{at}") for at, one in enumerate(queries)]
    whole = exp.select(*cells)
    if named := _named(select):
        whole.set("with_", exp.With(expressions=[one.copy() for one in named]))
    row = iter(map(int, ask(whole.sql(dialect, identify=True)).rows[0]))
    of = dict(zip(called, islice(row, len(called)), strict=True))
    after = list(islice(row, len(joins)))
    filtered = {**dict.fromkeys(called, next(row)), **dict(zip(filled, row, strict=False))}
    return _Counts(of, after, filtered, dict(zip(called, row, strict=False)) or of)


def _kept(
    relations: Sequence[exp.Expr], joins: Sequence[exp.Join], where: exp.Where | None
) -> Iterator[exp.Select]:
    """Yield queries of how many rows of each of two relations stand behind an inner join."""
    on = joins[0].args.get("on")
    is_inner = joins[0].kind in {"", "INNER"} and not joins[0].side and not joins[0].method
    if len(joins) > 1 or on is None or not is_inner:
        return
    for one, other in (relations, relations[::-1]):
        partner = exp.select("1").from_(other.copy()).where(on.copy())
        partner = partner if where is None else partner.where(where.this.copy())
        yield exp.select(_count()).from_(one.copy()).where(exp.Exists(this=partner))


def _filled(
    relations: Sequence[exp.Expr], joins: Sequence[exp.Join], where: exp.Where | None
) -> Iterator[tuple[str, exp.Select]]:
    """Yield of each relation that an outer join fills up with NULL how many rows it does not."""
    for at, relation in enumerate(relations):
        own = joins[at - 1].side if at else ""
        if own not in {"LEFT", "FULL"} and {"RIGHT", "FULL"}.isdisjoint(j.side for j in joins[at:]):
            continue
        marked = exp.select("*", exp.alias_(exp.Literal.number(1), "is_met")).from_(relation.copy())
        some = [one.copy() for one in relations]
        some[at] = marked.subquery(relation.alias_or_name)
        query = exp.select(exp.Count(this=exp.column("is_met", relation.alias_or_name)))
        query = query.from_(some[0])
        query.set("joins", [one.copy() for one in joins])
        for join, other in zip(query.args["joins"], some[1:], strict=True):
            join.set("this", other)
        query.set("where", where and where.copy())
        yield relation.alias_or_name, query


def _count() -> exp.Expr:
    return exp.Count(this=exp.Star())


def _of_rows(select: exp.Select, counted: _Counts, subject: str) -> Iterator[Finding]:
    first, *others = _relations(select)
    before = counted.of[first.alias_or_name]
    for relation, join, after in zip(others, select.args["joins"], counted.after, strict=True):
        rows = counted.of[relation.alias_or_name]
        name = relation.alias_or_name
        text = f"joining {name} ({rows:,} rows): {before:,} rows before, {after:,} after"
        figures = {"before": float(before), "other": float(rows), "after": float(after)}
        if after > before and after > rows and join.args.get("on"):  # else each stands beside each
            text += "; rows of both sides are repeated, for neither has its key once"
            yield Finding("join multiplies", Severity.WARNING, subject, text, figures)
        elif not after and before:
            text += "; nothing goes together: compare how both sides spell what is joined"
            yield Finding("join unmatched", Severity.ERROR, subject, text, figures)
        elif after < before and join.side not in {"LEFT", "FULL"} and join.kind not in {
            "SEMI", "ANTI"
        }:  # fmt: skip
            text += f"; {before - after:,} or more rows have no partner and are left out"
            yield Finding("join unmatched", Severity.WARNING, subject, text, figures)
        else:
            yield Finding("join", Severity.NOTE, subject, text, figures)
        before = after


def _of_aggregates(
    select: exp.Select, counted: _Counts, subject: str, dialect: str
) -> Iterator[Finding]:
    """Yield which sums and means are of rows that the joins repeat.

    More rows behind the filter than rows of a relation are a proof that some of these are repeated.
    """
    repeated = {name for name, rows in counted.kept.items() if counted.filtered[name] > rows}
    for node in (one for part in select.expressions for one in part.find_all(*AGGREGATES)):
        if node.find_ancestor(exp.Select) is not select or isinstance(node.this, exp.Distinct):
            continue
        names = {one.table for one in node.find_all(exp.Column)}
        if names and names <= repeated:
            said = node.sql(dialect)[:100].replace('"', "")
            rows = max(counted.filtered[name] for name in names)
            figures = {"rows": float(rows)}
            figures |= {f"rows of {name}": float(counted.kept[name]) for name in sorted(names)}
            of = ", ".join(f"{counted.kept[name]:,} of {name}" for name in sorted(names))
            text = f"{said} is over {rows:,} rows, but {of}: the join repeats them, so "
            text += "that they count more than once; aggregate before joining"
            yield Finding(REPEATED, Severity.WARNING, subject, text, figures)
