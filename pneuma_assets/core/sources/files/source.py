"""A source made of files, wherever they are kept, and what a format of table files brings.

A new format is a `FormatReader` and a line in `_READERS`; if its files are told by their extension,
another in `sources.names.FORMATS`. Its module is imported with its first table.
"""

import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import import_module
from typing import Protocol

import duckdb
import pyarrow as pa

from pneuma_assets.core.dictionaries.text import plain_text
from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.base import (
    NONE_KNOWN,
    Contexts,
    KnownIds,
    Listing,
    SampledRow,
    Source,
)
from pneuma_assets.core.sources.duckdb import session
from pneuma_assets.core.sources.files.documents import read_contexts
from pneuma_assets.core.sources.files.list import LookInside, list_files
from pneuma_assets.core.sources.files.staging import OpenTable, opened
from pneuma_assets.core.sources.files.storage import Storage
from pneuma_assets.core.sources.sampling import resampled_positions, wanted_keys
from pneuma_assets.core.tables import RowMark, Table, TableRef
from pneuma_assets.core.terms.collect import CollectedTerms

_READERS = {
    "parquet": "parquet:ParquetReader",
    "csv": "text_reader:TextReader",
    "tsv": "text_reader:TextReader",
    "jsonl": "text_reader:JsonReader",
    "orc": "arrow_files:ArrowFileReader",
    "avro": "arrow_files:ArrowFileReader",
    "arrow": "arrow_files:ArrowFileReader",
    "excel": "excel:ExcelReader",
    "sqlite": "sqlite:SQLiteReader",
    "delta": "delta:DeltaReader",
    "iceberg": "iceberg:IcebergReader",
}
"""Which module of this room and class reads a format; formats of one class share a reader."""

_KEPT = 20_000
_AGAIN_SECONDS = 600.0
"""A file that could not be opened is tried again after so long, or when it changes."""


class ReadableTable(Protocol):
    """An open table; its methods do what `sources.base.Source` promises of them."""

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


def resample(
    rows: int,
    seed: int,
    kept: Sequence[RowMark],
    row_count: int,
    rows_at: Callable[[Sequence[int]], list[SampledRow]],
    positions_of: Callable[[Mapping[int, int]], Mapping[int, Sequence[int]]],
) -> list[SampledRow] | None:
    """Draw rows of a table that can be read in parts, and keep those of `kept` still there.

    Rows that stand where they stood cost their parts; the whole table is read only if one of them
    is gone or has moved.

    `rows_at` reads the rows at some positions, `positions_of` the whole table for rows by their
    keys, as often as each is wanted. Returns None if all of `kept` are there.
    """
    found: Mapping[int, Sequence[int]] = {}
    if kept:
        there = {row.mark for row in rows_at([m.position for m in kept if m.position < row_count])}
        if all(mark in there for mark in kept):
            return None
        found = positions_of(wanted_keys(kept))
    positions = resampled_positions(row_count, rows, seed, kept, found)
    return None if positions is None else rows_at(positions)


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


class FormatReader(ABC):
    """Reads tables of some formats; one object a source, made when first needed."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    @abstractmethod
    def opened(self, ref: TableRef) -> AbstractContextManager[ReadableTable]:
        """Open a table. Raises `TableReadError`, as all that is asked of it does."""

    def names_inside(self, ref: TableRef) -> tuple[str, ...]:  # noqa: ARG002
        """Return the names of the tables in a file that may hold several, `ref` being of the file.

        Raises:
            TableReadError: It cannot be opened.
        """
        return ()

    def close(self) -> None:  # noqa: B027 (most keep nothing between two calls)
        """Forget what is known of tables; the object may be used again."""

    def staged(self, ref: TableRef) -> AbstractContextManager[OpenTable]:
        """Give a connection and a temporary folder for a table's files."""
        return opened(self.desk.database, self.desk.storage, ref)


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

    def _comments(self, ref: TableRef) -> list[str]:
        with self.opened(ref) as table:
            return [text for text in map(plain_text, table.comments()) if text]


class FileSource(OpeningSource):
    """Table files of one `Storage`, of every format in `_READERS`."""

    def __init__(self, name: str, storage: Storage) -> None:
        self.name = name
        self._desk = Desk(storage)
        self._readers: dict[str, FormatReader] = {}
        self.look_inside = self.names_inside

    def close(self) -> None:
        """Close the database in memory; used again, another is opened."""
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()
        self._desk.close()

    def list_tables(self, known: KnownIds = NONE_KNOWN) -> Listing:
        """List every table with a cheap version; opens new files that hold several tables."""
        storage = self._desk.storage
        look = partial(_cached_names, self.look_inside)
        return list_files(self.name, storage.walk(), storage.location, known, look)

    def names_inside(self, ref: TableRef) -> tuple[str, ...]:
        """Return the names of the tables in a file that may hold several."""
        return self._reader(ref).names_inside(ref)

    def opened(self, ref: TableRef) -> AbstractContextManager[ReadableTable]:
        """Open a table; raises `TableReadError`."""
        return self._reader(ref).opened(ref)

    def contexts(self, ref: TableRef) -> Contexts:
        """Return what the table says of itself, its documents and its folder's, as plain text."""
        beside = read_contexts(ref, self._desk.storage, partial(_cached_names, self.look_inside))
        return replace(beside, texts=[*self._comments(ref), *beside.texts])

    def _reader(self, ref: TableRef) -> FormatReader:
        name = _READERS.get(ref.format)
        if name is None:
            raise TableReadError(
                f"this version of pneuma-assets reads no tables of the format {ref.format!r}"
            )
        if name not in self._readers:
            module, _, kind = name.partition(":")
            reader = getattr(import_module(f"{__package__}.{module}"), kind)
            self._readers[name] = reader(self._desk)
        return self._readers[name]


@dataclass(frozen=True, slots=True)
class _Seen:
    names: Sequence[str]
    problem: str
    at: float


_seen: OrderedDict[tuple[str, str], _Seen] = OrderedDict()


def _cached_names(look_inside: LookInside, ref: TableRef) -> Sequence[str]:
    """Return the names of the tables in a file; it is opened if this version of it is new.

    They are kept in this process, for all sources. Raises `TableReadError` if it cannot be opened,
    now or some minutes ago.
    """
    key = (ref.location, ref.version)
    seen = _seen.get(key)
    if seen is None or (seen.problem and time.monotonic() - seen.at > _AGAIN_SECONDS):
        try:
            seen = _Seen(tuple(look_inside(ref)), "", time.monotonic())
        except TableReadError as error:
            seen = _Seen((), str(error), time.monotonic())
        _seen[key] = seen
        while len(_seen) > _KEPT:
            _seen.popitem(last=False)
    if seen.problem:
        raise TableReadError(seen.problem)
    return seen.names
