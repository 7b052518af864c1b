"""A source that opens a table for each call, and what an open table answers."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import pyarrow as pa

from pneuma_assets.core.dictionaries.text import plain_text
from pneuma_assets.core.sources.base import Contexts, SampledRow, Source
from pneuma_assets.core.tables import RowMark, Table, TableRef
from pneuma_assets.core.terms.collect import CollectedTerms


class ReadableTable(Protocol):
    """An open table; its methods do what `Source` promises of them."""

    def profile(self, ref: TableRef, kept: Sequence[RowMark]) -> Table:
        """Read the columns and count the rows."""
        ...

    def sample(self, rows: int, seed: int, kept: Sequence[RowMark]) -> list[SampledRow] | None:
        """Draw rows uniformly, and keep those of `kept` that are still there; None if all are."""
        ...

    def scan(self, batch_rows: int) -> Iterator[pa.RecordBatch]:
        """Read the whole table as Arrow batches of at most `batch_rows` rows."""
        ...

    def evidence(self, seed: int) -> CollectedTerms:
        """Read all rows once and return what is kept of them."""
        ...

    def comments(self) -> Sequence[str]:
        """Return what the table itself says of itself and its columns, as its owner wrote it."""
        ...


class OpeningSource(Source):
    """Answers what stages ask of a table by opening it for each call."""

    @abstractmethod
    def opened(self, ref: TableRef) -> AbstractContextManager[ReadableTable]:
        """Open a table; raises `TableReadError`."""

    def profile(self, ref: TableRef, kept: Sequence[RowMark] = ()) -> Table:
        """Read the columns and count the rows; text in one pass, others from what files say."""
        with self.opened(ref) as table:
            return table.profile(ref, kept)

    def sample(
        self, ref: TableRef, rows: int, seed: int, kept: Sequence[RowMark] = ()
    ) -> list[SampledRow] | None:
        """Draw rows uniformly without replacement, in the order of the table, cells as text."""
        with self.opened(ref) as table:
            return table.sample(rows, seed, kept)

    def scan(self, ref: TableRef, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        """Read the whole table as Arrow batches of at most `batch_rows` rows; text as text."""
        with self.opened(ref) as table:
            yield from table.scan(batch_rows)

    def evidence(self, ref: TableRef, seed: int) -> CollectedTerms:
        """Read all rows once, unless they are in memory, and return what is kept of them."""
        with self.opened(ref) as table:
            return table.evidence(seed)

    def contexts(self, ref: TableRef) -> Contexts:
        """Return what the table says of itself and its columns, as plain text."""
        with self.opened(ref) as table:
            return Contexts([text for text in map(plain_text, table.comments()) if text])
