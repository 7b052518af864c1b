"""What the catalogue of a DuckDB database says of its tables and views, and their rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import duckdb

from pneuma_assets.core.sources.base import SampledRow
from pneuma_assets.core.sources.duckdb.relation import (
    COUNT,
    POSITION,
    Relation,
    cells,
    describe,
    key,
    rows_at,
    survey,
)
from pneuma_assets.core.sources.duckdb.session import builtin, quote_identifier
from pneuma_assets.core.sources.names import unescape
from pneuma_assets.core.sources.sampling import resampled_positions, wanted_keys
from pneuma_assets.core.tables import Column, Definition, ForeignKey, RowMark, TableRef
from pneuma_assets.core.text.safe import one_line

_COMMENT_CHARACTERS = 1000
_MOST_SQL = 1_000_000
"""Characters of a view's query; the text may be anybody's."""

_CONCAT = builtin("concat_ws")
_HERE = f"{builtin('current_database')}()"
_THIS = f"database_name = {_HERE} AND schema_name = ?"

LIST_TABLES = f"""
SELECT t.schema_name, t.name, t.kind, t.fingerprint, c.columns
FROM (
    SELECT schema_name, table_name AS name, 'table' AS kind,
           {_CONCAT}('|', estimated_size, comment) AS fingerprint
    FROM {builtin("duckdb_tables")}() WHERE NOT internal AND database_name = {_HERE}
    UNION ALL
    SELECT schema_name, view_name, 'view', {_CONCAT}('|', sql, comment)
    FROM {builtin("duckdb_views")}() WHERE NOT internal AND database_name = {_HERE}
) t
LEFT JOIN (
    SELECT schema_name, table_name,
           {builtin("string_agg")}({_CONCAT}('|', column_name, data_type, comment), '|'
                                   ORDER BY column_index) AS columns
    FROM {builtin("duckdb_columns")}() WHERE NOT internal AND database_name = {_HERE}
    GROUP BY ALL
) c ON c.schema_name = t.schema_name AND c.table_name = t.name
ORDER BY ALL
"""
"""Every table and view: schema, name, kind, fingerprint, and a digest of its columns."""

_COMMENTS = (
    f"SELECT comment FROM {builtin('duckdb_columns')}() WHERE {_THIS} AND table_name = ? "
    "ORDER BY column_index"
)
_TABLE = (
    f"SELECT comment, NULL, {_HERE} FROM {builtin('duckdb_tables')}() "
    f"WHERE {_THIS} AND table_name = ?"
)
_VIEW = (
    f"SELECT comment, sql, {_HERE} FROM {builtin('duckdb_views')}() WHERE {_THIS} AND view_name = ?"
)
_KEYS = (
    "SELECT constraint_type, constraint_column_names, referenced_table, referenced_column_names "
    f"FROM {builtin('duckdb_constraints')}() WHERE {_THIS} AND table_name = ? "
    "AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY') ORDER BY constraint_index"
)


def relation(ref: TableRef) -> Relation:
    """Return what to select from."""
    return Relation(".".join(map(quote_identifier, _names_of(ref))))


def described_columns(connection: duckdb.DuckDBPyConnection, ref: TableRef) -> list[Column]:
    """Return the columns with their comments."""
    comments = connection.execute(_COMMENTS, _names_of(ref)).fetchall()
    return [
        replace(column, comment=one_line(comment or "", _COMMENT_CHARACTERS))
        for column, (comment,) in zip(describe(connection, relation(ref)), comments, strict=True)
    ]


def count_rows(connection: duckdb.DuckDBPyConnection, ref: TableRef) -> int:
    """Return the number of rows; a view is run for it."""
    ((rows,),) = connection.execute(f"SELECT {COUNT}(*) FROM {relation(ref).sql}").fetchall()
    return int(rows)


def comment_and_query(
    connection: duckdb.DuckDBPyConnection, ref: TableRef
) -> tuple[str, Definition | None]:
    """Return the comment on a table or view, and a view's query.

    DuckDB keeps no search path with a view: names without a schema are looked up in `main`.
    """
    asked = _VIEW if ref.format == "view" else _TABLE
    row = connection.execute(asked, _names_of(ref)).fetchone()
    comment, sql, database = row or (None, None, "")
    query = Definition(str(sql)[:_MOST_SQL], "duckdb", str(database), "main") if sql else None
    return str(comment or ""), query


def keys_of(
    connection: duckdb.DuckDBPyConnection, ref: TableRef
) -> tuple[tuple[str, ...], tuple[ForeignKey, ...]]:
    """Return the primary key of a table, and its foreign keys, which stay within a schema."""
    primary: tuple[str, ...] = ()
    foreign: list[ForeignKey] = []
    schema, name = _names_of(ref)
    for kind, columns, table, others in connection.execute(_KEYS, [schema, name]).fetchall():
        if kind == "PRIMARY KEY":
            primary = tuple(columns)
        else:
            foreign.append(ForeignKey(tuple(columns), (schema, table), tuple(others)))
    return primary, tuple(foreign)


def sample_rows(
    connection: duckdb.DuckDBPyConnection,
    ref: TableRef,
    rows: int,
    seed: int,
    kept: Sequence[RowMark],
) -> list[SampledRow] | None:
    """Draw rows, and keep those of `kept` that are still there; None if all are."""
    source = relation(ref)
    width = len(describe(connection, source))
    row_count = count_rows(connection, ref)
    found: Mapping[int, Sequence[int]] = {}
    if kept:
        found = survey(connection, source, width, wanted_keys(kept)).positions
    positions = resampled_positions(row_count, rows, seed, kept, found)
    if positions is None or not positions or ref.format == "view":
        return None if positions is None else rows_at(connection, source, width, positions)
    # Of a table only the row ids are read to find them, and then the row groups they are in.
    wanted = ", ".join(str(int(position)) for position in positions)
    at = dict(
        connection.execute(
            f"SELECT rowid, position FROM (SELECT rowid, {POSITION} AS position "
            f"FROM {source.aliased(width)}) WHERE position IN ({wanted})"
        ).fetchall()
    )
    drawn = connection.execute(
        f"SELECT rowid, {key(width)}, {cells(width)} FROM {source.aliased(width)} "
        f"WHERE rowid IN ({', '.join(str(int(row_id)) for row_id in at)})"
    ).fetchall()
    sampled = [SampledRow(RowMark(at[row[0]], row[1]), row[2:]) for row in drawn]
    return sorted(sampled, key=lambda row: row.mark.position)


def _names_of(ref: TableRef) -> list[str]:
    """Return schema and table, which the id spells escaped."""
    _, schema, name = ref.table_id.split("/")
    return [unescape(schema), unescape(name)]
