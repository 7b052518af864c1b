"""What the catalogue of a DuckDB database says of its tables and views, and their rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import duckdb
import pyarrow as pa

from pneuma_assets.core.sources.base import SampledRow
from pneuma_assets.core.sources.duckdb.relation import (
    COUNT,
    POSITION,
    Relation,
    batches,
    cells,
    describe,
    feed,
    key,
    rows_at,
    survey,
)
from pneuma_assets.core.sources.duckdb.session import builtin, quote_identifier
from pneuma_assets.core.sources.names import unescape
from pneuma_assets.core.sources.sampling import resample
from pneuma_assets.core.tables import (
    Column,
    Definition,
    ForeignKey,
    RowMark,
    Table,
    TableRef,
    comments_on_columns,
)
from pneuma_assets.core.terms.collect import CollectedTerms, TermCollector
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


class DuckDBTable:
    """An open table or view, as `ReadableTable` promises."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, ref: TableRef) -> None:
        _, schema, name = ref.table_id.split("/")
        self._connection = connection
        self._is_view = ref.format == "view"
        self._names = [unescape(schema), unescape(name)]
        self._relation = Relation(".".join(map(quote_identifier, self._names)))

    def profile(self, ref: TableRef, kept: Sequence[RowMark]) -> Table:  # noqa: ARG002
        """Read columns, comments, keys, the number of rows and the query of a view."""
        comment, definition = self._comment_and_query()
        primary, foreign = self._keys()
        return Table(
            *(ref.table_id, tuple(self._columns), self._row_count(), ref.location, comment),
            primary_key=primary,
            foreign_keys=foreign,
            definition=definition,
        )

    def sample(self, rows: int, seed: int, kept: Sequence[RowMark]) -> list[SampledRow] | None:
        """Draw rows, and keep those of `kept` that are still there; None if all are."""
        return resample(rows, seed, kept, self._row_count(), self._rows_at, self._positions_of)

    def scan(self, batch_rows: int) -> Iterator[pa.RecordBatch]:
        """Read the whole table as Arrow batches of at most `batch_rows` rows."""
        return batches(self._connection, self._relation, self._columns, batch_rows)

    def evidence(self, seed: int) -> CollectedTerms:
        """Read all rows once and return what is collected of them."""
        collector = TermCollector(seed)
        feed(collector, self._connection, self._relation, len(self._columns))
        return collector.collected()

    def comments(self) -> Sequence[str]:
        """Return the comments on the table and its columns."""
        return [self._comment_and_query()[0], comments_on_columns(self._columns)]

    @cached_property
    def _columns(self) -> list[Column]:
        comments = self._connection.execute(_COMMENTS, self._names).fetchall()
        columns = describe(self._connection, self._relation)
        return [
            replace(column, comment=one_line(comment or "", _COMMENT_CHARACTERS))
            for column, (comment,) in zip(columns, comments, strict=True)
        ]

    def _row_count(self) -> int:
        counted = self._connection.execute(f"SELECT {COUNT}(*) FROM {self._relation.sql}")
        ((rows,),) = counted.fetchall()
        return int(rows)

    def _comment_and_query(self) -> tuple[str, Definition | None]:
        """Return the comment on a table or view, and a view's query.

        DuckDB keeps no search path with a view: names without a schema are looked up in `main`.
        """
        query = _VIEW if self._is_view else _TABLE
        row = self._connection.execute(query, self._names).fetchone()
        comment, sql, database = row or (None, None, "")
        definition = Definition(str(sql)[:_MOST_SQL], "duckdb", str(database), "main")
        return str(comment or ""), definition if sql else None

    def _keys(self) -> tuple[tuple[str, ...], tuple[ForeignKey, ...]]:
        """Return the primary key of a table, and its foreign keys, which stay within a schema."""
        primary: tuple[str, ...] = ()
        foreign: list[ForeignKey] = []
        for kind, own, table, others in self._connection.execute(_KEYS, self._names).fetchall():
            if kind == "PRIMARY KEY":
                primary = tuple(own)
            else:
                foreign.append(ForeignKey(tuple(own), (self._names[0], table), tuple(others)))
        return primary, tuple(foreign)

    def _positions_of(self, wanted: Mapping[int, int]) -> Mapping[int, Sequence[int]]:
        return survey(self._connection, self._relation, len(self._columns), wanted).positions

    def _rows_at(self, positions: Sequence[int]) -> list[SampledRow]:
        """Return the rows at these positions.

        Of a table only the row ids are read to find them, and then the row groups they are in.
        """
        width = len(self._columns)
        if self._is_view or not positions:
            return rows_at(self._connection, self._relation, width, positions)
        source = self._relation.aliased(width)
        wanted = ", ".join(str(int(position)) for position in positions)
        found = self._connection.execute(
            f"SELECT rowid, position FROM (SELECT rowid, {POSITION} AS position FROM {source}) "
            f"WHERE position IN ({wanted})"
        ).fetchall()
        ids = ", ".join(str(int(row_id)) for row_id, _ in found)
        drawn = self._connection.execute(
            f"SELECT rowid, {key(width)}, {cells(width)} FROM {source} WHERE rowid IN ({ids})"
        ).fetchall()
        at = dict(found)
        rows = [SampledRow(RowMark(at[row[0]], row[1]), row[2:]) for row in drawn]
        return sorted(rows, key=lambda row: row.mark.position)
