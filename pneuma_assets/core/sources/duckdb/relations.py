"""What a DuckDB database declares between its tables: keys, and the queries of views."""

import duckdb

from pneuma_assets.core.sources.duckdb.schema import names_of
from pneuma_assets.core.sources.duckdb.session import builtin
from pneuma_assets.core.tables import Definition, ForeignKey, TableRef

_HERE = f"{builtin('current_database')}()"
_MOST_SQL = 1_000_000
"""Characters of a view's query; the text may be anybody's."""

_KEYS = (
    "SELECT constraint_type, constraint_column_names, referenced_table, referenced_column_names "
    f"FROM {builtin('duckdb_constraints')}() WHERE database_name = {_HERE} AND schema_name = ? "
    "AND table_name = ? AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY') "
    "ORDER BY constraint_index"
)
_VIEW = (
    f"SELECT sql, {_HERE} FROM {builtin('duckdb_views')}() WHERE database_name = {_HERE} "
    "AND schema_name = ? AND view_name = ?"
)


def keys_of(
    connection: duckdb.DuckDBPyConnection, ref: TableRef
) -> tuple[tuple[str, ...], tuple[ForeignKey, ...]]:
    """Return the primary key of a table, and its foreign keys, which stay within a schema."""
    primary: tuple[str, ...] = ()
    foreign: list[ForeignKey] = []
    schema, name = names_of(ref)
    for kind, columns, table, others in connection.execute(_KEYS, [schema, name]).fetchall():
        if kind == "PRIMARY KEY":
            primary = tuple(columns)
        else:
            foreign.append(ForeignKey(tuple(columns), (schema, table), tuple(others)))
    return primary, tuple(foreign)


def definition_of(connection: duckdb.DuckDBPyConnection, ref: TableRef) -> Definition | None:
    """Return the query of a view; None of a table.

    DuckDB keeps no search path with a view: names without a schema are looked up in `main`.
    """
    row = connection.execute(_VIEW, names_of(ref)).fetchone() if ref.format == "view" else None
    if row is None or not row[0]:
        return None
    return Definition(str(row[0])[:_MOST_SQL], "duckdb", str(row[1]), "main")
