"""Reads tables of the formats whose rows come as Arrow batches."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa

from pneuma_assets.core.evidence.gather import Gathered
from pneuma_assets.core.sources.base import SampledRow
from pneuma_assets.core.sources.files.lake.arrow_table import ArrowTable
from pneuma_assets.core.sources.files.reading import Desk
from pneuma_assets.core.sources.files.staging import OpenTable, opened
from pneuma_assets.core.sources.files.storage import Storage
from pneuma_assets.core.tables import (
    RowMark,
    Table,
    TableRef,
    comments_on_columns,
)


class ArrowReader(ABC):
    """What all these formats have in common; a subclass opens its tables."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @abstractmethod
    def read(self, table: OpenTable, storage: Storage, ref: TableRef) -> ArrowTable:
        """Return the table at a reference; `table` takes what has to lie on this machine.

        Whatever its parts hold open is closed by `table.undo`.
        """

    def profile(self, ref: TableRef, kept: Sequence[RowMark]) -> Table:  # noqa: ARG002
        """Read the columns and count the rows."""
        with self._opened(ref) as table:
            columns, row_count = tuple(table.columns), sum(table.counts)
        return Table(
            ref.table_id,
            columns,
            row_count,
            ref.location,
            table.comment,
            table.notes,
            table.primary_key,
            table.foreign_keys,
            table.definition,
        )

    def sample(
        self, ref: TableRef, rows: int, seed: int, kept: Sequence[RowMark]
    ) -> list[SampledRow] | None:
        """Draw rows from the parts they are in."""
        with self._opened(ref) as table:
            return table.sample(rows, seed, kept)

    def scan(self, ref: TableRef, batch_rows: int) -> Iterator[pa.RecordBatch]:
        """Read the whole table."""
        with self._opened(ref) as table:
            yield from table.scan(batch_rows)

    def evidence(self, ref: TableRef, seed: int) -> Gathered:
        """Read all rows once and return what is kept of them."""
        with self._opened(ref) as table:
            return table.evidence(seed)

    def comments(self, ref: TableRef) -> Sequence[str]:
        """Return what the table says of itself and of its columns."""
        with self._opened(ref) as table:
            return [table.comment, comments_on_columns(table.columns)]

    def close(self) -> None:  # noqa: B027 (what a subclass keeps it may forget here)
        """Do nothing: nothing is kept between two calls."""

    @contextmanager
    def _opened(self, ref: TableRef) -> Iterator[ArrowTable]:
        found: list[ArrowTable] = []

        def place(table: OpenTable, storage: Storage, path: str) -> None:  # noqa: ARG001
            found.append(self.read(table, storage, ref))

        with opened(self._desk.database, self._desk.storage, ref, place):
            yield found[0]
