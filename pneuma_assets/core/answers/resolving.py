"""Whose each column of a statement is, by the rules of scope that engines have.

sqlglot has said so already; what it has left open, or sees otherwise than engines do, is refused.
"""

from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.optimizer.resolver import Resolver
from sqlglot.optimizer.scope import Scope

from pneuma_assets.core.answers.joining import check_joined
from pneuma_assets.core.answers.refusing import Guard, refuse
from pneuma_assets.core.answers.unknown import Relation, unknown_column, unknown_relation
from pneuma_assets.core.answers.vocabulary import TABLE, Vocabulary, scopes_of


class Columns:
    """Looks at every column of a statement, and spells it as it is kept.

    Attributes:
        read: Table and column, each once.
    """

    def __init__(self, words: Vocabulary) -> None:
        self._words = words
        self.read: dict[tuple[str, str], None] = {}

    def resolve(self, tree: exp.Expr) -> None:
        """Find whose each column is.

        Raises:
            SqlRefusedError: One is unknown, hidden, or stands where nobody looks for it; or tables
                are joined by no condition.
        """
        for kind in (exp.TableColumn, *((exp.Dot,) if self._words.postgres else ())):
            if node := tree.find(kind):
                name = node.sql(self._words.dialect)[:60]
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
            column.this.set("this", self._words.shown(column.name))

    def _relations(self, scope: Scope) -> dict[str, Relation]:
        """Return what a query selects from, by what it is called there."""
        resolver, found = Resolver(scope, self._words.schema), {}
        for name, _ in scope.references:
            source = scope.sources.get(name)
            if source is None or (isinstance(source, exp.Table) and TABLE not in source.meta):
                refuse(Guard.SYNTAX, f"{name[:60]!r} stands where no name is expected")
            at = None if isinstance(source, Scope) else source.meta[TABLE]
            query = source.expression if isinstance(source, Scope) else None
            columns = tuple(resolver.get_source_columns(name))
            found[name] = Relation(
                name, columns, None if at is None else self._words.tables[at], query
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
        unknown_column(column.name, known, self._words.tables)

    def _is_result(self, column: exp.Column, query: exp.Query) -> bool:
        """Tell whether a name means what a query gives; then it is put so that engines agree."""
        parent = column.parent
        meant = [at for at, name in enumerate(self._results(query)) if name == column.name]
        own = [at for at in meant if id(query.selects[at]) in self._words.named]
        if meant and isinstance(parent, exp.Ordered) and parent.parent is query.args.get("order"):
            _order_by(column, query, meant, own)
            return True
        if own and self._words.postgres and isinstance(parent, exp.Group):
            column.replace(_position(own[0]))  # else a hidden column of that name would be meant
            return True
        return bool(own) and not self._words.postgres

    def _results(self, query: exp.Query) -> list[str]:
        """Return the names of what a query gives; those that sqlglot made of a name are none."""
        made = (exp.Column, exp.TableColumn)
        return [
            ""
            if id(one) not in self._words.named
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
            unknown_column(column.name, [relation], self._words.tables)
        key, table = column.name, relation.table
        if table is None:
            column.this.set("this", self._words.shown(key))
        else:
            spelled = self._words.columns[self._words.tables.index(table)][key]
            column.this.set("this", spelled)
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
