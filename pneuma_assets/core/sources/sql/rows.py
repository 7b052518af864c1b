"""How many rows a table has, all of them, and those that stand for it.

Statements are made for any engine: names are quoted by SQLAlchemy, cells become text.

A row is drawn by the hash of its cells, so an engine that returns rows in another order each time
draws the same; rows that say the same are told apart by how many of them came before. (Bottom-k
sampling: Cohen and Kaplan, "Summarizing data using bottom-k sketches", PODC 2007.)
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from math import log2
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Select,
    TableClause,
    column,
    func,
    literal,
    select,
    table,
)
from sqlalchemy.sql.elements import quoted_name

from pneuma_assets.core.sources.base import SampledRow
from pneuma_assets.core.sources.bounds import reading
from pneuma_assets.core.sources.sampling import wanted_keys
from pneuma_assets.core.sources.sql.dialect import CELL_CHARACTERS, CatalogTable, Dialect
from pneuma_assets.core.tables import RowMark
from pneuma_assets.core.terms.distinct_cells import Hashes, hashes_of, mixed, row_hashes
from pneuma_assets.core.text.safe import well_formed

ESTIMATED = "the number of rows is the database's estimate"
OF_A_SAMPLE = "it is large, so its values are those of a sample of its rows"

ROWS_HIDDEN = (
    "row-level security may hide rows from the user that reads it: their number and values are of "
    "those that it may see; let a user read it that has BYPASSRLS"
)

SMALL_ROWS = 50_000
"""Tables of no more rows are read whole for a sample, and no sample reads more."""

COUNTED_ROWS = 10_000_000
"""Rows are counted up to here."""

_MOST_ROWS = 10**15
"""Of an estimate; of a view that joins each row with each, planners reckon with 10^100."""

AT_LEAST = f"there are more than {COUNTED_ROWS:,} rows; they were not counted to the end"
OF_THE_FIRST = f"its values and sampled rows are of its first {SMALL_ROWS:,} rows"

_SAMPLE_ROWS = 20_000
"""That many rows, or up to twice as many, are asked of an engine's own sampling."""

_BATCH_ROWS = 2_000
_BATCH_CELLS = 50_000
"""Of 1,000 characters each in the worst of tables: 200 MB."""


def from_clause(described: CatalogTable) -> TableClause:
    """Return what to select from; every part of the name is quoted."""
    schema = quoted_name(described.schema, quote=True) if described.schema else None
    return table(quoted_name(described.name, quote=True), schema=schema)


def _cells_of(dialect: Dialect, described: CatalogTable) -> list[ColumnElement[Any]]:
    """Return the columns as text."""
    return [
        dialect.cell(column(quoted_name(one.name, quote=True)), one.type)
        for one in described.columns
    ]


def rows_of(
    dialect: Dialect, described: CatalogTable, source: FromClause | None = None
) -> Select[tuple[Any, ...]]:
    """Return the statement that reads rows: cells as text, columns named `c0`, `c1`, ..."""
    cells = [one.label(f"c{at}") for at, one in enumerate(_cells_of(dialect, described))]
    return select(*cells).select_from(from_clause(described) if source is None else source)


def sample_of(
    dialect: Dialect, described: CatalogTable, rows: int, seed: int
) -> Select[tuple[Any, ...]] | None:
    """Return the statement that reads some tens of thousand of so many rows.

    The engine chooses them uniformly by TABLESAMPLE, else by a hash of their cells; None where it
    has neither.
    """
    one_of: int = 2 ** max(0, int(log2(rows / _SAMPLE_ROWS)))
    method = dialect.sampling(described, 1 / one_of)
    if method is not None:
        sampled = from_clause(described).tablesample(method, seed=literal(seed % 2**31))
        return rows_of(dialect, described, sampled)
    condition = dialect.hashed(_cells_of(dialect, described), one_of, seed)
    return None if condition is None else rows_of(dialect, described).where(condition)


def count_up_to(described: CatalogTable, most: int) -> Select[int]:
    """Return the statement that counts rows, and stops after so many."""
    some = select(literal(1).label("one")).select_from(from_clause(described)).limit(most)
    return select(func.count()).select_from(some.subquery("counted"))


class Counted(NamedTuple):
    """How many rows a table has, and what to know of that number."""

    rows: int
    note: str | None = None


def count(connection: Connection, dialect: Dialect, table: CatalogTable) -> Counted:
    """Count rows where that is cheap, else return what the engine reckons with.

    Raises:
        DBAPIError: The table cannot be read, or takes too long.
    """
    if table.rows is not None and (table.size or 0) > dialect.bounds.size:
        return Counted(min(table.rows, _MOST_ROWS), ESTIMATED)
    found = connection.execute(count_up_to(table, COUNTED_ROWS + 1)).scalar_one()
    if found <= COUNTED_ROWS:
        return Counted(found)
    estimate = dialect.estimate(connection, table)
    if estimate is None or estimate <= COUNTED_ROWS:
        return Counted(COUNTED_ROWS, AT_LEAST)
    return Counted(min(estimate, _MOST_ROWS), ESTIMATED)


def is_whole(dialect: Dialect, table: CatalogTable, counted: Counted) -> bool:
    """Tell whether all rows are read for the values of a table."""
    bounds = dialect.bounds
    return counted.rows <= bounds.rows and (table.size or 0) <= bounds.size


