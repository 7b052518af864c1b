"""What is asked of any table that DuckDB can read: its columns, its rows, some of them, all.

Columns are renamed `c0`, `c1`, ... inside the SQL, so no name from outside ever stands in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import duckdb
import pyarrow as pa

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.sources.base import Row, SampledRow
from pneuma_assets.core.sources.bounds import check_width
from pneuma_assets.core.sources.duckdb.session import builtin
from pneuma_assets.core.sources.names import readable_names
from pneuma_assets.core.tables import Column, RowMark
from pneuma_assets.core.terms.collect import CELL_CHARACTERS as TERM_CHARACTERS
from pneuma_assets.core.terms.collect import TermCollector
from pneuma_assets.core.text.safe import one_line

CELL_CHARACTERS = 1000
"""A sampled cell is cut here: nobody reads more, and the sample's memory is bounded."""

COUNT = builtin("count")
POSITION = f"{builtin('-')}({builtin('row_number')}() OVER (), 1)"
"""A row's place in the table, from 0."""

_BATCH_CELLS = 1_000_000


@dataclass(frozen=True, slots=True)
class Relation:
    """Something to select from: `sql` stands after FROM, `parameters` fill its marks."""

    sql: str
    parameters: tuple[object, ...] = ()

    def aliased(self, width: int) -> str:
        """Return the FROM clause with its columns renamed."""
        return f"{self.sql} AS t({', '.join(f'c{i}' for i in range(width))})"


@dataclass(frozen=True, slots=True)
class Survey:
    """What one pass over a table found: its rows, its `counts`, and where rows of wanted keys are.

    Of each key these are the first ones, as many as were wanted.
    """

    row_count: int
    counts: Sequence[int] = ()
    positions: Mapping[int, Sequence[int]] = field(default_factory=dict)


WIDE = 1_000
"""Columns beyond which no plan of several steps fits: each keeps 2,048 cells of every column."""

_MOST_COUNTS = 250
"""In one statement, which DuckDB plans in a second; that time goes by their square."""


def describe(connection: duckdb.DuckDBPyConnection, relation: Relation) -> list[Column]:
    """Return the columns with names and types fit for people.

    Raises:
        TableReadError: There are too many.
    """
    found = connection.execute(
        f"DESCRIBE SELECT * FROM {relation.sql}", relation.parameters
    ).fetchall()
    check_width(len(found))
    return readable_columns([(row[0], row[1]) for row in found])


def readable_columns(found: Sequence[tuple[str, str]]) -> list[Column]:
    """Return columns from DuckDB's names and types."""
    names = readable_names([name for name, _ in found])
    types = [one_line(kind, CELL_CHARACTERS).strip('"') for _, kind in found]
    return [Column(name, kind) for name, kind in zip(names, types, strict=True)]


def survey(
    connection: duckdb.DuckDBPyConnection,
    relation: Relation,
    width: int,
    wanted: Mapping[int, int],
    aggregates: Sequence[str] = (),
) -> Survey:
    """Count the rows, answer the aggregates and look for rows, in one pass but for wide tables.

    Args:
        connection: Where to ask.
        relation: What to read.
        width: Its number of columns.
        wanted: How many rows of each key to look for; memory is bounded by their sum. Those of a
            wide table are taken to be gone.
        aggregates: Counts in SQL over `c0`, `c1`, and so on.
    """
    if len(aggregates) > _MOST_COUNTS:
        first = survey(connection, relation, width, wanted, aggregates[:_MOST_COUNTS])
        others = survey(connection, relation, width, {}, aggregates[_MOST_COUNTS:])
        return Survey(first.row_count, [*first.counts, *others.counts], first.positions)
    counts = ", ".join([f"{COUNT}(*)", *aggregates])
    if not wanted or width > WIDE:
        # A result that is not read to its end keeps the connection from being asked again.
        ((rows, *found),) = connection.execute(
            f"SELECT {counts} FROM {relation.aliased(width)}", relation.parameters
        ).fetchall()
        return Survey(rows, found)
    keys, key = ", ".join(str(int(one)) for one in wanted), _key(range(width))
    groups = connection.execute(
        f"SELECT wanted, {builtin('min')}(position, {max(wanted.values())}) "
        f"FILTER (wanted IS NOT NULL), {counts} FROM (SELECT *, {POSITION} AS position, "
        f"CASE WHEN {key} IN ({keys}) THEN {key} END AS wanted "
        f"FROM {relation.aliased(width)}) GROUP BY wanted",
        relation.parameters,
    ).fetchall()
    totals = [sum(column) for column in zip(*(group[2:] for group in groups), strict=True)]
    places = {group[0]: group[1][: wanted[group[0]]] for group in groups if group[0] is not None}
    return Survey(totals[0], totals[1:], places) if totals else Survey(0, [0] * len(aggregates))


