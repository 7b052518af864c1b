"""What a view is built from, by its SQL: tables, and where it can be told columns.

    found = read_view(definition, columns_of, names)

A query that cannot be parsed gives nothing, and says what hindered.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.dialects import Dialect

from pneuma_assets.core.lineage.columns import ColumnReader
from pneuma_assets.core.lineage.names import TableName, column_key
from pneuma_assets.core.lineage.parse import (
    UnreadableSQLError,
    dialect_of,
    explained,
    query_of,
)
from pneuma_assets.core.lineage.query_joins import Join
from pneuma_assets.core.lineage.scopes import ColumnsOf, Output, Sources
from pneuma_assets.core.tables import Definition

MOST_QUERIES = 1_000
"""SELECTs in one query."""

MOST_TABLES = 2_000
"""Tables of one query."""


@dataclass(frozen=True, slots=True)
class ViewLineage:
    """What a view is built from.

    Attributes:
        tables: As the view names them, folded as its engine does; parts that it leaves out are
            empty.
        columns: By position, the key of each column of the view and the columns it comes from.
        used: Every column that is read, also to join, filter, group or order.
        joins: Which columns of two tables it says are equal.
        problem: Why it could not be read, or its columns or joins not be told; None where all was
            read.
    """

    tables: tuple[TableName, ...]
    columns: tuple[Output, ...] = ()
    used: Sources = frozenset()
    joins: tuple[Join, ...] = ()
    problem: str | None = None


def nothing_known(_: TableName) -> Sequence[str] | None:
    """Know no table's columns."""
    return None


def read_view(definition: Definition, columns_of: ColumnsOf = nothing_known) -> ViewLineage:
    """Return what a view is built from; whatever its SQL is, this ends and raises nothing of it.

    Args:
        definition: The view's SQL, alone or in a CREATE VIEW.
        columns_of: Returns the names of a table's columns as the engine keeps them, in order; None
            where the table is not known. A star over an unknown table gives no columns.
    """
    try:
        with explained():
            query, given = query_of(definition)
            reader = _reader(query, definition, columns_of)
            tables = tuple(reader.tables()[:MOST_TABLES])
    except UnreadableSQLError as error:
        return ViewLineage((), problem=str(error))
    try:
        with explained():
            outputs, used = reader.outputs(), reader.used()
    except UnreadableSQLError as error:
        return ViewLineage(tables, problem=str(error))
    names = [column_key(name, definition.dialect) for name in given]
    renamed = [replace(one, name=name) for name, one in zip(names, outputs, strict=False)]
    columns = (*renamed, *outputs[len(renamed) :])
    try:
        with explained():
            return ViewLineage(tables, columns, used, reader.joins())
    except UnreadableSQLError as error:
        return ViewLineage(tables, columns, used, problem=str(error))


def _reader(query: exp.Query, definition: Definition, columns_of: ColumnsOf) -> ColumnReader:
    dialect, name = dialect_of(definition), definition.dialect
    query = _prepared(query, dialect)

    def keys_of(table: TableName) -> Sequence[str] | None:
        columns = columns_of(table)
        return None if columns is None else [column_key(one, name) for one in columns]

    return ColumnReader(query, name, keys_of)


def _prepared(query: exp.Query, dialect: Dialect) -> exp.Query:
    """Fold all names as the engine does, and name the queries in FROM that nobody named."""
    queries = 0
    nodes = list(query.walk())
    for number, node in enumerate(nodes):
        if isinstance(node, exp.Identifier):
            dialect.normalize_identifier(node)
        elif isinstance(node, exp.Select):
            queries += 1
        if _is_unnamed(node):
            node.set("alias", exp.TableAlias(this=exp.to_identifier(f"_unnamed_{number}")))
    if queries > MOST_QUERIES:
        raise UnreadableSQLError(f"it has more than {MOST_QUERIES:,} queries in it")
    inner = query.unnest()
    return inner if isinstance(inner, exp.Query) else query


def _is_unnamed(node: exp.Expr) -> bool:
    stands = isinstance(node.parent, exp.From | exp.Join)
    made = (
        isinstance(node, exp.UDTF)
        or (isinstance(node, exp.Subquery) and isinstance(node.this, exp.Select | exp.SetOperation))
        or (isinstance(node, exp.Table) and not isinstance(node.this, exp.Identifier))
    )
    return stands and made and not node.alias and not node.args.get("alias")
