"""What a statement reads that is run where tables lie: a second look, where rules hide columns.

Whoever had it written has checked it by what the index says (`core.answers.guard`). Here it is
checked by what the source says now, and by plain rules that know nothing of scopes: each column
says of which table it is, and no `*`, whole row or name without a table is left to the engine.
"""

from collections.abc import Iterable

from sqlglot import exp
from sqlglot.dialects import Dialect

from pneuma_assets.core.errors import SqlFailedError
from pneuma_assets.core.lineage.parse import UnreadableSQLError, explained, statements_of, tokens_of
from pneuma_assets.core.sources.base import StatementTable


def check_reads(sql: str, dialect: str, tables: Iterable[StatementTable]) -> None:
    """Refuse a statement that may read other columns than those that its tables show.

    Args:
        sql: The statement, every name quoted.
        dialect: What sqlglot calls its SQL.
        tables: All that it reads, each with the columns that it may read.

    Raises:
        SqlFailedError: It may read others, or is not understood.
    """
    try:
        with explained():
            spoken = Dialect.get_or_raise(dialect)
            statements = statements_of(tokens_of(sql, spoken), sql, spoken)
    except UnreadableSQLError:
        statements = []
    if (
        len(statements) != 1
        or not isinstance(statements[0], exp.Query)
        or not _reads_only(
            statements[0], {(one.schema, one.name): frozenset(one.columns) for one in tables}
        )
    ):
        raise SqlFailedError(
            "it may read columns that rules of privacy hide; call nothing else like a table, and "
            "name tables with their schemas and columns with their tables, in double quotes"
        )


def _reads_only(tree: exp.Query, tables: dict[tuple[str, str], frozenset[str]]) -> bool:
    named = {one.alias for one in tree.find_all(exp.CTE)}
    called: dict[str, frozenset[str]] = {}
    for node in tree.find_all(exp.Table):
        if isinstance(node.this, exp.ExplodingGenerateSeries):
            continue
        columns = tables.get((node.db, node.name))
        if columns is None or node.catalog:
            if node.db or node.name not in named:
                return False
        elif node.alias_column_names:
            return False
        else:
            called[node.alias_or_name] = called.get(node.alias_or_name, columns) & columns
    return (
        all(one.quoted for one in tree.find_all(exp.Identifier))
        and not tree.find(exp.Dot)
        and not any(one.method or one.args.get("using") for one in tree.find_all(exp.Join))
        and all(_is_shown(one, called) for one in tree.find_all(exp.Column))
        and all(_is_given(one, called) for one in tree.find_all(exp.Star))
    )


def _is_shown(column: exp.Column, called: dict[str, frozenset[str]]) -> bool:
    """Tell whether a column is none that its table hides, or is a result by which is ordered."""
    if column.db or isinstance(column.this, exp.Star):
        return not column.db and column.table not in called
    if column.table:
        return column.table not in called or column.name in called[column.table]
    ordered, query = column.parent, column.find_ancestor(exp.Query)
    return (
        isinstance(ordered, exp.Ordered)
        and query is not None
        and ordered.parent is query.args.get("order")
        and column.name in query.named_selects
    )


def _is_given(star: exp.Star, called: dict[str, frozenset[str]]) -> bool:
    """Tell whether a `*` is of what other queries give, or of a column that is looked at itself."""
    select = star.parent
    if not isinstance(select, exp.Select):
        return isinstance(select, exp.Count | exp.Column)
    parts = (select.args.get("from_"), *(select.args.get("joins") or ()))
    return all(part is None or _is_of_queries(part.this, called) for part in parts)


def _is_of_queries(node: exp.Expr, called: dict[str, frozenset[str]]) -> bool:
    if isinstance(node, exp.Table):
        return node.alias_or_name not in called
    return isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query)
