"""Whose every name in a statement is: each table and column is found, or the statement refused.

Names are found in any capitals and spelled as they are kept, so that they can be quoted. No part
of the tree is passed over: a table or column that nothing here has looked at is refused.
"""

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from pneuma_assets.core.answers.joining import check_joined
from pneuma_assets.core.answers.naming import Columns, Outer
from pneuma_assets.core.answers.outputs import Made, Output, of_values
from pneuma_assets.core.answers.refusing import Guard, ReadTable, refuse
from pneuma_assets.core.answers.relations import (
    Found,
    Relation,
    conjuncts,
    fixes_a_value,
    table_named,
)

_FEW = 100
"""Rows that may stand beside others without a condition."""

_CLAUSES = ("distinct", "where", "group", "having", "qualify", "windows", "limit", "offset")

_Env = Mapping[str, tuple[str, Output]]
"""What WITH has named, by names in lower case: each as it is spelled, and its columns."""


class Resolver:
    """Looks through one statement, and spells its names as they are kept.

    Args:
        tables: What it may read.
        dialect: What sqlglot calls the SQL of where it will run.
    """

    def __init__(self, tables: Sequence[ReadTable], dialect: str) -> None:
        self._dialect = dialect
        self._tables = {table.name.lower(): table for table in tables}
        self.found = Found()
        self._columns = Columns(self.found, tables, dialect)

    def resolve(self, tree: exp.Expr) -> Found:
        """Find all names of a statement.

        Raises:
            SqlRefusedError: One is unknown, hidden, or stands where nobody looks for it; or tables
                are joined by no condition.
        """
        for name in tree.find_all(exp.Identifier):
            if not name.args.get("quoted"):
                name.set("this", name.this.lower())
        self._query(tree, {}, ())
        for node in tree.find_all(exp.Table, exp.Column):
            if id(node) not in self.found.seen:
                refuse(Guard.SYNTAX, f"{node.name[:60]!r} stands where no name is expected")
        return self.found

    def _query(self, node: exp.Expr, env: _Env, outer: Outer) -> Output:
        env = self._with(node, env, outer)
        if isinstance(node, exp.Subquery):
            output = self._query(node.this, env, outer)
            self._ordered(node, output, env, outer)
            return output
        if isinstance(node, exp.SetOperation):
            output = self._query(node.this, env, outer)
            self._query(node.expression, env, outer)
            self._ordered(node, output, env, outer)
            return Output(output.columns)
        if isinstance(node, exp.Values):
            self._names(node, (), (), env, outer)
            return of_values(node, self._dialect)
        if not isinstance(node, exp.Select):
            refuse(Guard.QUERY, f"{type(node).__name__.upper()} is no query")
        return self._select(node, env, outer)

    def _with(self, node: exp.Expr, env: _Env, outer: Outer) -> _Env:
        found = dict(env)
        given = node.args.get("with_")
        for cte in given.expressions if given else ():
            output = self._query(cte.this, found, outer).renamed(cte.args["alias"])
            found[cte.alias.lower()] = (cte.alias, output)
        return found

    def _ordered(self, node: exp.Expr, output: Output, env: _Env, outer: Outer) -> None:
        """Look at what stands behind a set operation, or a query in parentheses."""
        result = [Relation("", output)]
        for key in ("order", "limit", "offset"):
            self._names(node.args.get(key), result, (), env, outer)

    def _select(self, node: exp.Select, env: _Env, outer: Outer) -> Output:
        relations: list[Relation] = []
        conditions: list[exp.Expr | None] = [node.args.get("where")]
        linked: list[tuple[Relation, ...]] = []
        given = [one for one in (node.args.get("from_"), *(node.args.get("joins") or ())) if one]
        for part in given:
            self._relation(part, env, outer, relations, conditions, linked)
        for condition in conditions[1:]:
            self._names(condition, relations, (), env, outer)
        aliases = [one.alias for one in node.expressions if isinstance(one, exp.Alias)]
        # PostgreSQL knows what results are called in GROUP BY and ORDER BY alone.
        known = () if self._dialect == "postgres" else aliases
        for part in node.expressions:
            self._names(part, relations, known, env, outer)
        for key in _CLAUSES:
            self._names(
                node.args.get(key), relations, aliases if key == "group" else known, env, outer
            )
        self._names(node.args.get("order"), relations, aliases, env, outer, aliases_first=True)
        check_joined(self.found, relations, conditions, linked)
        return self._output(node, relations)

    def _relation(
        self,
        part: exp.Expr,
        env: _Env,
        outer: Outer,
        relations: list[Relation],
        conditions: list[exp.Expr | None],
        linked: list[tuple[Relation, ...]],
    ) -> None:
        """Add what one FROM or JOIN brings, and what is joined to it in parentheses."""
        node, before = part.this, list(relations)
        if isinstance(node, exp.Subquery) and not isinstance(node.this, exp.Query):
            self._relation(node, env, outer, relations, conditions, linked)
        else:
            relations.append(self._one(node, env, outer))
        for join in node.args.get("joins") or ():
            self._relation(join, env, outer, relations, conditions, linked)
        if isinstance(part, exp.Join):
            conditions.append(part.args.get("on"))
            for name in part.args.get("using") or ():
                self._columns.using(name, relations)
            if part.args.get("using"):
                linked.append((*before, relations[len(before)]))
            if part.args.get("method"):
                linked += self._columns.natural(before, relations[len(before) :])

    def _one(self, node: exp.Expr, env: _Env, outer: Outer) -> Relation:
        alias = node.args.get("alias")
        if not isinstance(node, exp.Table):
            if not isinstance(node, exp.Query | exp.Values):
                refuse(Guard.FUNCTION, "a function, or something else, stands where a table does")
            output = self._query(node, env, outer)
            return Relation(node.alias_or_name, output.renamed(alias))
        self.found.seen.add(id(node))
        if not isinstance(node.this, exp.Identifier):
            refuse(Guard.FUNCTION, "a function stands where a table does; name a table")
        called = node.alias_or_name
        named = None if node.db else env.get(node.name.lower())
        if named is not None:
            node.set("this", exp.to_identifier(named[0], quoted=True))
            return Relation(called, named[1].renamed(alias))
        table = table_named(node, self._tables)
        self.found.tables.setdefault(table.name, table)
        node.set("this", exp.to_identifier(table.name, quoted=True))
        node.set("db", None)
        if alias is None:
            node.set("alias", exp.TableAlias(this=exp.to_identifier(called, quoted=True)))
        return Relation(called, Output(table.columns).renamed(alias), table)

    def _names(
        self,
        node: object,
        relations: Sequence[Relation],
        aliases: Sequence[str],
        env: _Env,
        outer: Outer,
        *,
        aliases_first: bool = False,
    ) -> None:
        """Find the columns below a node, and look through the queries in it."""
        for part in _parts(node):
            if isinstance(part, exp.Column):
                self._columns.column(part, relations, aliases, outer, aliases_first)
            else:
                self._query(part, env, (relations, *outer))

    def _output(self, node: exp.Select, relations: Sequence[Relation]) -> Output:
        """Return the columns of a SELECT; those without a name the engine will name."""
        columns: list[str | Made] = []
        for part in node.expressions:
            if isinstance(part, exp.Star):
                for relation in relations:
                    columns += relation.output.columns
                    for name in relation.output.names:
                        self._columns.read(relation, name)
            elif isinstance(part, exp.Column) and isinstance(part.this, exp.Star):
                columns += self.found.owners[id(part)].output.columns
            elif isinstance(part, exp.Alias | exp.Column):
                columns.append(part.alias_or_name)
            else:
                columns.append(Made(part, self._dialect))
        return Output(tuple(columns), _gives_few(node))


def _gives_few(node: exp.Select) -> bool:
    limit = node.args.get("limit")
    count = limit.expression if isinstance(limit, exp.Limit) else None
    if isinstance(count, exp.Literal) and count.is_int and int(count.this) <= _FEW:
        return True
    if not node.args.get("from_") or any(map(fixes_a_value, conjuncts(node.args.get("where")))):
        return True
    return not node.args.get("group") and any(
        found.find_ancestor(exp.Window, exp.Select) is node
        for part in node.expressions
        for found in part.find_all(exp.AggFunc)
    )


def _parts(node: object) -> Iterator[exp.Expr]:
    """Yield the columns below a node, itself among them, and the queries, which are not entered."""
    if isinstance(node, list):
        for one in node:
            yield from _parts(one)
    elif isinstance(node, exp.Column | exp.Query):
        yield node
    elif isinstance(node, exp.Expr):
        for child in node.iter_expressions():
            yield from _parts(child)
