"""A uniform sample of a table's rows, drawn while they pass by.

Drawn are those of the lowest hashes of their places, so the same rows in the same order give the
same sample on every machine, however they were cut into batches. (Bottom-k sampling: Cohen and
Kaplan, "Summarizing data using bottom-k sketches", PODC 2007.)
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from pneuma_assets.core.terms.distinct_cells import Hashes, mixed


class RowSample:
    """Takes the rows of one table, batch by batch, and keeps some of them.

    Memory is that of twice as many rows as are kept, whatever their number.

    Attributes:
        seen: How many rows there were.
    """

    def __init__(self, most: int, seed: int) -> None:
        """Take how many rows are kept, and what decides which."""
        self.seen = 0
        self._most = most
        self._salt = mixed(np.array([seed & 0xFFFF_FFFF_FFFF_FFFF], np.uint64))
        self._limit: np.uint64 | None = None
        self._hashes: Hashes = np.empty(0, np.uint64)
        self._positions: Hashes = np.empty(0, np.uint64)
        self._rows: list[pa.Table] = []
        self._in_order = True

    def add(self, columns: Sequence[pa.StringArray], rows: int) -> None:
        """Take the next rows, of which there are so many.

        Few of them are kept as they are, so their columns must not share memory with others that
        are larger.
        """
        positions = np.arange(self.seen, self.seen + rows, dtype=np.uint64)
        self.seen += rows
        hashes = mixed(positions ^ self._salt)
        if self._limit is not None or rows > self._most:
            below = np.arange(rows) if self._limit is None else np.flatnonzero(hashes < self._limit)
            lowest = below[np.argsort(hashes[below])[: self._most]]
            columns = [column.take(pa.array(lowest)) for column in columns]
            hashes, positions = hashes[lowest], positions[lowest]
        if len(hashes) == 0:
            return
        self._rows.append(pa.table(columns, [f"c{number}" for number in range(len(columns))]))
        self._hashes = np.concatenate([self._hashes, hashes])
        self._positions = np.concatenate([self._positions, positions])
        self._in_order = False
        if len(self._hashes) > 2 * self._most:
            self._shorten()

    def _shorten(self) -> None:
        """Keep the rows of the lowest hashes, in that order."""
        kept = np.argsort(self._hashes)[: self._most]
        self._rows = [pa.concat_tables(self._rows).take(pa.array(kept)).combine_chunks()]
        self._hashes, self._positions = self._hashes[kept], self._positions[kept]
        self._in_order = True
        if len(kept) == self._most:
            self._limit = self._hashes[-1]

    def drawn(self) -> tuple[pa.Table | None, Hashes]:
        """Return the rows that are kept, any first part of which is a sample, and their places."""
        if not self._in_order:
            self._shorten()
        return self._rows[0] if self._rows else None, self._positions
