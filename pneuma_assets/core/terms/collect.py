"""What all rows of a table say, gathered in one pass and in constant memory.

Some rows are kept as they are, all of a small table; of the others, different cells. Which ones is
decided by hashes of their places and texts, so the same rows in the same order give the same
terms on every machine, however they were cut into batches. The same reading gives a sketch of the
rows and a profile of each column.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import accumulate, chain, islice, zip_longest
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pneuma_assets.core.changes.sketch import RowSampler, TableSketch
from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.tables import (
    LISTED_VALUES,
    NOT_A_NUMBER,
    ColumnProfile,
    Table,
    TableTerms,
)
from pneuma_assets.core.terms.column_profiles import (
    PROFILED_COLUMNS,
    Sampled,
    column_profile,
)
from pneuma_assets.core.terms.distinct_cells import DistinctCells, row_hashes
from pneuma_assets.core.terms.row_sample import RowSample
from pneuma_assets.core.text.safe import well_formed

ROWS_KEPT = 50
"""Rows that are kept as they are; a table of no more keeps all."""

CELL_CHARACTERS = 200
"""Where a cell is cut."""

_DESCRIBED_CHARACTERS, _TABLE_DESCRIBED = 300, 30_000
"""Of what is written about one column, and about all columns of a table."""

COLUMN_CELLS = 500
"""Different cells that a column keeps beside the rows."""

ROWS_BYTES = 48_000
"""UTF-8 of the rows that are kept, a cell without a value counted as `_NULL_BYTES`. Fewer rows are,
where they are long; of a single longer one, the first cells."""

TABLE_BYTES = 64_000
"""UTF-8 of rows and cells together; columns share evenly what the rows leave."""

_NULL_BYTES = 5
"""What an engine keeps of a cell without a value: null, and a comma."""

_COLUMN_SEEN = 2_000
"""Different cells of a column that are compared before some are kept."""

_TABLE_SEEN = 40_000
"""Likewise of a table: fewer a column where these are many, but some of each."""

_SEEN_AT_LEAST = 4

_COLUMN_HASHES = 250_000
"""Different cells of a column that are counted exactly; eight bytes each, twice while they grow."""

_TABLE_HASHES = 2_000_000
"""Likewise of a table: fewer a column where these are many."""

_PROFILE_ROWS = 1_000
"""Rows that profiles of columns are made of where different cells are too many."""

_PROFILE_CELLS = 20_000
"""Likewise cells of a table: fewer rows where columns are many."""

_QUOTED = re.compile("'((?:[^']|'')*)'")

Row = tuple[str | None, ...]


@dataclass(slots=True)
class HiddenColumns:
    """The positions of hidden columns of the table that is read now, which has `width` columns.

    `asked` tells whether a `TermCollector` was made that leaves them out.
    """

    columns: frozenset[int] = frozenset()
    width: int | None = None
    asked: bool = False

    def without_hidden(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Return the columns of some rows, those that are hidden without a value.

        Raises:
            TableReadError: The table has another number of columns than when it was profiled.
        """
        if self.columns and batch.num_columns != self.width:
            raise TableReadError(
                "The table changed while it was read; the next run reads it again."
            )
        return [
            pa.nulls(len(column), pa.string()) if at in self.columns else column
            for at, column in enumerate(batch.columns)
        ]


_IN_FORCE: ContextVar[HiddenColumns | None] = ContextVar("hidden columns", default=None)


@contextmanager
def hide_columns(columns: frozenset[int], width: int) -> Iterator[HiddenColumns]:
    """Leave these columns out of all that is collected inside the `with` block."""
    hidden = HiddenColumns(columns, width)
    token = _IN_FORCE.set(hidden)
    try:
        yield hidden
    finally:
        _IN_FORCE.reset(token)


@dataclass(frozen=True, slots=True)
class CollectedTerms:
    """What one reading of a table's rows gave: `rows` and `cells` of its terms, and what all say.

    There is no sketch and no profile where not all rows were read. Profiles are of the columns, in
    order: None of those that are hidden, or beyond a bound. Cells are cut as in `terms`.
    """

    terms: TableTerms
    sketch: TableSketch | None
    profiles: tuple[ColumnProfile | None, ...] = ()


