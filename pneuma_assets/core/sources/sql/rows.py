"""How many rows a table has, all of them, and those that stand for them."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log2

import pyarrow as pa
from sqlalchemy import Connection, Select
from sqlalchemy.exc import DBAPIError

from pneuma_assets.core.sources.bounds import reading
from pneuma_assets.core.sources.sql.bounds import COUNTED_ROWS, SMALL_ROWS
from pneuma_assets.core.sources.sql.catalog import CatalogTable
from pneuma_assets.core.sources.sql.dialect import Dialect
from pneuma_assets.core.sources.sql.reading import BATCH_ROWS, batches
from pneuma_assets.core.sources.sql.selecting import count_up_to, hashed_rows_of, rows_of
from pneuma_assets.core.text.safe import well_formed

ESTIMATED = "the number of rows is the database's estimate"
AT_LEAST = f"there are more than {COUNTED_ROWS:,} rows; they were not counted to the end"
OF_A_SAMPLE = "it is large, so its values are those of a sample of its rows"
OF_THE_FIRST = f"its values and sampled rows are of its first {SMALL_ROWS:,} rows"
NO_TEXT = "names or comments of it are no UTF-8, so other characters stand in their place"

_SAMPLE_ROWS = 20_000
"""That many rows, or up to twice as many, are asked of an engine's own sampling."""


@dataclass(frozen=True, slots=True)
class Counted:
    """How many rows a table has, and what to know of that number."""

    rows: int
    note: str | None = None


def count(connection: Connection, dialect: Dialect, table: CatalogTable) -> Counted:
    """Count rows where that is cheap, else return what the engine reckons with.

    Raises:
        DBAPIError: The table cannot be read, or neither is possible.
    """
    if table.rows is not None and table.counted:
        return Counted(table.rows)
    if table.rows is not None and (table.size or 0) > dialect.bounds.size:
        return Counted(table.rows, ESTIMATED)
    try:
        found = connection.execute(count_up_to(table, COUNTED_ROWS + 1)).scalar_one()
    except DBAPIError as error:
        if not dialect.timed_out(error):
            raise
        connection.rollback()
        estimate = dialect.estimate(connection, table)
        if estimate is None:
            raise
        return Counted(estimate, ESTIMATED)
    if found <= COUNTED_ROWS:
        return Counted(found)
    estimate = dialect.estimate(connection, table)
    known = estimate is not None and estimate > COUNTED_ROWS
    return Counted(estimate, ESTIMATED) if known and estimate else Counted(COUNTED_ROWS, AT_LEAST)


def is_whole(dialect: Dialect, table: CatalogTable, counted: Counted) -> bool:
    """Tell whether all rows are read for the values of a table."""
    bounds = dialect.bounds
    return counted.rows <= bounds.rows and (table.size or 0) <= bounds.size


def notes_on(dialect: Dialect, table: CatalogTable, counted: Counted) -> tuple[str, ...]:
    """Return what a person should know of the reading."""
    notes = [counted.note] if counted.note else []
    if not is_whole(dialect, table, counted):
        notes.append(OF_A_SAMPLE)
    if counted.rows > SMALL_ROWS and _sampling(dialect, table, counted.rows, 0) is None:
        notes.append(OF_THE_FIRST)
    if not _is_text(table):
        notes.append(NO_TEXT)
    return tuple(notes)


def _is_text(table: CatalogTable) -> bool:
    described = (part for column in table.columns for part in (column.name, column.comment))
    texts = (table.schema, table.name, table.comment, *described)
    return all("\ufffd" not in text and text == well_formed(text) for text in texts)


def rows_in(
    connection: Connection, dialect: Dialect, table: CatalogTable, batch_rows: int = BATCH_ROWS
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
        chosen = _sampling(dialect, table, counted.rows, seed)
        found = 0
        if chosen is not None:
            for batch in _read(connection, table, chosen.limit(SMALL_ROWS)):
                found += batch.num_rows
                yield batch
        if found:
            return
    yield from _read(connection, table, rows_of(dialect, table).limit(SMALL_ROWS))


def _sampling(
    dialect: Dialect, table: CatalogTable, rows: int, seed: int
) -> Select[tuple[object, ...]] | None:
    """Return the statement that reads some tens of thousand rows; None where there is none."""
    one_of = 2 ** max(0, int(log2(rows / _SAMPLE_ROWS)))
    suffix = dialect.sampling(table, 1 / one_of, seed)
    if suffix is not None:
        return rows_of(dialect, table, suffix)
    return hashed_rows_of(dialect, table, one_of, seed)


def _read(
    connection: Connection,
    table: CatalogTable,
    statement: Select[tuple[object, ...]],
    batch_rows: int = BATCH_ROWS,
) -> Iterator[pa.RecordBatch]:
    columns = [f"c{number}" for number in range(len(table.columns))]
    yield from batches(connection, statement, columns, batch_rows)
