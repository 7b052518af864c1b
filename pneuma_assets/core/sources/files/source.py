"""A source made of files, wherever they are kept."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import cached_property

import duckdb
import pyarrow as pa

from pneuma_assets.core.sources.base import NONE_KNOWN, Contexts, KnownIds, Listing, SampledRow
from pneuma_assets.core.sources.duckdb import session
from pneuma_assets.core.sources.duckdb.relation import batches, describe
from pneuma_assets.core.sources.files import parquet
from pneuma_assets.core.sources.files.contexts import read_contexts
from pneuma_assets.core.sources.files.listing import build_tables, path_id
from pneuma_assets.core.sources.files.staging import OpenTable, opened
from pneuma_assets.core.sources.files.storage import Storage
from pneuma_assets.core.sources.files.text import read_text_table
from pneuma_assets.core.sources.files.text_table import TextTable
from pneuma_assets.core.sources.positions import resampled_positions, wanted_keys
from pneuma_assets.core.tables import Evidence, Problem, RowMark, Table, TableRef

_REMEMBERED = 10_000
"""Text tables of which it is kept how they are read."""

_ROWS_BYTES = 64 << 20
"""Memory for the rows of small tables between profile and sample."""

_LAYOUT_BYTES = 128 << 20
"""Memory for how text tables are read, which grows with their columns."""


class FileSource:
    """CSV, TSV, JSON Lines and Parquet files of one `Storage`."""

    def __init__(self, name: str, storage: Storage) -> None:
        self._name = name
        self._storage = storage
        self._memory = _Memory()

    @cached_property
    def _database(self) -> duckdb.DuckDBPyConnection:
        """An empty database in memory, to read with: opening one costs more than a small table."""
        return duckdb.connect(config={**session.settings(), "lock_configuration": True})

    def close(self) -> None:
        """Close the database in memory; used again, another is opened."""
        self._memory = _Memory()
        database = self.__dict__.pop("_database", None)
        if database is not None:
            database.close()

    @property
    def name(self) -> str:
        """The first part of every table id of this source."""
        return self._name

    def list_tables(self, known: KnownIds = NONE_KNOWN) -> Listing:
        """List every table with a cheap version; opens no file."""
        walk = self._storage.walk()
        tables = build_tables(self._name, walk.entries, self._storage.location, known)
        problems = [
            Problem(path_id(self._name, obstacle.path), "listing", obstacle.cause)
            for obstacle in walk.obstacles
        ]
        unlisted = [
            f"{path_id(self._name, obstacle.path)}/"
            for obstacle in walk.obstacles
            if obstacle.is_folder
        ]
        return Listing(tables, problems, unlisted)

    def profile(self, ref: TableRef, kept: Sequence[RowMark] = ()) -> Table:
        """Read the columns and count the rows; Parquet from its footer, text in one pass."""
        with opened(self._database, self._storage, ref) as table:
            notes: tuple[str, ...] = ()
            if table.format == "parquet":
                parquet.check_columns(table)
                columns = describe(table.connection, parquet.relation(table))
                row_count = sum(parquet.count_rows(table))
            else:
                text = read_text_table(table, wanted_keys(kept))
                self._memory.keep(ref, text)
                columns, row_count, notes = list(text.columns), text.row_count, text.notes
        return Table(ref.table_id, tuple(columns), row_count, ref.location, notes=notes)

    def sample(
        self, ref: TableRef, rows: int, seed: int, kept: Sequence[RowMark] = ()
    ) -> list[SampledRow] | None:
        """Draw rows uniformly without replacement, in the order of the table, cells as text."""
        wanted = wanted_keys(kept)
        text = self._memory.get(ref)
        if text is not None and text.covers(wanted):
            positions = resampled_positions(text.row_count, rows, seed, kept, text.found(wanted))
            if positions is None:
                return None
            if text.rows is not None:
                drawn = text.kept_rows(positions)
                self._memory.drop_rows(ref)
                return drawn
        with opened(self._database, self._storage, ref) as table:
            if table.format == "parquet":
                return parquet.sample(table, rows, seed, kept)
            if text is None or not text.covers(wanted):
                text = read_text_table(table, wanted)
                self._memory.keep(ref, text)
            else:
                text.prepare(table)
            positions = resampled_positions(text.row_count, rows, seed, kept, text.found(wanted))
            return None if positions is None else text.rows_at(table, positions)

    def scan(self, ref: TableRef, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        """Read the whole table as Arrow batches of at most `batch_rows` rows; text as text."""
        with opened(self._database, self._storage, ref) as table:
            if table.format == "parquet":
                source = parquet.relation(table)
                columns = describe(table.connection, source)
                yield from batches(table.connection, source, columns, batch_rows)
                return
            yield from self._text(ref, table).batches(table, batch_rows)

    def evidence(self, ref: TableRef, seed: int) -> Evidence:
        """Read all rows once, unless they are in memory, and return what is kept of them."""
        text = self._memory.get(ref)
        if text is not None and text.rows is not None:
            return text.kept_evidence(seed)
        with opened(self._database, self._storage, ref) as table:
            if table.format == "parquet":
                return parquet.evidence(table, seed)
            return self._text(ref, table).evidence(table, seed)

    def _text(self, ref: TableRef, table: OpenTable) -> TextTable:
        """Return how a text table that was just opened is read; read it, where nobody has."""
        text = self._memory.get(ref)
        if text is None:
            text = read_text_table(table, {})
            self._memory.keep(ref, text)
        else:
            text.prepare(table)
        return text

    def contexts(self, ref: TableRef) -> Contexts:
        """Return the documents beside the table and its folder's, as plain text."""
        return read_contexts(ref, self._storage)


class _Memory:
    """What is known of text tables, so that one reading serves profile and sample.

    How a table is read is kept of the last `_REMEMBERED`, fewer where they are wide; the rows of
    small ones while there is room. Later tables find it when the rows of earlier ones were sampled,
    or read again.
    """

    def __init__(self) -> None:
        self._tables: OrderedDict[tuple[str, str], TextTable] = OrderedDict()
        self._rows_size = self._layout_size = 0

    def get(self, ref: TableRef) -> TextTable | None:
        return self._tables.get((ref.location, ref.version))

    def keep(self, ref: TableRef, text: TextTable) -> None:
        key = (ref.location, ref.version)
        if key in self._tables:
            self._count(self._tables.pop(key), -1)
        if self._rows_size + text.rows_size > _ROWS_BYTES:
            text = text.without_rows()
        self._tables[key] = text
        self._count(text, 1)
        while len(self._tables) > _REMEMBERED or self._layout_size > _LAYOUT_BYTES:
            self._count(self._tables.popitem(last=False)[1], -1)

    def _count(self, text: TextTable, sign: int) -> None:
        self._rows_size += sign * text.rows_size
        self._layout_size += sign * text.layout_size

    def drop_rows(self, ref: TableRef) -> None:
        """Make room: the table was sampled."""
        text = self.get(ref)
        if text is not None and text.rows is not None:
            self.keep(ref, text.without_rows())
