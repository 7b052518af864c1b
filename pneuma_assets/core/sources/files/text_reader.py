"""Reads CSV, TSV and JSON Lines; remembers how, so that one reading serves profile and sample."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import pyarrow as pa

from pneuma_assets.core.sources.base import SampledRow
from pneuma_assets.core.sources.files.json_lines import holds_rows
from pneuma_assets.core.sources.files.source import Desk, FormatReader
from pneuma_assets.core.sources.files.staging import OpenTable
from pneuma_assets.core.sources.files.text_table import TextTable, read_text_table
from pneuma_assets.core.sources.sampling import resampled_positions, wanted_keys
from pneuma_assets.core.tables import RowMark, Table, TableRef
from pneuma_assets.core.terms.collect import CollectedTerms
from pneuma_assets.core.text import encoding

_REMEMBERED = 10_000
"""Text tables of which it is kept how they are read."""

_ROWS_BYTES = 64 << 20
"""Memory for the rows of small tables between profile and sample."""

_LAYOUT_BYTES = 128 << 20
"""Memory for how text tables are read, which grows with their columns."""


class TextReader(FormatReader):
    """Reads tables of text; a subclass may bring into that shape what is none."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.memory = _Memory()

    def opened(self, ref: TableRef) -> nullcontext["_RememberedText"]:
        """Return the table; its files are opened when they are needed."""
        return nullcontext(_RememberedText(self, ref))

    @contextmanager
    def text(self, ref: TableRef) -> Iterator[OpenTable]:
        """Open a table as text files on this machine."""
        with self.staged(ref) as table:
            table.place_all()
            table.prepare_text()
            yield table

    def close(self) -> None:
        """Forget all tables."""
        self.memory = _Memory()


class JsonReader(TextReader):
    """Reads JSON Lines and arrays of objects, and tells them from documents."""

    def names_inside(self, ref: TableRef) -> tuple[str, ...]:
        """Return one name, which is empty, where a `.json` file is a table, else none."""
        with self.staged(ref) as table, table.storage.open(table.path) as file:
            head = encoding.unpacked(file).read(encoding.HEAD_BYTES)
            return ("",) if holds_rows(encoding.decode(head)) else ()


@dataclass(slots=True)
class _RememberedText:
    """A table of text, of which it may be known how it is read, or all rows."""

    reader: TextReader
    ref: TableRef

    def profile(self, ref: TableRef, kept: Sequence[RowMark]) -> Table:
        """Read the columns and count the rows in one pass."""
        with self.reader.text(ref) as table:
            text = read_text_table(table, wanted_keys(kept))
        self.reader.memory.keep(ref, text)
        columns = tuple(text.columns)
        return Table(ref.table_id, columns, text.row_count, ref.location, notes=text.notes)

    def sample(self, rows: int, seed: int, kept: Sequence[RowMark]) -> list[SampledRow] | None:
        """Draw rows, from memory where they are still in it."""
        wanted = wanted_keys(kept)
        text = self.reader.memory.get(self.ref)
        if text is not None and text.covers(wanted):
            positions = resampled_positions(text.row_count, rows, seed, kept, text.found(wanted))
            if positions is None:
                return None
            if text.rows is not None:
                drawn = text.kept_rows(positions)
                self.reader.memory.drop_rows(self.ref)
                return drawn
        with self.reader.text(self.ref) as table:
            if text is None or not text.covers(wanted):
                text = read_text_table(table, wanted)
                self.reader.memory.keep(self.ref, text)
            else:
                text.prepare(table)
            positions = resampled_positions(text.row_count, rows, seed, kept, text.found(wanted))
            return None if positions is None else text.rows_at(table, positions)

    def scan(self, batch_rows: int) -> Iterator[pa.RecordBatch]:
        """Read the whole table, text as text."""
        with self.reader.text(self.ref) as table:
            yield from self._text(table).batches(table, batch_rows)

    def evidence(self, seed: int) -> CollectedTerms:
        """Read all rows once, unless they are in memory, and return what is kept of them."""
        text = self.reader.memory.get(self.ref)
        if text is not None and text.rows is not None:
            return text.kept_evidence(seed)
        with self.reader.text(self.ref) as table:
            return self._text(table).evidence(table, seed)

    def comments(self) -> Sequence[str]:
        """Return nothing: text files say nothing of themselves."""
        return ()

    def _text(self, table: OpenTable) -> TextTable:
        """Return how a text table that was just opened is read; read it, where nobody has."""
        text = self.reader.memory.get(self.ref)
        if text is None:
            text = read_text_table(table, {})
            self.reader.memory.keep(self.ref, text)
        else:
            text.prepare(table)
        return text


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
