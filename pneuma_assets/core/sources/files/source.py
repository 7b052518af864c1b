"""A source made of files, wherever they are kept."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa

from pneuma_assets.core.evidence.gather import Gathered
from pneuma_assets.core.sources.base import NONE_KNOWN, Contexts, KnownIds, Listing, SampledRow
from pneuma_assets.core.sources.files.contexts import plain_text, read_contexts
from pneuma_assets.core.sources.files.formats import make_reader, reader_name
from pneuma_assets.core.sources.files.inside import remembered
from pneuma_assets.core.sources.files.listing import LookInside, list_files
from pneuma_assets.core.sources.files.reading import Desk, FormatReader, HoldsTables
from pneuma_assets.core.sources.files.storage import Storage
from pneuma_assets.core.tables import RowMark, Table, TableRef


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

    def evidence(self, ref: TableRef, seed: int) -> Gathered:
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
