"""What a view is built from, by its SQL: tables, and where it can be told columns.

    found = read_view(definition, columns_of, names)

A query that cannot be parsed gives nothing, and says what hindered.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pneuma_assets.core.lineage.columns import ColumnReader, Output, Sources
from pneuma_assets.core.lineage.names import TableName, column_key
from pneuma_assets.core.lineage.parse import (
    UnreadableSQLError,
    dialect_of,
    explained,
    query_of,
)
from pneuma_assets.core.lineage.qualified import ColumnsOf, QualifiedQuery
from pneuma_assets.core.lineage.query_joins import Join
from pneuma_assets.core.tables import Definition


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
            qualified = QualifiedQuery(query, dialect_of(definition), definition.dialect)
    except UnreadableSQLError as error:
        return ViewLineage((), problem=str(error))
    try:
        with explained():
            qualified.qualify(columns_of)
            reader = ColumnReader(qualified, definition.dialect)
            outputs, used = reader.outputs(), reader.used()
    except UnreadableSQLError as error:
        return ViewLineage(qualified.tables, problem=str(error))
    names = [column_key(name, definition.dialect) for name in given]
    renamed = [replace(one, name=name) for name, one in zip(names, outputs, strict=False)]
    columns = (*renamed, *outputs[len(renamed) :])
    try:
        with explained():
            return ViewLineage(qualified.tables, columns, used, reader.joins())
    except UnreadableSQLError as error:
        return ViewLineage(qualified.tables, columns, used, problem=str(error))
