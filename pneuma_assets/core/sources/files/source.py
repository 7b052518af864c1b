"""A source made of files, wherever they are kept, and what a format of table files brings.

A new format is a `FormatReader` and a line in `_READERS`; if its files are told by their extension,
another in `sources.names.FORMATS`. Its module is imported with its first table.
"""

import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import import_module

import duckdb

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.base import (
    NONE_KNOWN,
    Contexts,
    KnownIds,
    Listing,
)
from pneuma_assets.core.sources.duckdb import session
from pneuma_assets.core.sources.files.documents import read_contexts
from pneuma_assets.core.sources.files.list import LookInside, list_files
from pneuma_assets.core.sources.files.staging import OpenTable, opened
from pneuma_assets.core.sources.files.storage import Storage
from pneuma_assets.core.sources.opening import OpeningSource, ReadableTable
from pneuma_assets.core.tables import TableRef

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
        return replace(beside, texts=[*super().contexts(ref).texts, *beside.texts])

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
