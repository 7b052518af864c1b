"""A source made of files, wherever they are kept."""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import import_module
from typing import Protocol, runtime_checkable

import duckdb
import pyarrow as pa

from pneuma_assets.core.dictionaries.text import plain_text
from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.base import NONE_KNOWN, Contexts, KnownIds, Listing, SampledRow
from pneuma_assets.core.sources.duckdb import session
from pneuma_assets.core.sources.files.documents import read_contexts
from pneuma_assets.core.sources.files.list import LookInside, list_files
from pneuma_assets.core.sources.files.storage import Storage
from pneuma_assets.core.tables import RowMark, Table, TableRef
from pneuma_assets.core.terms.collect import CollectedTerms


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

    def evidence(self, ref: TableRef, seed: int) -> CollectedTerms:
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


_HERE = "pneuma_assets.core.sources.files"

_READERS = {
    "parquet": f"{_HERE}.parquet:ParquetReader",
    "csv": f"{_HERE}.text_reader:TextReader",
    "tsv": f"{_HERE}.text_reader:TextReader",
    "jsonl": f"{_HERE}.text_reader:JsonReader",
    "orc": f"{_HERE}.arrow_files:ArrowFileReader",
    "avro": f"{_HERE}.arrow_files:ArrowFileReader",
    "arrow": f"{_HERE}.arrow_files:ArrowFileReader",
    "excel": f"{_HERE}.excel:ExcelReader",
    "sqlite": f"{_HERE}.sqlite:SQLiteReader",
    "delta": f"{_HERE}.delta:DeltaReader",
    "iceberg": f"{_HERE}.iceberg:IcebergReader",
}


def reader_name(table_format: str) -> str:
    """Return what names the reader of a format; formats of one name share a reader.

    Raises:
        TableReadError: Nothing here reads it; a later version may.
    """
    try:
        return _READERS[table_format]
    except KeyError:
        raise TableReadError(
            f"this version of pneuma-assets reads no tables of the format {table_format!r}"
        ) from None


def make_reader(name: str, desk: Desk) -> FormatReader:
    """Return a reader of a source's tables, by the name that `reader_name` gave it."""
    module, _, kind = name.partition(":")
    make: Callable[[Desk], FormatReader] = getattr(import_module(module), kind)
    return make(desk)


_KEPT = 20_000
_AGAIN_SECONDS = 600.0
"""A file that could not be opened is tried again after so long, or when it changes."""


@dataclass(frozen=True, slots=True)
class _Seen:
    names: Sequence[str]
    problem: str
    at: float


_seen: OrderedDict[tuple[str, str], _Seen] = OrderedDict()


def remembered(look_inside: LookInside, ref: TableRef) -> Sequence[str]:
    """Return the names of the tables in a file; it is opened if this version of it is new.

    Raises:
        TableReadError: It cannot be opened, now or some minutes ago.
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


class FileSource:
    """Table files of one `Storage`, of every format that `files.formats` knows."""

    def __init__(self, name: str, storage: Storage) -> None:
        self._name = name
        self._desk = Desk(storage)
        self._readers: dict[str, FormatReader] = {}
        self.look_inside: LookInside = self.names_inside

    def close(self) -> None:
        """Close the database in memory; used again, another is opened."""
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()
        self._desk.close()

    @property
    def name(self) -> str:
        """The first part of every table id of this source."""
        return self._name

    def list_tables(self, known: KnownIds = NONE_KNOWN) -> Listing:
        """List every table with a cheap version; opens new files that hold several tables."""
        storage = self._desk.storage
        look = partial(remembered, self.look_inside)
        return list_files(self._name, storage.walk(), storage.location, known, look)

    def names_inside(self, ref: TableRef) -> tuple[str, ...]:
        """Return the names of the tables in a file that may hold several."""
        reader = self._reader(ref)
        return reader.names_inside(ref) if isinstance(reader, HoldsTables) else ()

    def profile(self, ref: TableRef, kept: Sequence[RowMark] = ()) -> Table:
        """Read the columns and count the rows; Parquet from its footer, text in one pass."""
        return self._reader(ref).profile(ref, kept)

    def sample(
        self, ref: TableRef, rows: int, seed: int, kept: Sequence[RowMark] = ()
    ) -> list[SampledRow] | None:
        """Draw rows uniformly without replacement, in the order of the table, cells as text."""
        return self._reader(ref).sample(ref, rows, seed, kept)

    def scan(self, ref: TableRef, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        """Read the whole table as Arrow batches of at most `batch_rows` rows; text as text."""
        yield from self._reader(ref).scan(ref, batch_rows)

    def evidence(self, ref: TableRef, seed: int) -> CollectedTerms:
        """Read all rows once, unless they are in memory, and return what is kept of them."""
        return self._reader(ref).evidence(ref, seed)

    def contexts(self, ref: TableRef) -> Contexts:
        """Return what the table says of itself, its documents and its folder's, as plain text."""
        look = partial(remembered, self.look_inside)
        beside = read_contexts(ref, self._desk.storage, look)
        own = [text for text in map(plain_text, self._reader(ref).comments(ref)) if text]
        return replace(beside, texts=[*own, *beside.texts])

    def _reader(self, ref: TableRef) -> FormatReader:
        name = reader_name(ref.format)
        if name not in self._readers:
            self._readers[name] = make_reader(name, self._desk)
        return self._readers[name]
