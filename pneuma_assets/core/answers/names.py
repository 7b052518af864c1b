"""Whose every name in a statement is: sqlglot qualifies it, and every name is looked at once more.

In PostgreSQL a statement reads its tables themselves, so a hidden column is as near as its name: no
column is left without the table that is meant, no `*` is left to the engine, and a name that is not
found, by the rules of scope that engines have, is refused. Names are found in any capitals, and are
spelled as they are kept.
"""

from collections import Counter
from collections.abc import Sequence

from sqlglot import exp
from sqlglot.optimizer.qualify_columns import qualify_columns
from sqlglot.optimizer.qualify_tables import qualify_tables

from pneuma_assets.core.answers.columns import Columns, unknown_table
from pneuma_assets.core.answers.join_conditions import check_using
from pneuma_assets.core.answers.statements import (
    AS_IT_IS,
    TABLE,
    Guard,
    ReadTable,
    VisibleSchema,
    placeholder,
    refuse,
    scopes_of,
)
from pneuma_assets.core.lineage.parse import UnreadableSQLError, explained

_AROUND = (exp.Paren, exp.Cast, exp.Window, exp.Filter, exp.WithinGroup)
_UNNAMED = "_col_"
"""What sqlglot calls results without a name, which no statement can know."""


def qualified(
    tree: exp.Expr, tables: Sequence[ReadTable], dialect: str
) -> tuple[exp.Expr, tuple[ReadTable, ...], tuple[tuple[str, str], ...]]:
    """Return a statement with every name as it is kept, its tables, and the columns that it reads.

    Args:
        tree: Of parts that may stand in a statement; it is changed.
        tables: What it may read.
        dialect: What sqlglot calls the SQL of where it will run.

    Raises:
        SqlRefusedError: A name is unknown, hidden, or stands where nobody looks for it; or tables
            are joined by no condition.
    """
    schema = VisibleSchema(tables, dialect)
    _normalise(tree, schema)
    _bind_tables(tree, schema)
    check_using(tree, schema)
    selects = tree.find_all(exp.Select)
    schema.named = {id(one) for each in selects for one in each.expressions if one.alias}
    given = set(map(id, tree.find_all(exp.Coalesce)))
    try:
        with explained():
            tree = qualify_tables(tree, dialect=dialect)
            tree = qualify_columns(
                tree,
                schema.mapping,
                # One that names another that names another may grow beyond all bounds.
                expand_alias_refs=False,
                allow_partial_qualification=True,
            )
    except UnreadableSQLError as error:
        refuse(Guard.COLUMN, f"its names are not understood: {error}; write a simpler one")
    _without_coalesce(tree, given)
    columns = Columns(schema)
    columns.resolve(tree)
    nodes = [one for one in tree.find_all(exp.Table, bfs=False) if TABLE in one.meta]
    found = dict.fromkeys(schema.tables[one.meta[TABLE]] for one in nodes)
    _spell(tree, nodes, schema)
    return tree, tuple(found), tuple(columns.read)


def _normalise(tree: exp.Expr, schema: VisibleSchema) -> None:
    """Put names into small letters, and keep positions and what is computed as they are."""
    for node in tree.find_all(exp.Identifier):
        if node.quoted and isinstance(node.parent, exp.Alias | exp.TableAlias):
            schema.spelled[node.this.lower()] = node.this
        node.set("this", schema.key(node.this, bool(node.quoted)))
        node.set("quoted", True)
    for number in tree.find_all(exp.Literal):
        if isinstance(number.parent, exp.Ordered | exp.Group) and number.is_int:
            number.replace(exp.Var(this=number.this))  # sqlglot would write out what it means
    for select in tree.find_all(exp.Select):
        if select is not tree:
            _name_results(select)
    schemas = {table.schema.lower() for table in schema.tables} - {""}
    for column in tree.find_all(exp.Column):
        if column.args.get("catalog"):
            said = column.sql()[:60]
            refuse(Guard.COLUMN, f"{said!r} has too many parts; name table and column")
        if column.db in schemas:  # of a table that FROM has named
            column.set("db", None)


