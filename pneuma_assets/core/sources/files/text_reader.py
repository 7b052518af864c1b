"""Reads CSV, TSV and JSON Lines; remembers how, so that one reading serves profile and sample."""

from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import duckdb

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.base import SampledRow
from pneuma_assets.core.sources.duckdb.relation import Relation
from pneuma_assets.core.sources.files.json_lines import holds_rows
from pneuma_assets.core.sources.files.source import FileSource, FormatReader
from pneuma_assets.core.sources.files.staging import OpenTable
from pneuma_assets.core.sources.files.storage import REPLACED
from pneuma_assets.core.sources.files.text_table import TextTable, read_text_table
from pneuma_assets.core.sources.readable_table import ReadableTable
from pneuma_assets.core.sources.sampling import resampled_positions, wanted_keys
from pneuma_assets.core.tables import MISSING, NOT_A_NUMBER, Column, RowMark, Table, TableRef
from pneuma_assets.core.terms.collect import CollectedTerms, collect_rows
from pneuma_assets.core.text import encoding

_REMEMBERED = 10_000
"""Text tables of which it is kept how they are read."""

_ROWS_BYTES = 64 << 20
"""Memory for the rows of small tables between profile and sample."""

_LAYOUT_BYTES = 128 << 20
"""Memory for how text tables are read, which grows with their columns."""


class TextReader(FormatReader):
    """Reads tables of text; a subclass may bring into that shape what is none."""

    missing: ClassVar[Collection[str]] = MISSING

    def __init__(self, source: FileSource) -> None:
        super().__init__(source)
        self.memory = _Memory()

    @contextmanager
    def opened(self, ref: TableRef) -> Iterator["_RememberedText"]:
        """Return the table; its files are opened when they are needed."""
        with ExitStack() as opened:
            yield _RememberedText(self, ref, opened)

    @contextmanager
    def text(self, ref: TableRef) -> Iterator[OpenTable]:
        """Open a table as text files on this machine."""
        with self.staged(ref) as table:
            table.place_all()
            table.prepare_text()
            yield table


class JsonReader(TextReader):
    """Reads JSON Lines and arrays of objects, and tells them from documents."""

    missing = NOT_A_NUMBER  # JSON has null

    def names_inside(self, ref: TableRef) -> tuple[str, ...]:
        """Return one name, which is empty, where a `.json` file is a table, else none."""
        with self.staged(ref) as table, table.storage.open(table.path) as file:
            head = encoding.unpacked(file).read(encoding.HEAD_BYTES)
            return ("",) if holds_rows(encoding.decode(head)) else ()


class _RememberedText(ReadableTable):
    """A table of text, of which it may be known how it is read, or all rows."""

    def __init__(self, reader: TextReader, ref: TableRef, opened: ExitStack) -> None:
        self._reader, self._ref, self._opened = reader, ref, opened
        self._known, self.missing = reader.memory.get(ref), reader.missing

    @cached_property
    def _files(self) -> OpenTable:
        """The files, opened and brought into the shape in which they were read before."""
        table = self._opened.enter_context(self._reader.text(self._ref))
        known = self._known.layouts if self._known else ()
        if known and len(known) != len(table.files):
            raise TableReadError(REPLACED)
        for number, layout in enumerate(known):
            if "encoding" in layout.options and "encoding" not in table.options[number]:
                table.transcode(number)
        return table

    def _read(self, kept: Sequence[RowMark] = ()) -> TextTable:
        self._known = read_text_table(self._files, wanted_keys(kept))
        self._reader.memory.keep(self._ref, self._known)
        return self._known

    @property
    def _text(self) -> TextTable:
        """How the table is read; it is read now, where nobody has."""
        return self._known or self._read()

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:  # type: ignore[override] # opened late
        """Where the files can be read."""
        return self._files.connection

    @property
    def columns(self) -> Sequence[Column]:
        """Those of all files."""
        return self._text.columns

    @property
    def row_count(self) -> int:
        """That of all files."""
        return self._text.row_count

    @contextmanager
    def reading(self) -> Iterator[Iterator[Relation]]:
        """Give each file."""
        yield self._text.parts(self._files)

    def rows_at(self, positions: Sequence[int]) -> list[SampledRow]:
        """Return rows; from memory where they are still in it, where they are then no more."""
        text = self._text
        if text.rows is None:
            return text.rows_at(self._files, positions)
        self._reader.memory.keep(self._ref, text.without_rows())
        return text.kept_rows(positions)

    def profile(self, ref: TableRef, kept: Sequence[RowMark]) -> Table:
        """Read the columns, count the rows and look for some in one pass."""
        text = self._read(kept)
        columns = tuple(text.columns)
        found = Table(ref.table_id, columns, text.row_count, ref.location, notes=text.notes)
        return replace(found, reading=text.reading)

    def sample(self, rows: int, seed: int, kept: Sequence[RowMark]) -> list[SampledRow] | None:
        """Draw rows; where those of `kept` stand is known from the profile, or read now."""
        wanted, text = wanted_keys(kept), self._known
        if text is None or not text.covers(wanted):
            text = self._read(kept)
        positions = resampled_positions(text.row_count, rows, seed, kept, text.found(wanted))
        return None if positions is None else self.rows_at(positions)

    def evidence(self, seed: int) -> CollectedTerms:
        """Read all rows once, unless they are in memory, and return what is kept of them."""
        text = self._text
        if text.rows is None:
            return super().evidence(seed)
        return collect_rows(text.rows, len(text.columns), seed, self.missing)


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
