"""Whose each column of a statement is, by the rules of scope that engines have.

sqlglot has said so already; what it has left open, or sees otherwise than engines do, is refused.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn

from sqlglot import exp
from sqlglot.optimizer.resolver import Resolver
from sqlglot.optimizer.scope import Scope

from pneuma_assets.core.answers.join_conditions import check_joined
from pneuma_assets.core.answers.statements import (
    OF,
    TABLE,
    Guard,
    ReadTable,
    Relation,
    VisibleSchema,
    refuse,
    scopes_of,
)
from pneuma_assets.core.text.suggest import nearest


class Columns:
    """Looks at every column of a statement, and spells it as it is kept.

    Attributes:
        read: Table and column, each once.
    """

    def __init__(self, schema: VisibleSchema) -> None:
        self._schema = schema
        self.read: dict[tuple[str, str], None] = {}

    def resolve(self, tree: exp.Expr) -> None:
        """Find whose each column is.

        Raises:
            SqlRefusedError: One is unknown, hidden, or stands where nobody looks for it; or tables
                are joined by no condition.
        """
        for kind in (exp.TableColumn, *((exp.Dot,) if self._schema.postgres else ())):
            if node := tree.find(kind):
                name = node.sql(self._schema.dialect)[:60]
                refuse(Guard.COLUMN, f"{name!r} is no column; name one, and not a whole row")
        scopes = scopes_of(tree)
        relations = {id(scope): self._relations(scope) for scope in scopes}
        seen: set[int] = set()
        for scope in scopes:
            around = [relations[id(one)] for one in _around(scope)]
            _check_stars(scope, around[0])
            for column in list(scope.find_all(exp.Column)):
                seen.add(id(column))
                self._column(column, scope, around)
        for column in tree.find_all(exp.Column):
            if id(column) not in seen:
                refuse(Guard.SYNTAX, f"{column.name[:60]!r} stands where no name is expected")
        for scope in scopes:
            if isinstance(scope.expression, exp.Select):
                check_joined(scope.expression, relations[id(scope)])

    def _column(
        self, column: exp.Column, scope: Scope, around: Sequence[dict[str, Relation]]
    ) -> None:
        if isinstance(column.this, exp.Star):
            return
        if not column.table:
            self._without_table(column, scope, around)
        if column.parent is not None and column.table:
            self._with_table(column, around)
        elif not column.table:
            column.this.set("this", self._schema.shown(column.name))

    def _relations(self, scope: Scope) -> dict[str, Relation]:
        """Return what a query selects from, by what it is called there."""
        resolver, found = Resolver(scope, self._schema.mapping), {}
        for name, _ in scope.references:
            source = scope.sources.get(name)
            if source is None or (isinstance(source, exp.Table) and TABLE not in source.meta):
                refuse(Guard.SYNTAX, f"{name[:60]!r} stands where no name is expected")
            at = None if isinstance(source, Scope) else source.meta[TABLE]
            query = source.expression if isinstance(source, Scope) else None
            columns = tuple(resolver.get_source_columns(name))
            found[name] = Relation(
                name, columns, None if at is None else self._schema.tables[at], query
            )
        return found

    def _without_table(
        self, column: exp.Column, scope: Scope, around: Sequence[dict[str, Relation]]
    ) -> None:
        """Leave a name that means a result, where the engine takes it for that; else find it."""
        if isinstance(scope.expression, exp.Query) and self._is_result(column, scope.expression):
            return
        for relations in around:
            having = [one for one in relations.values() if column.name in one.columns]
            if len(having) > 1:
                names = ", ".join(repr(one.name) for one in having)
                refuse(Guard.COLUMN, f"{names} have {column.name[:60]!r}; name the one you mean")
            if having:
                column.set("table", exp.to_identifier(having[0].name, quoted=True))
                return
        known = [relation for relations in around for relation in relations.values()]
        unknown_column(column.name, known, self._schema.tables)

    def _is_result(self, column: exp.Column, query: exp.Query) -> bool:
        """Tell whether a name means what a query gives; then it is put so that engines agree."""
        parent = column.parent
        meant = [at for at, name in enumerate(self._results(query)) if name == column.name]
        own = [at for at in meant if id(query.selects[at]) in self._schema.named]
        if meant and isinstance(parent, exp.Ordered) and parent.parent is query.args.get("order"):
            _order_by(column, query, meant, own)
            return True
        if own and self._schema.postgres and isinstance(parent, exp.Group):
            column.replace(_position(own[0]))  # else a hidden column of that name would be meant
            return True
        return bool(own) and not self._schema.postgres

    def _results(self, query: exp.Query) -> list[str]:
        """Return the names of what a query gives; those that sqlglot made of a name are none."""
        made = (exp.Column, exp.TableColumn)
        return [
            ""
            if id(one) not in self._schema.named
            and isinstance(one.unalias(), made)
            and not one.unalias().text("table")
            else one.alias_or_name
            for one in query.selects
        ]

    def _with_table(self, column: exp.Column, around: Sequence[dict[str, Relation]]) -> None:
        relation = next((one[column.table] for one in around if column.table in one), None)
        if relation is None:
            unknown_relation(column.table, [name for one in around for name in one])
        if column.name not in relation.columns:
            unknown_column(column.name, [relation], self._schema.tables)
        key, table = column.name, relation.table
        if table is None:
            column.this.set("this", self._schema.shown(key))
        else:
            spelled = self._schema.columns[self._schema.tables.index(table)][key]
            column.this.set("this", spelled)
            column.meta[OF] = table.name
            self.read.setdefault((table.name, spelled))


def _around(scope: Scope) -> Iterator[Scope]:
    """Yield the query and those around it whose tables it sees, the nearest first.

    A query in FROM or WITH sees none of what stands beside it there.
    """
    yield scope
    while scope.parent is not None:
        if scope.is_subquery:
            yield scope.parent
        scope = scope.parent


def _check_stars(scope: Scope, relations: dict[str, Relation]) -> None:
    """Refuse a `*` that could not be written out, unless it is of what a query gives."""
    for star in scope.find_all(exp.Star):
        above = star.parent
        if isinstance(above, exp.Count):
            continue
        named = [above.table] if isinstance(above, exp.Column) else list(relations)
        if any(one not in relations or relations[one].table is not None for one in named):
            refuse(Guard.COLUMN, "'*' cannot be written out here; name the columns that you mean")


def _order_by(
    column: exp.Column, query: exp.Query, meant: Sequence[int], own: Sequence[int]
) -> None:
    """Let ORDER BY name a result: by its own name, by its column, or else by its position.

    Args:
        column: Which has the name of a result.
        query: Of which the result is.
        meant: The positions of those that are called so, from 0.
        own: Of these, those to which the statement gives that name.
    """
    first = query.selects[meant[0]]
    if any(query.selects[at].unalias() != first.unalias() for at in meant[1:]):
        refuse(Guard.COLUMN, f"several results are called {column.name[:60]!r}; order by one")
    of = first.unalias()
    if not isinstance(query, exp.Select) or not (own or isinstance(of, exp.Column)):
        column.replace(_position(meant[0]))
    elif not own:
        column.set("table", of.args["table"].copy())


def _position(at: int) -> exp.Var:
    return exp.Var(this=str(at + 1))


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