def _bind_tables(tree: exp.Expr, schema: VisibleSchema) -> None:
    """Find what each table is that no WITH has named."""
    for scope in scopes_of(tree):
        for node in scope.tables:
            if not isinstance(node.this, exp.Identifier):
                refuse(Guard.FUNCTION, "a function stands where a table does; name a table")
            if not node.db and node.name in scope.cte_sources:
                node.meta[TABLE] = None
                continue
            at = _place(node, schema)
            alias = node.args.get("alias")
            if alias is not None and alias.columns:
                # The engine counts hidden columns, too.
                refuse(Guard.COLUMN, "columns of a table are not named anew behind its name; "
                       "name them in SELECT by AS")  # fmt: skip
            node.meta.update({TABLE: at, AS_IT_IS: alias is None})
            if alias is None:
                node.set("alias", exp.TableAlias(this=exp.to_identifier(node.name, True)))
            node.set("this", exp.to_identifier(placeholder(at), quoted=True))
            node.set("db", None)
    for node in tree.find_all(exp.Table):
        if TABLE not in node.meta:
            refuse(Guard.SYNTAX, f"{node.name[:60]!r} stands where no name is expected")
        if node.meta[TABLE] is None:
            del node.meta[TABLE]


def _place(node: exp.Table, schema: VisibleSchema) -> int:
    called = [(one.schema.lower(), one.name.lower()) for one in schema.tables]
    for at, (above, name) in enumerate(called):
        if name == node.name and node.db in ("", above):
            return at
    for at, one in enumerate(schema.tables):
        if tuple(map(str.lower, one.place)) == (node.db, node.name):
            return at
    return unknown_table(node, schema.tables)


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


def _spell(tree: exp.Expr, nodes: Sequence[exp.Table], schema: VisibleSchema) -> None:
    """Spell tables as they are kept where they lie, and all else as the statement does.

    Args:
        tree: It; each column is spelled already.
        nodes: Its tables, without what WITH has named.
        schema: What names mean.

    Raises:
        SqlRefusedError: WITH has named something as a table is called where it lies.
    """
    new = _new_names(tree, nodes, schema)
    for column in tree.find_all(exp.Column):
        if column.table:
            column.args["table"].set("this", new.get(column.table) or schema.shown(column.table))
    for named in tree.find_all(exp.Alias, exp.TableAlias):
        for one in [named.args.get("alias"), *(named.args.get("columns") or ())]:
            if isinstance(one, exp.Identifier):
                one.set("this", schema.shown(one.this))
        if isinstance(named, exp.TableAlias) and isinstance(named.this, exp.Identifier):
            named.this.set("this", new.get(named.name) or schema.shown(named.name))
    parts = {one.alias.lower() for one in tree.find_all(exp.CTE)}
    for node in tree.find_all(exp.Table):
        _spell_table(node, parts, schema)
    _leave_out_made_names(tree, schema)


def _new_names(tree: exp.Expr, nodes: Sequence[exp.Table], schema: VisibleSchema) -> dict[str, str]:
    """Return the names of tables for those by which the statement calls them, and nothing else."""
    called = Counter(one.alias for one in tree.find_all(exp.Table, exp.Subquery, exp.CTE))
    new: dict[str, str] = {}
    for node in nodes:
        _, name = schema.tables[node.meta[TABLE]].place
        same = [one for one in nodes if one.alias == node.alias]
        meant = {(one.meta[TABLE], one.meta[AS_IT_IS]) for one in same}
        only = meant == {(node.meta[TABLE], True)} and len(same) == called[node.alias]
        if only and (name.lower() == node.alias or not called[name.lower()]):
            new[node.alias] = name
    return new


def _spell_table(node: exp.Table, parts: set[str], schema: VisibleSchema) -> None:
    above, name = "", schema.shown(node.name)
    if TABLE in node.meta:
        table = schema.tables[node.meta[TABLE]]
        above, name = table.place
        if not above and name.lower() in parts - {table.name.lower()}:
            refuse(Guard.TABLE, f"WITH calls {name[:60]!r} what a table is called; rename it")
    node.set("this", exp.to_identifier(name, quoted=True))
    node.set("db", exp.to_identifier(above, quoted=True) if above else None)
    if node.alias == name and not node.alias_column_names:
        node.set("alias", None)


def _leave_out_made_names(tree: exp.Expr, schema: VisibleSchema) -> None:
    """Leave out the names that sqlglot gave: those of columns, and those that say nothing."""
    for one in [one for each in tree.find_all(exp.Select) for one in each.expressions]:
        if id(one) in schema.named:
            continue
        if isinstance(one, exp.Subquery) and one.alias.startswith(_UNNAMED):
            one.set("alias", None)
        elif isinstance(one, exp.Alias) and (
            one.alias.startswith(_UNNAMED)
            or isinstance(one.this, exp.Literal)
            or (isinstance(one.this, exp.Column) and one.this.name == one.alias)
        ):
            one.replace(one.this)
