"""Which of the rows that are read stand for a table: one pass, bounded memory, any order.

A row is drawn by the hash of its cells, so an engine that returns rows in another order each time
draws the same. Rows that say the same are told apart by how many of them came before.
(Bottom-k sampling: Cohen and Kaplan, "Summarizing data using bottom-k sketches", PODC 2007.)
"""

from collections import Counter
from collections.abc import Sequence
from heapq import heappush, heappushpop

import numpy as np
import pyarrow as pa

from pneuma_assets.core.sources.base import SampledRow
from pneuma_assets.core.sources.positions import wanted_keys
from pneuma_assets.core.tables import RowMark
from pneuma_assets.core.terms.distinct import Hashes, hashes_of, mixed, row_hashes

_NOTHING = np.uint64(0x2545F4914F6CDD1D)
"""Stands for the hash of a cell without a value."""


def keys_of(batch: pa.RecordBatch) -> Hashes:
    """Return a hash of each row's cells, which are text, in their order."""
    return row_hashes(map(_cells, batch.columns), batch.num_rows)


def _cells(column: pa.StringArray) -> Hashes:
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
        self._stay: dict[int, SampledRow] = {}
        self._lowest: list[tuple[int, int, SampledRow]] = []
        self.rows_seen = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Take the next rows."""
        keys = keys_of(batch)
        before = np.array([self._count(key) for key in keys.tolist()], np.uint64)
        orders = mixed(mixed(keys ^ self._salt) + before)
        for row in self._candidates(keys, orders):
            cells = tuple(column[row].as_py() for column in batch.columns)
            key, position = int(keys[row]), self.rows_seen + row
            drawn = SampledRow(RowMark(position, key), cells)
            if before[row] < self._wanted[key]:
                self._stay[position] = drawn
            self._offer(int(orders[row]), drawn)
        self.rows_seen += batch.num_rows

    def _count(self, key: int) -> int:
        self._seen[key] += 1
        return self._seen[key] - 1

    def _candidates(self, keys: Hashes, orders: Hashes) -> list[int]:
        """Return the rows that may be drawn: the lowest of the batch, and those that may stay."""
        most = min(len(orders), self._rows + self._kept)
        found = set(np.argsort(orders)[:most].tolist())
        if self._wanted:
            wanted = np.fromiter(self._wanted, np.uint64)
            found.update(np.flatnonzero(np.isin(keys, wanted)).tolist())
        return sorted(found)

    def _offer(self, order: int, row: SampledRow) -> None:
        """Keep the lowest, enough of them to stand beside those that stay."""
        entry = (-order, row.mark.position, row)
        if len(self._lowest) < self._rows + self._kept:
            heappush(self._lowest, entry)
        else:
            heappushpop(self._lowest, entry)

    def drawn(self) -> list[SampledRow] | None:
        """Return the rows in the order they were read; None if none of the kept ones is gone."""
        if self._kept and len(self._stay) == self._kept:
            return None
        ordered = [entry[-1] for entry in sorted(self._lowest, reverse=True)]
        others = [row for row in ordered if row.mark.position not in self._stay]
        rows = [*self._stay.values(), *others[: max(0, self._rows - len(self._stay))]]
        return sorted(rows, key=lambda row: row.mark.position)