def notes_on(dialect: Dialect, table: CatalogTable, counted: Counted) -> tuple[str, ...]:
    """Return what a person should know of the reading."""
    notes = [counted.note] if counted.note else []
    if table.limited:
        notes.append(ROWS_HIDDEN)
    if not is_whole(dialect, table, counted):
        notes.append(OF_A_SAMPLE)
    if counted.rows > SMALL_ROWS and sample_of(dialect, table, counted.rows, 0) is None:
        notes.append(OF_THE_FIRST)
    return tuple(notes)


def rows_in(
    connection: Connection, dialect: Dialect, table: CatalogTable, batch_rows: int = _BATCH_ROWS
) -> Iterator[pa.RecordBatch]:
    """Yield all rows, columns named `c0`, `c1`, ..."""
    reading(table.size or 0)
    yield from _read(connection, table, rows_of(dialect, table), batch_rows)


def some_rows(
    connection: Connection, dialect: Dialect, table: CatalogTable, counted: Counted, seed: int
) -> Iterator[pa.RecordBatch]:
    """Yield rows among which others may be drawn: all of a small table, else some tens of thousand.

    These are chosen uniformly by the engine, or by a hash of their cells; where it can do neither,
    they are the first ones. The same seed chooses the same while a table grows little: it is one of
    2, 4, 8, ... rows that is read, and the share of an engine's sampling is a part of a larger one.
    """
    reading(table.size or 0)
    if counted.rows > SMALL_ROWS:
        chosen = sample_of(dialect, table, counted.rows, seed)
        found = 0
        if chosen is not None:
            for batch in _read(connection, table, chosen.limit(SMALL_ROWS)):
                found += batch.num_rows
                yield batch
        if found:
            return
    yield from _read(connection, table, rows_of(dialect, table).limit(SMALL_ROWS))


def _read(
    connection: Connection,
    table: CatalogTable,
    statement: Select[tuple[Any, ...]],
    batch_rows: int = _BATCH_ROWS,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of an answer, at most `batch_rows` at once, fewer where wide.

    The engine keeps the rest where its driver knows how. A table without columns has no rows.
    """
    if not table.columns:
        return
    names = [f"c{number}" for number in range(len(table.columns))]
    rows = max(1, min(batch_rows, _BATCH_CELLS // len(names)))
    streamed = connection.execution_options(stream_results=True, max_row_buffer=rows)
    with streamed.execute(statement) as result:
        for some in result.partitions(rows):
            cells = [
                pa.array(map(_text, column), pa.string()) for column in zip(*some, strict=True)
            ]
            yield pa.record_batch(cells, names=names)


def _text(cell: Any) -> str | None:
    """Return a cell as text; a driver may return what it does not take for text."""
    if cell is None:
        return None
    if isinstance(cell, bytes | bytearray | memoryview):
        return bytes(cell[: 4 * CELL_CHARACTERS]).decode("utf-8", "replace")[:CELL_CHARACTERS]
    if isinstance(cell, dict | list):
        cell = json.dumps(cell, default=str, ensure_ascii=False)
    text = str(cell)[:CELL_CHARACTERS]
    return text if text.isascii() else well_formed(text)


_NOTHING = np.uint64(0x2545F4914F6CDD1D)
"""Stands for the hash of a cell without a value."""


def _cells(column: pa.StringArray) -> Hashes:
    """Return the hashes of a column's cells, which are text."""
    missing = column.is_null().to_numpy(zero_copy_only=False)
    hashes: Hashes = np.where(missing, _NOTHING, hashes_of(column.fill_null("")))
    return hashes


class Draw:
    """Takes the rows of one table and says at the end which stand for it.

    Memory grows with the number of rows by one number each, so not more than a few ten thousand
    are to be added.
    """

    def __init__(self, rows: int, seed: int, kept: Sequence[RowMark]) -> None:
        """Take how many rows are wanted, what decides which, and those that may stay."""
        self._rows = rows
        self._salt = mixed(np.array([seed & 0xFFFF_FFFF_FFFF_FFFF], np.uint64))[0]
        self._kept = len(kept)
        self._wanted = wanted_keys(kept)
        self._seen: Counter[int] = Counter()
        self._rows_seen = 0
        self._stay: dict[int, SampledRow] = {}
        self._lowest: list[tuple[int, int, SampledRow]] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Take the next rows."""
        keys = row_hashes(map(_cells, batch.columns), batch.num_rows)
        before = np.array([self._count(key) for key in keys.tolist()], np.uint64)
        orders = mixed(mixed(keys ^ self._salt) + before)
        most = self._rows + self._kept  # enough to stand beside those that stay
        wanted = np.isin(keys, np.fromiter(self._wanted, np.uint64))
        for row in {*np.argsort(orders)[:most].tolist(), *np.flatnonzero(wanted).tolist()}:
            key, position = int(keys[row]), self._rows_seen + row
            cells = tuple(column[row].as_py() for column in batch.columns)
            drawn = SampledRow(RowMark(position, key), cells)
            if before[row] < self._wanted[key]:
                self._stay[position] = drawn
            self._lowest.append((int(orders[row]), position, drawn))
        self._lowest = sorted(self._lowest, key=itemgetter(0, 1))[:most]
        self._rows_seen += batch.num_rows

    def _count(self, key: int) -> int:
        self._seen[key] += 1
        return self._seen[key] - 1

    def drawn(self) -> list[SampledRow] | None:
        """Return the rows in the order they were read; None if none of the kept ones is gone."""
        if self._kept and len(self._stay) == self._kept:
            return None
        others = [row for _, position, row in self._lowest if position not in self._stay]
        rows = [*self._stay.values(), *others[: max(0, self._rows - len(self._stay))]]
        return sorted(rows, key=lambda row: row.mark.position)