def rows_at(
    connection: duckdb.DuckDBPyConnection,
    relation: Relation,
    width: int,
    positions: Sequence[int],
) -> list[SampledRow]:
    """Return the rows at these positions, in their order, cells as text (None where null)."""
    if not positions:
        return []
    rows = (
        f"(SELECT *, {POSITION} AS position FROM {relation.aliased(width)}) "
        f"WHERE position IN ({', '.join(str(int(p)) for p in positions)}) LIMIT {len(positions)}"
    )
    return sampled(connection, "position", Relation(rows, relation.parameters), width)


def sampled(
    connection: duckdb.DuckDBPyConnection,
    position: str,
    source: Relation,
    width: int,
    before: int = 0,
) -> list[SampledRow]:
    """Return the rows of `source`, few ones, in the order of their positions plus `before`.

    It has the columns `c0`, `c1`, and so on; those of a wide table are read a part at a time.
    """
    found: dict[int, tuple[int, Row]] = {}
    for columns in chunks(range(width), WIDE):
        rows = connection.execute(
            f"SELECT {position}, {_key(columns)}, {_cells(columns)} FROM {source.sql}",
            source.parameters,
        ).fetchall()
        for place, hashed, *texts in rows:
            known, others = found.get(place, (0, ()))
            found[place] = (known * 31 + hashed) % 2**64, (*others, *texts)
    return [
        SampledRow(RowMark(before + place, key), texts)
        for place, (key, texts) in sorted(found.items())
    ]


def _cells(columns: Sequence[int], characters: int = CELL_CHARACTERS) -> str:
    """Return the select list that makes columns short text.

    DuckDB's own text form needs no Python type, and is the same on every machine.
    """
    left = builtin("left")
    return ", ".join(f"{left}(CAST(c{i} AS VARCHAR), {characters})" for i in columns)


def _key(columns: Sequence[int]) -> str:
    """Return the expression that names a row by its whole cells as text, in 64 bits.

    DuckDB's own hash costs a tenth of a cryptographic one. Another DuckDB may hash otherwise;
    then rows look gone and are drawn anew once, which is never wrong.
    """
    return f"{builtin('hash')}({', '.join(f'CAST(c{i} AS VARCHAR)' for i in columns)})"


def batches(
    connection: duckdb.DuckDBPyConnection,
    relation: Relation,
    columns: Sequence[Column],
    batch_rows: int,
) -> Iterator[pa.RecordBatch]:
    """Yield all rows, at most `batch_rows` at once, fewer where rows are wide."""
    rows = max(1, min(batch_rows, _BATCH_CELLS // max(1, len(columns))))
    names = ", ".join(f"c{i}" for i in range(len(columns)))
    query = connection.sql(
        f"SELECT {names} FROM {relation.aliased(len(columns))}", params=list(relation.parameters)
    )
    for batch in query.to_arrow_reader(rows):
        yield batch.rename_columns([column.name for column in columns])


_TERM_ROWS = 65_536
TERM_CELLS = 500_000
"""At 200 characters of up to four bytes these take 400 MB, in the worst of tables."""


def feed(
    collector: TermCollector, connection: duckdb.DuckDBPyConnection, relation: Relation, width: int
) -> None:
    """Collect all rows, cells as text that DuckDB cuts: none of a gigabyte becomes Arrow's."""
    rows = max(1, min(_TERM_ROWS, TERM_CELLS // max(1, width)))
    texts = _cells(range(width), TERM_CHARACTERS)
    if width > WIDE:  # the collector cuts them, too
        texts = ", ".join(f"CAST(c{i} AS VARCHAR)" for i in range(width))
    query = connection.sql(
        f"SELECT {texts} FROM {relation.aliased(width)}",
        params=list(relation.parameters),
    )
    for batch in query.to_arrow_reader(rows):
        collector.add(batch)