class TermCollector:
    """Takes the rows of one table, batch by batch, and says at the end what is kept of them.

    Memory is bounded by the number of columns, never by that of rows.
    """

    def __init__(self, seed: int, missing: Collection[str] = NOT_A_NUMBER) -> None:
        """Take what decides which rows are drawn, and which cells are counted as NULL."""
        self._hidden = _IN_FORCE.get() or HiddenColumns()
        self._hidden.asked = True
        self._seed, self._none = seed, pa.array([None, *missing], pa.string())
        self._sample = RowSample(ROWS_KEPT, seed)
        self._columns: list[DistinctCells] = []
        self._rows = RowSampler()

    def add(self, batch: pa.RecordBatch) -> None:
        """Take the next rows. Columns that are not text are cast to it.

        Those that are hidden (`hide_columns`) have no value in any row.
        """
        columns = [_as_text(column) for column in self._hidden.without_hidden(batch)]
        if not self._columns:
            width = max(1, len(columns))
            most = max(_SEEN_AT_LEAST, min(_COLUMN_SEEN, _TABLE_SEEN // width))
            hashed = max(most, min(_COLUMN_HASHES, _TABLE_HASHES // width))
            self._columns = [DistinctCells(most, hashed, self._none) for _ in columns]
            drawn = min(_PROFILE_ROWS, _PROFILE_CELLS // width)
            self._sample = RowSample(max(ROWS_KEPT, drawn), self._seed)
        hashes = [seen.add(column) for seen, column in zip(self._columns, columns, strict=True)]
        self._rows.add(row_hashes(hashes, batch.num_rows))
        self._sample.add(columns, batch.num_rows)

    def collected(self) -> CollectedTerms:
        """Return what is kept of rows that were all the table has."""
        sketch = self._rows.sketch([column.hashes() for column in self._columns])
        return CollectedTerms(self.terms(), sketch, tuple(self._profiles()))

    def _profiles(self) -> Iterator[ColumnProfile | None]:
        rows, (drawn, _) = self._sample.seen, self._sample.drawn()
        for at, column in enumerate(self._columns):
            if at in self._hidden.columns or at >= PROFILED_COLUMNS:
                yield None
                continue
            counts, sampled = column.counts(), None
            if counts is None and column.extremes is not None and drawn is not None:
                counts = Counter(drawn.column(at).drop_null().to_pylist())
                sampled = Sampled(drawn.num_rows, column.extremes)
            counts = {one: n for one, n in (counts or {}).items() if one not in column.missing}
            distinct = column.lowest.distinct() if sampled else (len(counts), True)
            found = column_profile(counts, rows, column.nulls, distinct, sampled)
            yield replace(found, missing=tuple(sorted(column.missing)))

    def terms(self) -> TableTerms:
        """Return what is searched of all rows so far: `rows` in their order, and `cells`."""
        rows, used = self._rows_that_fit()
        said = {cell for row in rows for cell in row}
        by_column = [list(column.chosen(COLUMN_CELLS, said)) for column in self._columns]
        taken = set(_that_fit(by_column, TABLE_BYTES - used))
        cells = (cell for column in by_column for cell in column if cell in taken)
        return TableTerms(rows=rows, cells=tuple(dict.fromkeys(cells)))

    def _rows_that_fit(self) -> tuple[tuple[Row, ...], int]:
        """Return drawn rows in the order of the table, and their size in bytes."""
        drawn, positions = self._sample.drawn()
        if drawn is None or not self._columns:
            return (), 0
        cells = [column.to_pylist() for column in drawn.slice(0, ROWS_KEPT).columns]
        sizes = [sum(_size(column[row]) for column in cells) for row in range(len(cells[0]))]
        total = np.cumsum(sizes)
        fitting = int(np.searchsorted(total, ROWS_BYTES, "right"))
        if fitting == 0:
            row = _beginning([column[0] for column in cells])
            return (row,), min(ROWS_BYTES, sum(map(_size, row)))
        order = np.argsort(positions[:fitting]).tolist()
        return tuple(tuple(column[row] for column in cells) for row in order), int(
            total[fitting - 1]
        )


def with_listed(gathered: TableTerms, table: Table) -> TableTerms:
    """Return terms of rows and the values that types of columns list, though no row has them."""
    listed = (
        value.replace("''", "'")
        for column in table.columns
        for values in LISTED_VALUES.finditer(column.type)
        for value in _QUOTED.findall(values[0])
    )
    cells = dict.fromkeys((*gathered.cells, *islice(listed, COLUMN_CELLS)))
    return replace(gathered, cells=tuple(cells))


def table_terms(table: Table, gathered: TableTerms, described: Iterable[str] = ()) -> TableTerms:
    """Return the terms to index: what was collected, names, and what is written about columns."""
    columns = tuple(column.name for column in table.columns)
    texts = {one[:_DESCRIBED_CHARACTERS]: None for one in described}
    sizes = accumulate(map(len, texts))
    kept = (text for text, size in zip(texts, sizes, strict=True) if size <= _TABLE_DESCRIBED)
    names = names_of(table.table_id)
    return replace(gathered, names=names, columns=columns, described=tuple(kept))


def names_of(table_id: str) -> tuple[str, ...]:
    """Return the names in a table's id: its source, schemas or folders, and the table.

    Signs that an id escapes are as people wrote them; bytes that are no text become U+FFFD.
    """
    return tuple(unquote(part, errors="replace") for part in table_id.split("/"))


def most_cells(width: int) -> int:
    """Return how many different cells of a column are kept at most, of so many columns."""
    return ROWS_KEPT + min(COLUMN_CELLS, max(_SEEN_AT_LEAST, _TABLE_SEEN // max(1, width)))


def collect_rows(
    rows: Iterable[Sequence[str | None]],
    width: int,
    seed: int,
    missing: Collection[str] = NOT_A_NUMBER,
) -> CollectedTerms:
    """Return what is kept of rows that are in memory, each cut or filled to a number of cells."""
    collector = TermCollector(seed, missing)
    for batch in _batches(rows, width):
        collector.add(batch)
    return collector.collected()


_BATCH_CELLS = 1_000_000


def _batches(rows: Iterable[Sequence[str | None]], width: int) -> Iterator[pa.RecordBatch]:
    names = [f"c{number}" for number in range(width)]
    waiting = iter(rows)
    while some := list(islice(waiting, max(1, _BATCH_CELLS // max(1, width)))):
        cells = [[_cut(row[i]) if i < len(row) else None for row in some] for i in range(width)]
        yield pa.record_batch([pa.array(column, pa.string()) for column in cells], names)


def _cut(cell: str | None) -> str | None:
    if cell is None or cell.isascii():
        return cell and cell[:CELL_CHARACTERS]
    return well_formed(cell[:CELL_CHARACTERS])


def _as_text(column: pa.Array) -> pa.StringArray:
    """Return a column as text, cells cut; what Arrow has no text for is spelled by Python."""
    try:
        column = column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        column = pa.array(map(_spelled, column.to_pylist()), pa.string())
    return pc.utf8_slice_codeunits(column, 0, CELL_CHARACTERS)


def _spelled(cell: object) -> str | None:
    text = cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)
    return None if cell is None else _cut(text)


def _that_fit(columns: Sequence[Sequence[str]], room: int) -> Iterator[str]:
    """Yield the first cell of each column, then the second of each, while there is room."""
    for cell in dict.fromkeys(filter(None, chain.from_iterable(zip_longest(*columns)))):
        room -= _size(cell)
        if room < 0:
            return
        yield cell


def _beginning(row: Sequence[str | None]) -> Row:
    sizes = np.cumsum([_size(cell) for cell in row])
    return tuple(
        cell if size <= ROWS_BYTES else None for cell, size in zip(row, sizes, strict=True)
    )


def _size(cell: str | None) -> int:
    return _NULL_BYTES if cell is None else len(cell) if cell.isascii() else len(cell.encode())
