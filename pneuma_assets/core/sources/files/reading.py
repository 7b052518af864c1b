"""What a format of table files brings, and what it is given to read with."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import duckdb
import pyarrow as pa

from pneuma_assets.core.evidence.gather import Gathered
from pneuma_assets.core.sources.base import SampledRow
from pneuma_assets.core.sources.duckdb import session
from pneuma_assets.core.sources.files.storage import Storage
from pneuma_assets.core.tables import RowMark, Table, TableRef


class MemoryDatabase:
    """A database in memory to read with, opened when first needed: that costs more than a table."""

    @cached_property
    def database(self) -> duckdb.DuckDBPyConnection:
        """The database, empty."""
        return duckdb.connect(config={**session.settings(), "lock_configuration": True})

    def close(self) -> None:
        """Close the database; asked for again, another is opened."""
        database = self.__dict__.pop("database", None)
        if database is not None:
            database.close()


@dataclass
class Desk(MemoryDatabase):
    """Where the readers of one source work: its files, and a database in memory."""

    storage: Storage


class FormatReader(Protocol):
    """Reads tables of some formats; one object a source, made when first needed with its `Desk`.

    The first four methods do what `sources.base.Source` promises of them.
    """

    def profile(self, ref: TableRef, kept: Sequence[RowMark]) -> Table:
        """Read the columns and count the rows."""
        ...

    def sample(
        self, ref: TableRef, rows: int, seed: int, kept: Sequence[RowMark]
    ) -> list[SampledRow] | None:
        """Draw rows uniformly, and keep those of `kept` that are still there; None if all are."""
        ...

    def scan(self, ref: TableRef, batch_rows: int) -> Iterator[pa.RecordBatch]:
        """Read the whole table as Arrow batches of at most `batch_rows` rows."""
        ...

    def evidence(self, ref: TableRef, seed: int) -> Gathered:
        """Read all rows once and return what is kept of them."""
        ...

    def comments(self, ref: TableRef) -> Sequence[str]:
        """Return what the table itself says of itself and its columns, as its owner wrote it."""
        ...

    def close(self) -> None:
        """Forget what is known of tables; the object may be used again."""
        ...


@runtime_checkable
class HoldsTables(Protocol):
    """A reader of files that hold several tables each."""

    def names_inside(self, ref: TableRef) -> tuple[str, ...]:
        """Return the names of the tables in a file, `ref` being of the file itself.

        Raises:
            TableReadError: It cannot be opened.
        """
        ...
