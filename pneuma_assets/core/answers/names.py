"""Whose every name in a statement is: sqlglot qualifies it, and every name is looked at once more.

In PostgreSQL a statement reads its tables themselves, so a hidden column is as near as its name: no
column is left without the table that is meant, no `*` is left to the engine, and a name that is not
found, by the rules of scope that engines have, is refused. Names are found in any capitals and are
spelled as they are kept.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.qualify_columns import qualify_columns
from sqlglot.optimizer.qualify_tables import qualify_tables

from pneuma_assets.core.answers.joining import check_using
from pneuma_assets.core.answers.refusing import Guard, ReadTable, refuse
from pneuma_assets.core.answers.resolving import Columns
from pneuma_assets.core.answers.spelling import spell
from pneuma_assets.core.answers.unknown import unknown_table
from pneuma_assets.core.answers.vocabulary import AS_IT_IS, TABLE, Vocabulary, held, scopes_of
from pneuma_assets.core.lineage.parsing import UnreadableSQLError, explained

_AROUND = (exp.Paren, exp.Cast, exp.Window, exp.Filter, exp.WithinGroup)


@dataclass(frozen=True, slots=True)
class Names:
    """A statement of which every name is known, and what it reads.

    Attributes:
        tree: It, every name spelled as it is kept.
        tables: What it reads, in the order in which it names them.
        columns: Table and column, each once.
    """

    tree: exp.Expr
    tables: tuple[ReadTable, ...]
    columns: tuple[tuple[str, str], ...]


def qualified(tree: exp.Expr, tables: Sequence[ReadTable], dialect: str) -> Names:
    """Return a statement with every name as it is kept; the tree is changed.

    Args:
        tree: Of parts that may stand in a statement.
        tables: What it may read.
        dialect: What sqlglot calls the SQL of where it will run.

    Raises:
        SqlRefusedError: A name is unknown, hidden, or stands where nobody looks for it; or tables
            are joined by no condition.
    """
    return _Qualifier(Vocabulary(tables, dialect)).qualified(tree)


class _Qualifier:
    def __init__(self, words: Vocabulary) -> None:
        self._words = words

    def qualified(self, tree: exp.Expr) -> Names:
        self._normalise(tree)
        self._bind(tree)
        check_using(tree, self._columns_of)
        selects = tree.find_all(exp.Select)
        self._words.named = {id(one) for each in selects for one in each.expressions if one.alias}
        given = set(map(id, tree.find_all(exp.Coalesce)))
        try:
            with explained():
                tree = qualify_tables(tree, dialect=self._words.dialect)
                tree = qualify_columns(
                    tree,
                    self._words.schema,
                    # One that names another that names another may grow beyond all bounds.
                    expand_alias_refs=False,
                    allow_partial_qualification=True,
                )
        except UnreadableSQLError as error:
            refuse(Guard.COLUMN, f"its names are not understood: {error}; write a simpler one")
        _without_coalesce(tree, given)
        columns = Columns(self._words)
        columns.resolve(tree)
        nodes = [one for one in tree.find_all(exp.Table, bfs=False) if TABLE in one.meta]
        found = dict.fromkeys(self._words.tables[one.meta[TABLE]] for one in nodes)
        spell(tree, nodes, self._words)
        return Names(tree, tuple(found), tuple(columns.read))

    def _normalise(self, tree: exp.Expr) -> None:
        """Put names into small letters, and keep positions and what is computed as they are."""
        for node in tree.find_all(exp.Identifier):
            if node.quoted and isinstance(node.parent, exp.Alias | exp.TableAlias):
                self._words.spelled[node.this.lower()] = node.this
            node.set("this", self._words.key(node.this, bool(node.quoted)))
            node.set("quoted", True)
        for number in tree.find_all(exp.Literal):
            if isinstance(number.parent, exp.Ordered | exp.Group) and number.is_int:
                number.replace(exp.Var(this=number.this))  # sqlglot would write out what it means
        for select in tree.find_all(exp.Select):
            if select is not tree:
                _name_results(select)
        schemas = {table.schema.lower() for table in self._words.tables} - {""}
        for column in tree.find_all(exp.Column):
            if column.args.get("catalog"):
                said = column.sql()[:60]
                refuse(Guard.COLUMN, f"{said!r} has too many parts; name table and column")
            if column.db in schemas:  # of a table that FROM has named
                column.set("db", None)

    def _bind(self, tree: exp.Expr) -> None:
        """Find what each table is that no WITH has named."""
        for scope in scopes_of(tree):
            for node in scope.tables:
                if not isinstance(node.this, exp.Identifier):
                    refuse(Guard.FUNCTION, "a function stands where a table does; name a table")
                if not node.db and node.name in scope.cte_sources:
                    node.meta[TABLE] = None
                    continue
                at = self._place(node)
                alias = node.args.get("alias")
                if alias is not None and alias.columns:
                    # The engine counts hidden columns, too.
                    refuse(Guard.COLUMN, "columns of a table are not named anew behind its name; "
                           "name them in SELECT by AS")  # fmt: skip
                node.meta.update({TABLE: at, AS_IT_IS: alias is None})
                if alias is None:
                    node.set("alias", exp.TableAlias(this=exp.to_identifier(node.name, True)))
                node.set("this", exp.to_identifier(held(at), quoted=True))
                node.set("db", None)
        for node in tree.find_all(exp.Table):
            if TABLE not in node.meta:
                refuse(Guard.SYNTAX, f"{node.name[:60]!r} stands where no name is expected")
            if node.meta[TABLE] is None:
                del node.meta[TABLE]

    def _place(self, node: exp.Table) -> int:
        called = [(one.schema.lower(), one.name.lower()) for one in self._words.tables]
        for at, (schema, name) in enumerate(called):
            if name == node.name and node.db in ("", schema):
                return at
        for at, one in enumerate(self._words.tables):
            if tuple(map(str.lower, one.place)) == (node.db, node.name):
                return at
        return unknown_table(node, self._words.tables)

    def _columns_of(self, node: exp.Table) -> Iterable[str]:
        at = node.meta.get(TABLE)
        return () if at is None else self._words.columns[at]


def _without_coalesce(tree: exp.Expr, given: set[int]) -> None:
    """Let a column of USING be that of the first table, which it is unless a join adds rows.

    Args:
        tree: In which sqlglot has written out USING.
        given: Ids of those COALESCE that the statement has itself.
    """
    for node in list(tree.find_all(exp.Coalesce)):
        select = node.find_ancestor(exp.Select)
        joins = select.args.get("joins") or [] if select is not None else []
        if id(node) not in given and not any(one.side in ("RIGHT", "FULL") for one in joins):
            node.replace(node.this)


def _name_results(select: exp.Select) -> None:
    """Call what is computed as PostgreSQL does, where it has no name and that is plain."""
    taken = set(select.named_selects)
    for one in select.expressions:
        inner = one
        while isinstance(inner, _AROUND):
            inner = inner.this
        name = inner.sql_name().lower() if isinstance(inner, exp.Func) else ""
        if name and name not in taken and not one.output_name:
            one.replace(exp.alias_(one.copy(), name, quoted=True))
            taken.add(name)
