"""How much of a small column is in a large key, by the cells that the index keeps of its table.

Of each column a sketch has 32 cells, so of a column of 20 and a key of 4,000 hardly any is in both.
The evidence of a table has up to 500 cells a column, all of a small key: fifteen times as many. It
does not say which column they are of, and leaves out common and short ones first; the 32 of the
key's sketch tell which share of the key is there.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.relations.join_columns import JoinColumn
from pneuma_assets.core.terms.collect import ROWS_KEPT, most_cells
from pneuma_assets.core.terms.distinct import Hashes, hashes_of

MOST_TABLES = 1_000
"""Whose evidence is read in one run; of keys beyond these, names alone tell."""

MOST_SMALL_TABLES = 2_000
"""Of which all cells are looked at in one run, the first ones."""

_AT_ONCE = 50
_REMEMBERED = 200
"""Tables whose cells are kept in memory, about 30 kB each at most."""

_ALL_THERE = 0.9
"""Of the key's sampled cells, the share from which on all of it counts as kept."""

_LEAST_EXPECTED = 8.0
"""Cells to be found if the key had all of the column, where some of the key are not kept."""

_UNSURE = 0.25, 0.75
"""Between these a share says nothing where some of the key are not kept: it is off by a third, that
of the key's sample by a sixth, and a cell is there or not by chance."""

_LEAST_COMPARED = 2


class KeptCells:
    """Tells shares by the evidence in an index; for one thread."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index
        self._known: OrderedDict[str, Hashes] = OrderedDict()
        self._read = 0

    def share(self, column: JoinColumn, key: JoinColumn) -> float | None:
        """Return the share of a small column's different cells that a key has, from 0 to 1.

        None where it cannot be told: not all cells of the column are known, too little of the key
        is kept, or they are numbers, which are in any other column as well.
        """
        numbers = column.is_whole_number or key.is_whole_number
        if numbers or not column.whole or len(column.cells) < _LEAST_COMPARED:
            return None
        if not len(key.cells):
            return None
        kept = self._kept(key.table_id)
        there = len(np.intersect1d(key.cells, kept, assume_unique=True)) / len(key.cells)
        there *= min(1.0, most_cells(key.width) / max(1.0, key.different))
        expected = there * len(column.cells)
        if there < _ALL_THERE and expected < _LEAST_EXPECTED:
            return None
        found = len(np.intersect1d(column.cells, kept, assume_unique=True))
        share = round(min(1.0, found / expected), 3)
        is_unsure = there < _ALL_THERE and _UNSURE[0] <= share < _UNSURE[1]
        return None if is_unsure else share

    def whole(self, tables: Mapping[str, Sequence[JoinColumn]]) -> dict[str, list[JoinColumn]]:
        """Return the columns of small tables with all of their cells, where the index has all rows.

        A sketch has 32, and from these their number can only be guessed; evidence has up to 50
        rows. What was read anew since the sketch was made is left out.

        Args:
            tables: What is known of the columns of tables, by id.
        """
        small = [
            table_id for table_id, columns in tables.items() if any(map(_may_be_whole, columns))
        ]
        found = {}
        for some in chunks(small[:MOST_SMALL_TABLES], _AT_ONCE):
            for table_id, evidence in self._index.evidence(some).items():
                rows = evidence.rows
                columns = tables[table_id]
                if len(rows) == columns[0].rows:
                    found[table_id] = [_with_all(one, rows) for one in columns]
        return found

    def _kept(self, table_id: str) -> Hashes:
        """Return the hashes of a table's cells, as its sketch has them; none beyond the bound."""
        if table_id in self._known:
            self._known.move_to_end(table_id)
        elif self._read >= MOST_TABLES:
            return np.empty(0, np.uint64)
        else:
            self._read += 1
            self._known[table_id] = self._hashes(table_id)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return self._known[table_id]

    def _hashes(self, table_id: str) -> Hashes:
        evidence = self._index.evidence([table_id]).get(table_id)
        if evidence is None:
            return np.empty(0, np.uint64)
        cells = {cell for row in evidence.rows for cell in row if cell is not None}
        return _hashes([*cells, *evidence.cells])


def _may_be_whole(column: JoinColumn) -> bool:
    return not column.whole and len(column.cells) > 0 and column.rows <= ROWS_KEPT


def _with_all(column: JoinColumn, rows: Sequence[Sequence[str | None]]) -> JoinColumn:
    if not _may_be_whole(column):
        return column
    cells = {row[column.place] for row in rows if column.place < len(row)} - {None}
    hashes = _hashes(cells)
    if not np.array_equal(hashes[: len(column.cells)], column.cells):
        return column
    return replace(column, cells=hashes, whole=True)


def _hashes(texts: Iterable[str | None]) -> Hashes:
    """Return the hashes of cells as a sketch has them, ascending."""
    return np.unique(hashes_of(pa.array(list(texts), pa.string())) >> np.uint64(32))
