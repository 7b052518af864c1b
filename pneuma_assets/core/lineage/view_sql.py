"""What a view is built from, by its SQL: tables, and where it can be told columns.

    found = read_view(definition, columns_of, names)

A query that cannot be parsed still gives tables, by a looser way, and says what hindered.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.dialects import Dialect
from sqlglot.errors import SqlglotError

from pneuma_assets.core.lineage.columns import ColumnReader
from pneuma_assets.core.lineage.names import TableName, column_key
from pneuma_assets.core.lineage.parse import (
    UnreadableSQLError,
    dialect_of,
    explained,
    query_of,
    table_names_fallback,
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
        return ViewLineage(
            tuple(table_names_fallback(definition)[:MOST_TABLES]), problem=str(error)
        )
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
    name_quoted_tables(query, dialect)
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
    name_rows_by_columns(query)
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


MOST_CHARACTERS = 1_000
"""Of a name or a pattern in quotes; a longer one stays as it is."""


def name_quoted_tables(query: exp.Query, dialect: Dialect) -> None:
    """Put a table in the place of `IDENTIFIER('db.s.t')` and `TABLE('db.s.t')`.

    A text that is no name, a variable or an expression stays: nobody can tell what it names.
    """
    for node in list(query.find_all(exp.Table, exp.TableFromRows)):
        table = _named(_quoted_in(node), dialect)
        if table is not None:
            table.set("alias", node.args.get("alias"))
            node.replace(table)


def name_rows_by_columns(query: exp.Query) -> None:
    """Put `o.total` in the place of `(o).total`, where `o` stands for a whole row of FROM.

    Else `o` is a column whose value has fields, and comes from that whole.
    """
    known: dict[int, frozenset[str]] = {}  # or fields and tables would be multiplied
    for node in list(query.find_all(exp.Dot)):
        inner = node.this.unnest() if isinstance(node.this, exp.Paren) else None
        if not isinstance(inner, exp.Column) or inner.table or isinstance(inner.this, exp.Star):
            continue
        field = node.expression
        if isinstance(field, exp.Identifier | exp.Star) and _is_read(inner.name, node, known):
            node.replace(exp.Column(this=field.copy(), table=inner.this.copy()))


def _quoted_in(node: exp.Expr) -> object:
    """Return what stands in the parentheses of a table that is called so; None for any other."""
    made = node.this if isinstance(node, exp.Table) else node
    if isinstance(made, exp.DynamicIdentifier | exp.TableFromRows):
        return made.this
    if isinstance(made, exp.Anonymous) and made.name.upper() == "IDENTIFIER":  # in Databricks
        return next(iter(made.expressions), None)
    return None


def _named(given: object, dialect: Dialect) -> exp.Table | None:
    if not isinstance(given, exp.Literal) or not given.is_string:
        return None
    if len(given.name) > MOST_CHARACTERS:
        return None
    try:
        return exp.to_table(given.name, dialect=dialect)
    except (SqlglotError, ValueError):
        return None


def _is_read(name: str, node: exp.Expr, known: dict[int, frozenset[str]]) -> bool:
    """Tell whether the queries around a node read what is called so."""
    select = node.find_ancestor(exp.Select)
    while select is not None:
        if id(select) not in known:
            known[id(select)] = frozenset(_read_by(select))
        if name in known[id(select)]:
            return True
        select = select.find_ancestor(exp.Select)
    return False


def _read_by(select: exp.Select) -> Iterator[str]:
    for one in (select.args.get("from_"), *(select.args.get("joins") or [])):
        if one is not None:
            yield one.this.alias_or_name
