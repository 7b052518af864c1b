"""What is asked of any table that DuckDB can read: its columns, its rows, some of them, all.

Columns are renamed `c0`, `c1`, ... inside the SQL, so no name from outside ever stands in it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.sources.bounds import check_width
from pneuma_assets.core.sources.names import one_line
from pneuma_assets.core.tables import Column

CELL_CHARACTERS = 1000
"""A sampled cell is cut here: nobody reads more, and the sample's memory is bounded."""

_BATCH_CELLS = 1_000_000
_NAME_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Relation:
    """Something to select from: `sql` stands after FROM, `parameters` fill its marks."""

    sql: str
    parameters: tuple[object, ...] = ()

    def aliased(self, width: int) -> str:
        """Return the FROM clause with its columns renamed."""
        return f"{self.sql} AS t({', '.join(f'c{i}' for i in range(width))})"


def describe(connection: duckdb.DuckDBPyConnection, relation: Relation) -> list[Column]:
    """Return the columns with names and types fit for people.

    Raises:
        TableReadError: There are too many.
    """
    found = connection.execute(
        f"DESCRIBE SELECT * FROM {relation.sql}", relation.parameters
    ).fetchall()
    check_width(len(found))
    names = readable_names([row[0] for row in found])
    return [
        Column(name, one_line(row[1]).strip('"')) for name, row in zip(names, found, strict=True)
    ]


def readable_names(names: Sequence[str]) -> list[str]:
    """Return column names on one line each, bounded and distinct; a nameless one by position."""
    taken: set[str] = set()
    result = []
    for position, name in enumerate(names):
        base = one_line(name, _NAME_CHARACTERS) or f"column{position}"
        unique, number = base, 1
        while unique in taken:
            unique, number = f"{base}_{number}", number + 1
        taken.add(unique)
        result.append(unique)
    return result


def count_values(
    connection: duckdb.DuckDBPyConnection, relation: Relation, width: int
) -> tuple[int, list[int]]:
    """Return the number of rows, and of values in each column.

    Unlike a bare count it makes DuckDB read every value, so that a value that does not fit its
    column's type shows now and not in the middle of a later read.
    """
    counts = ", ".join(f"count(c{i})" for i in range(width))
    # A result that is not read to its end keeps the connection from being asked again.
    ((rows, *values),) = connection.execute(
        f"SELECT count(*), {counts} FROM {relation.aliased(width)}", relation.parameters
    ).fetchall()
    return rows, values


def rows_at(
    connection: duckdb.DuckDBPyConnection,
    relation: Relation,
    width: int,
    positions: Sequence[int],
) -> list[Row]:
    """Return the rows at these positions, in their order, cells as text (None where null)."""
    if not positions:
        return []
    found = connection.execute(
        f"SELECT position, {cells(width)} FROM "
        f"(SELECT *, row_number() OVER () - 1 AS position FROM {relation.aliased(width)}) "
        f"WHERE position IN ({', '.join(str(int(p)) for p in positions)}) LIMIT {len(positions)}",
        relation.parameters,
    ).fetchall()
    return [row[1:] for row in sorted(found, key=lambda row: int(row[0]))]


def cells(width: int) -> str:
    """Return the select list that makes every column short text.

    DuckDB's own text form needs no Python type, and is the same on every machine.
    """
    return ", ".join(f"left(CAST(c{i} AS VARCHAR), {CELL_CHARACTERS})" for i in range(width))


def batches(
    connection: duckdb.DuckDBPyConnection,
    relation: Relation,
    columns: Sequence[Column],
    batch_rows: int,
) -> Iterator[pa.RecordBatch]:
    """Yield all rows, at most `batch_rows` at once, fewer where rows are wide."""
    rows = max(1, min(batch_rows, _BATCH_CELLS // max(1, len(columns))))
    query = connection.sql(
        f"SELECT * FROM {relation.aliased(len(columns))}", params=list(relation.parameters)
    )
    for batch in query.to_arrow_reader(rows):
        yield batch.rename_columns([column.name for column in columns])
