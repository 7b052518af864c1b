"""A statement as it is run and shown: every name as it is kept, and none that nobody gave."""

from collections import Counter
from collections.abc import Sequence

from sqlglot import exp

from pneuma_assets.core.answers.refusing import Guard, refuse
from pneuma_assets.core.answers.vocabulary import AS_IT_IS, TABLE, Vocabulary

_UNNAMED = "_col_"
"""What sqlglot calls results without a name, which no statement can know."""


def spell(tree: exp.Expr, nodes: Sequence[exp.Table], words: Vocabulary) -> None:
    """Spell tables as they are kept where they lie, and all else as the statement does.

    Args:
        tree: It; each column is spelled already.
        nodes: Its tables, without what WITH has named.
        words: What names mean.

    Raises:
        SqlRefusedError: WITH has named something as a table is called where it lies.
    """
    new = _new_names(tree, nodes, words)
    for column in tree.find_all(exp.Column):
        if column.table:
            column.args["table"].set("this", new.get(column.table) or words.shown(column.table))
    for named in tree.find_all(exp.Alias, exp.TableAlias):
        for one in [named.args.get("alias"), *(named.args.get("columns") or ())]:
            if isinstance(one, exp.Identifier):
                one.set("this", words.shown(one.this))
        if isinstance(named, exp.TableAlias) and isinstance(named.this, exp.Identifier):
            named.this.set("this", new.get(named.name) or words.shown(named.name))
    parts = {one.alias.lower() for one in tree.find_all(exp.CTE)}
    for node in tree.find_all(exp.Table):
        _spell_table(node, parts, words)
    _leave_out_made_names(tree, words)


def _new_names(tree: exp.Expr, nodes: Sequence[exp.Table], words: Vocabulary) -> dict[str, str]:
    """Return the names of tables for those by which the statement calls them, and nothing else."""
    called = Counter(one.alias for one in tree.find_all(exp.Table, exp.Subquery, exp.CTE))
    new: dict[str, str] = {}
    for node in nodes:
        _, name = words.tables[node.meta[TABLE]].place
        same = [one for one in nodes if one.alias == node.alias]
        meant = {(one.meta[TABLE], one.meta[AS_IT_IS]) for one in same}
        only = meant == {(node.meta[TABLE], True)} and len(same) == called[node.alias]
        if only and (name.lower() == node.alias or not called[name.lower()]):
            new[node.alias] = name
    return new


def _spell_table(node: exp.Table, parts: set[str], words: Vocabulary) -> None:
    schema, name = "", words.shown(node.name)
    if TABLE in node.meta:
        table = words.tables[node.meta[TABLE]]
        schema, name = table.place
        if not schema and name.lower() in parts - {table.name.lower()}:
            refuse(Guard.TABLE, f"WITH calls {name[:60]!r} what a table is called; rename it")
    node.set("this", exp.to_identifier(name, quoted=True))
    node.set("db", exp.to_identifier(schema, quoted=True) if schema else None)
    if node.alias == name and not node.alias_column_names:
        node.set("alias", None)


def _leave_out_made_names(tree: exp.Expr, words: Vocabulary) -> None:
    """Leave out the names that sqlglot gave: those of columns, and those that say nothing."""
    for one in [one for each in tree.find_all(exp.Select) for one in each.expressions]:
        if id(one) in words.named:
            continue
        if isinstance(one, exp.Subquery) and one.alias.startswith(_UNNAMED):
            one.set("alias", None)
        elif isinstance(one, exp.Alias) and (
            one.alias.startswith(_UNNAMED)
            or isinstance(one.this, exp.Literal)
            or (isinstance(one.this, exp.Column) and one.this.name == one.alias)
        ):
            one.replace(one.this)
