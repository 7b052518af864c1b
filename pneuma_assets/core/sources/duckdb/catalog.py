"""What the catalogue of a DuckDB database says of its tables and views, and their rows."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property

import duckdb

from pneuma_assets.core.sources.base import SampledRow
from pneuma_assets.core.sources.duckdb.relation import (
    COUNT,
    POSITION,
    Relation,
    describe,
    rows_at,
    sampled,
)
from pneuma_assets.core.sources.duckdb.session import builtin, quote_identifier
from pneuma_assets.core.sources.names import unescape
from pneuma_assets.core.sources.readable_table import ReadableTable
from pneuma_assets.core.tables import (
    Column,
    Definition,
    ForeignKey,
    RowMark,
    Table,
    TableRef,
    comments_on_columns,
)
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


class DuckDBTable(ReadableTable):
    """An open table or view."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, ref: TableRef) -> None:
        _, schema, name = ref.table_id.split("/")
        self.connection = connection
        self._is_view = ref.format == "view"
        self._names = [unescape(schema), unescape(name)]
        self._relation = Relation(".".join(map(quote_identifier, self._names)))

    def profile(self, ref: TableRef, kept: Sequence[RowMark]) -> Table:
        """Read columns, comments, keys, the number of rows and the query of a view."""
        comment, definition = self._comment_and_query()
        primary, foreign = self._keys()
        return replace(
            super().profile(ref, kept),
            comment=comment,
            primary_key=primary,
            foreign_keys=foreign,
            definition=definition,
        )

    @contextmanager
    def reading(self) -> Iterator[Iterator[Relation]]:
        """Give the table as one part."""
        yield iter([self._relation])

    def comments(self) -> Sequence[str]:
        """Return the comments on the table and its columns."""
        return [self._comment_and_query()[0], comments_on_columns(self.columns)]

    @cached_property
    def columns(self) -> list[Column]:
        """The columns, with their comments."""
        comments = self.connection.execute(_COMMENTS, self._names).fetchall()
        columns = describe(self.connection, self._relation)
        return [
            replace(column, comment=one_line(comment or "", _COMMENT_CHARACTERS))
            for column, (comment,) in zip(columns, comments, strict=True)
        ]

    @cached_property
    def row_count(self) -> int:
        """Counted, not guessed."""
        counted = self.connection.execute(f"SELECT {COUNT}(*) FROM {self._relation.sql}")
        ((rows,),) = counted.fetchall()
        return int(rows)

    def _comment_and_query(self) -> tuple[str, Definition | None]:
        """Return the comment on a table or view, and a view's query.

        DuckDB keeps no search path with a view: names without a schema are looked up in `main`.
        """
        query = _VIEW if self._is_view else _TABLE
        row = self.connection.execute(query, self._names).fetchone()
        comment, sql, database = row or (None, None, "")
        definition = Definition(str(sql)[:_MOST_SQL], "duckdb", str(database), "main")
        return str(comment or ""), definition if sql else None

    def _keys(self) -> tuple[tuple[str, ...], tuple[ForeignKey, ...]]:
        """Return the primary key of a table, and its foreign keys, which stay within a schema."""
        primary: tuple[str, ...] = ()
        foreign: list[ForeignKey] = []
        for kind, own, table, others in self.connection.execute(_KEYS, self._names).fetchall():
            if kind == "PRIMARY KEY":
                primary = tuple(own)
            else:
                foreign.append(ForeignKey(tuple(own), (self._names[0], table), tuple(others)))
        return primary, tuple(foreign)

    def rows_at(self, positions: Sequence[int]) -> list[SampledRow]:
        """Return the rows at these positions.

        Of a table only the row ids are read to find them, and then the row groups they are in.
        """
        width = len(self.columns)
        if self._is_view or not positions:
            return rows_at(self.connection, self._relation, width, positions)
        source = self._relation.aliased(width)
        wanted = ", ".join(str(int(position)) for position in positions)
        found = self.connection.execute(
            f"SELECT rowid, position FROM (SELECT rowid, {POSITION} AS position FROM {source}) "
            f"WHERE position IN ({wanted})"
        ).fetchall()
        ids = ", ".join(str(int(row_id)) for row_id, _ in found)
        drawn = Relation(f"{source} WHERE rowid IN ({ids})")
        at = dict(found)
        rows = [
            SampledRow(RowMark(at[row.mark.position], row.mark.key), row.cells)
            for row in sampled(self.connection, "rowid", drawn, width)
        ]
        return sorted(rows, key=lambda row: row.mark.position)
