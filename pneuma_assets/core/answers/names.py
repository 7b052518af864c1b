"""Whose every name in a statement is, by the rules of scope that engines have.

In PostgreSQL a statement reads its tables themselves, so a hidden column is as near as its name:
no column is left without the table that is meant, no `*` is left to the engine, and a name that is
not found is refused. Names are found in any capitals, and are spelled as they are kept. sqlglot's
own `qualify` gives columns and results other names, which would have to be taken back.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from sqlglot import exp

from pneuma_assets.core.answers.allowed_sql import MOST_RESULTS
from pneuma_assets.core.answers.join_conditions import check_joined, write_using
from pneuma_assets.core.answers.made_rows import SERIES
from pneuma_assets.core.answers.query_scope import (
    FOUND,
    Scope,
    given,
    is_result,
    name_results,
    unknown_column,
    unknown_relation,
    unknown_table,
    written_out,
)
from pneuma_assets.core.answers.statements import OF, Guard, ReadTable, Relation, refuse


def qualified(
    tree: exp.Expr, tables: Sequence[ReadTable], dialect: str
) -> tuple[tuple[ReadTable, ...], tuple[tuple[str, str], ...]]:
    """Put names as they are kept; return the tables of a statement and the columns that it reads.

    Args:
        tree: Of parts that may stand in a statement; it is changed.
        tables: What it may read.
        dialect: What sqlglot calls the SQL of where it will run.

    Raises:
        SqlRefusedError: A name is unknown, hidden, or stands where nobody looks for it; or tables
            are joined by no condition.
    """
    _Names(tree, tables, dialect).look_up(tree, {}, ())
    nodes = list(tree.find_all(exp.Table, exp.Column, bfs=False))
    for node in nodes:
        if FOUND not in node.meta:
            refuse(Guard.SYNTAX, f"{node.name[:60]!r} stands where no name is expected")
    found = dict.fromkeys(one.meta[FOUND] for one in nodes if isinstance(one, exp.Table))
    read = dict.fromkeys((one.meta[OF], one.name) for one in nodes if OF in one.meta)
    return tuple(one for one in found if one is not None), tuple(read)


class _Names:
    """Looks up the names of one statement."""

    def __init__(self, tree: exp.Expr, tables: Sequence[ReadTable], dialect: str) -> None:
        self._tables, self._postgres = tables, dialect == "postgres"
        self._left = MOST_RESULTS
        in_lower = [Counter(map(str.lower, one.columns)) for one in tables]
        self._apart = {  # columns that differ from another of their table in capitals alone
            name
            for one, times in zip(tables, in_lower, strict=True)
            for name in one.columns
            if times[name.lower()] > 1
        }
        self._shown = {name.lower(): name for table in tables for name in table.columns}
        identifiers = list(tree.find_all(exp.Identifier))
        for node in identifiers:
            if node.quoted and isinstance(node.parent, exp.Alias | exp.TableAlias):
                self._shown[node.this.lower()] = node.this
        for node in identifiers:
            node.set("this", self._key(node.this, bool(node.quoted)))
            node.set("quoted", True)
        self._spelled = {
            id(table): {self._key(one): one for one in table.columns} for table in tables
        }
        self._aliases = {one.name.lower() for one in tree.find_all(exp.TableAlias)}
        self._with = {one.alias.lower() for one in tree.find_all(exp.CTE)}
        self._free = (name for n in range(1_000) if (name := f"_q_{n}") not in self._aliases)
        nodes = list(tree.find_all(exp.Table))
        self._said = {one.name.lower() for one in nodes}
        meant = {id(one): one for one in map(self._meant, nodes) if one is not None}
        self._own = Counter(one.place[1].lower() for one in meant.values())

    def _key(self, name: str, quoted: bool = True) -> str:
        """Return how a name is compared, and shown where it is none of a table."""
        lower = name.lower()
        return name if quoted and name in self._apart else self._shown.get(lower, lower)

    def look_up(
        self, query: exp.Expr, known: Mapping[str, Relation], around: Sequence[Scope]
    ) -> Sequence[str]:
        """Look up all names in a query; return what its results are called.

        Args:
            query: It; one that has no parent is the statement.
            known: What WITH has named before.
            around: What names mean in the queries that it is a part of, the nearest first.
        """
        scope, joins = Scope(query, dict(known)), list[exp.Join]()
        scopes, known = [scope, *around], scope.known
        part = query.args.get("with_")
        for one in part.expressions if part else ():
            known[one.alias] = given(one, self.look_up(one.this, known, around), one.this)
        if isinstance(query, exp.Select):
            joins = self._select(query, scopes)
        elif isinstance(query, exp.Values):
            scope.results = [""] * max(len(query.expressions[0].expressions), 1)
        else:
            scope.results = self.look_up(query.this, known, around)
            if isinstance(query, exp.SetOperation):
                self.look_up(query.expression, known, around)
        done = {"from_", "joins", "with_", "alias"}
        done |= set() if isinstance(query, exp.Select | exp.Values) else {"this", "expression"}
        for key, value in list(query.args.items()):
            if key not in done:
                self._expressions(value, scopes)
        if isinstance(query, exp.Select):
            check_joined(query, joins, {one.called: one for one in scope.relations.values()})
        return scope.results

    def _select(self, select: exp.Select, scopes: Sequence[Scope]) -> list[exp.Join]:
        """Look up what a SELECT reads, and write out its results; return all of its joins."""
        scope = scopes[0]
        if select.parent is not None:
            name_results(select)
        joins: list[exp.Join] = select.args.get("joins") or []
        parts = [one for one in (select.args.get("from_"), *joins) if one is not None]
        nested = [one for part in parts for one in self._sources(part.this, scopes)]
        scope.merged = write_using(joins, bool(nested), scope.relations.values())
        for join in (*joins, *nested):
            self._expressions(join.args.get("on"), scopes)
        for join in joins:
            if join.kind in ("SEMI", "ANTI"):
                scope.relations.pop(join.this.alias_or_name, None)
        results = (
            pair for one in select.expressions for pair in written_out(one, scope, self._postgres)
        )
        written = list(islice(results, self._left + 1))
        self._left -= sum(len(names) for _, names in written)
        if self._left < 0:
            refuse(Guard.SIZE, f"'*' stands for more than {MOST_RESULTS:,} columns; name fewer")
        select.set("expressions", [one for one, _ in written])
        named = [(name, isinstance(one, exp.Alias)) for one, names in written for name in names]
        scope.results = [name for name, _ in named]
        scope.given = {name: at for at, (name, is_own) in enumerate(named) if is_own}
        return [*joins, *nested]

    def _sources(self, node: exp.Expr, scopes: Sequence[Scope]) -> Iterator[exp.Join]:
        """Add what stands in FROM to the relations of a query; yield joins in parentheses."""
        (scope, *around), added = scopes, None
        if isinstance(node, exp.Unnest) or isinstance(node.this, SERIES):
            added = self._made(node, scopes)
        elif isinstance(node, exp.Table):
            added = self._table(node, scope.known)
        elif isinstance(node, exp.Values) or isinstance(node.unnest(), exp.Query):
            if not node.alias:
                node.set("alias", exp.TableAlias(this=exp.to_identifier(next(self._free), True)))
            added = given(node, self.look_up(node, scope.known, around), node)
        elif isinstance(node, exp.Subquery) and not node.alias:
            yield from self._sources(node.this, scopes)
        else:
            refuse(Guard.SYNTAX, "joins in parentheses have no name; leave it out")
        if added is not None and scope.relations.setdefault(added.name, added) is not added:
            refuse(Guard.COLUMN, f"FROM has {added.name[:60]!r} twice; give one another name")
        for join in node.args.get("joins") or ():
            yield join
            yield from self._sources(join.this, scopes)

    def _made(self, node: exp.Expr, scopes: Sequence[Scope]) -> Relation:
        """Return rows that the statement makes itself, perhaps of what stands before them."""
        columns = node.alias_column_names
        if len(columns) != 1 or (isinstance(node, exp.Unnest) and len(node.expressions) != 1):
            refuse(Guard.COLUMN, "name what a function in FROM gives, as in unnest(list) AS u(x)")
        self._expressions(node.expressions, scopes)
        node.meta[FOUND] = None
        return Relation(node.alias, node.alias, tuple(columns), node)

    def _table(self, node: exp.Table, known: Mapping[str, Relation]) -> Relation:
        if not isinstance(node.this, exp.Identifier):
            refuse(Guard.FUNCTION, "a function stands where a table does; name a table")
        if not node.db and node.name in known:
            node.meta[FOUND] = None
            return given(node, known[node.name].columns, known[node.name].query)
        table, alias = self._meant(node), node.args.get("alias")
        if table is None:
            unknown_table(node, self._tables)
        if alias is not None and alias.columns:  # the engine counts hidden columns, too
            refuse(Guard.COLUMN, "columns of a table are not named anew behind its name; "
                   "name them in SELECT by AS")  # fmt: skip
        schema, own = table.place
        lower = own.lower()
        if not schema and lower in self._with - {table.name.lower()}:
            refuse(Guard.TABLE, f"WITH calls {own[:60]!r} what a table is called; rename it")
        name = node.alias_or_name
        others = self._aliases | (self._said - {name.lower()})
        plain = alias is None and lower not in others and self._own[lower] == 1
        called = own if plain else name
        node.meta[FOUND] = table
        node.set("this", exp.to_identifier(own, quoted=True))
        node.set("db", exp.to_identifier(schema, quoted=True) if schema else None)
        other = exp.TableAlias(this=exp.to_identifier(called, quoted=True))
        node.set("alias", None if called == own else other)
        spelled = self._spelled[id(table)]
        return Relation(name, called, tuple(spelled), None, table, spelled)

    def _meant(self, node: exp.Table) -> ReadTable | None:
        above, name = node.db.lower(), node.name.lower()
        for table in self._tables:
            if name == table.name.lower() and above in ("", table.schema.lower()):
                return table
        places = (one for one in self._tables if tuple(map(str.lower, one.place)) == (above, name))
        return next(places, None)

    def _expressions(self, value: object, scopes: Sequence[Scope]) -> None:
        """Look up the names in parts of a query, those of queries in them, too."""
        waiting = [value]
        while waiting:
            one = waiting.pop()
            if isinstance(one, list):
                waiting += reversed(one)
            elif isinstance(one, exp.Query):
                self.look_up(one, scopes[0].known, scopes)
            elif isinstance(one, exp.Column):
                if FOUND not in one.meta:
                    self._column(one, scopes)
            elif isinstance(one, exp.Expr):
                waiting += reversed(one.args.values())

    def _column(self, column: exp.Column, scopes: Sequence[Scope]) -> None:
        if isinstance(column.this, exp.Star):
            refuse(Guard.COLUMN, "'*' cannot be written out here; name the columns that you mean")
        if column.db.lower() in {one.schema.lower() for one in self._tables}:  # of what FROM names
            column.set("db", None)
        if column.db:
            said = column.sql()[:60]
            refuse(Guard.COLUMN, f"{said!r} has too many parts; name table and column")
        relations = [relation for one in scopes for relation in one.relations.values()]
        if column.table:
            named = next((one for one in relations if one.name == column.table), None)
            if named is None:
                unknown_relation(column.table, [one.name for one in relations])
            self._bind(column, named, scopes)
        elif not is_result(column, scopes[0]) and not self._is_found(column, scopes):
            unknown_column(column.name, relations, self._tables)

    def _is_found(self, column: exp.Column, scopes: Sequence[Scope]) -> bool:
        """Look for a name alone in a query and in those around it, the nearest first."""
        name = column.name
        for at, scope in enumerate(scopes):
            if name in scope.merged:
                made = scope.merged[name].copy()
                named = isinstance(column.parent, exp.Select) and isinstance(made, exp.Coalesce)
                column.replace(exp.alias_(made, name, quoted=True, copy=False) if named else made)
                for one in list(made.find_all(exp.Column)):
                    self._bind(one, scope.relations[one.table], scopes)
                return True
            having = [one for one in scope.relations.values() if name in one.times]
            if len(having) > 1:
                names = ", ".join(repr(one.name) for one in having)
                refuse(Guard.COLUMN, f"{names} have {name[:60]!r}; name the one you mean")
            if having:
                self._bind(column, having[0], scopes)
                return True
            if at or name not in scope.given:
                continue
            if not self._postgres:
                column.meta[FOUND] = None
                return True
            if isinstance(column.parent, exp.Group):  # by name a hidden column would be meant
                column.replace(exp.Literal.number(scope.given[name] + 1))
                return True
        return False

    def _bind(self, column: exp.Column, relation: Relation, scopes: Sequence[Scope]) -> None:
        """Let a column say of what it is, as that is called, and be spelled as it is kept."""
        name, called = column.name, relation.called.lower()
        if not name or name not in relation.times:
            unknown_column(name, [relation], self._tables)
        seen = (one for scope in scopes for one in scope.relations.values())
        if next((one for one in seen if one.called.lower() == called), None) is not relation:
            twice = f"queries within each other call two things {relation.called[:60]!r}"
            refuse(Guard.COLUMN, f"{twice}; give one of them another name")
        column.meta[FOUND] = None
        column.set("table", exp.to_identifier(relation.called, quoted=True))
        if relation.table is None:
            return
        kept = relation.spelled[name]
        column.meta[OF] = relation.table.name
        if kept != name:
            column.this.set("this", kept)
            if isinstance(column.parent, exp.Select):
                column.replace(exp.alias_(column.copy(), name, quoted=True))
