"""A source made of files, wherever they are kept, and what a format of table files brings.

A new format is a `FormatReader` and a line in `_READERS`; if its files are told by their extension,
another in `names.FORMATS`. Its module is imported with its first table.
"""

import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from importlib import import_module

import duckdb

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.base import (
    NONE_KNOWN,
    Contexts,
    KnownIds,
    Listing,
)
from pneuma_assets.core.sources.bounds import MAX_TABLES
from pneuma_assets.core.sources.duckdb import session
from pneuma_assets.core.sources.files.documents import read_contexts
from pneuma_assets.core.sources.files.list import list_files
from pneuma_assets.core.sources.files.staging import OpenTable, opened
from pneuma_assets.core.sources.files.storage import Storage
from pneuma_assets.core.sources.readable_table import OpeningSource, ReadableTable
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


class InMemorySource(OpeningSource):
    """Reads with a database in memory, made when first needed: that costs more than a table."""

    @cached_property
    def database(self) -> duckdb.DuckDBPyConnection:
        """The database, empty."""
        return duckdb.connect(config={**session.settings(), "lock_configuration": True})

    def close(self) -> None:
        """Close the database in memory; used again, another is opened."""
        database = self.__dict__.pop("database", None)
        if database is not None:
            database.close()


class FileSource(InMemorySource):
    """Table files of one `Storage`, of every format in `_READERS`."""

    def __init__(self, name: str, storage: Storage) -> None:
        self.name = name
        self.storage = storage
        self._readers: dict[str, FormatReader] = {}
        self.look_inside = self.names_inside

    def close(self) -> None:
        """Forget what is known of tables, and close the database in memory."""
        self._readers.clear()
        super().close()

    def list_tables(self, known: KnownIds = NONE_KNOWN) -> Listing:
        """List every table with a cheap version; opens new files that hold several tables."""
        storage = self.storage
        return list_files(self.name, storage.walk(), storage.location, known, self._cached_names)

    def names_inside(self, ref: TableRef) -> tuple[str, ...]:
        """Return the names of the tables in a file that may hold several, each once."""
        names = tuple(dict.fromkeys(self._reader(ref).names_inside(ref)))
        if len(names) > MAX_TABLES:
            raise TableReadError(
                f"{ref.location} cannot be read: it holds {len(names):,} tables, more than "
                f"{MAX_TABLES:,}; split it, or read a database by a source of type sql"
            )
        return names

    def opened(self, ref: TableRef) -> AbstractContextManager[ReadableTable]:
        """Open a table; raises `TableReadError`."""
        return self._reader(ref).opened(ref)

    def contexts(self, ref: TableRef) -> Contexts:
        """Return what the table says of itself, its documents and its folder's, as plain text."""
        beside = read_contexts(ref, self.storage, self._cached_names)
        return replace(beside, texts=[*super().contexts(ref).texts, *beside.texts])

    def _reader(self, ref: TableRef) -> "FormatReader":
        name = _READERS.get(ref.format)
        if name is None:
            raise TableReadError(
                f"this version of pneuma-assets reads no tables of the format {ref.format!r}"
            )
        if name not in self._readers:
            module, _, kind = name.partition(":")
            reader = getattr(import_module(f"{__package__}.{module}"), kind)
            self._readers[name] = reader(self)
        return self._readers[name]

    def _cached_names(self, ref: TableRef) -> Sequence[str]:
        """Return the names of the tables in a file, opened if this version of it is new.

        They are kept in this process, for all sources. Raises `TableReadError` if it cannot be
        opened, now or some minutes ago.
        """
        key = (ref.location, ref.version)
        names, problem, at = _seen.get(key, ((), "", 0.0))
        if key not in _seen or (problem and time.monotonic() - at > _AGAIN_SECONDS):
            names, problem = (), ""
            try:
                names = self.look_inside(ref)
            except TableReadError as error:
                problem = str(error)
            _seen[key] = (names, problem, time.monotonic())
            if len(_seen) > _KEPT:
                _seen.popitem(last=False)
        if problem:
            raise TableReadError(problem)
        return names


_seen: OrderedDict[tuple[str, str], tuple[Sequence[str], str, float]] = OrderedDict()
"""By place and version of a file: the tables in it, or why it cannot be opened, and since when."""


class FormatReader(ABC):
    """Reads tables of some formats; one object a source, made when first needed."""

    def __init__(self, source: FileSource) -> None:
        self.source = source

    @abstractmethod
    def opened(self, ref: TableRef) -> AbstractContextManager[ReadableTable]:
        """Open a table. Raises `TableReadError`, as all that is asked of it does."""

    def names_inside(self, ref: TableRef) -> tuple[str, ...]:  # noqa: ARG002
        """Return the names of the tables in a file that may hold several, `ref` being of the file.

        Raises:
            TableReadError: It cannot be opened.
        """
        return ()

    def staged(self, ref: TableRef) -> AbstractContextManager[OpenTable]:
        """Give a connection and a temporary folder for a table's files."""
        return opened(self.source.database, self.source.storage, ref)
