"""How one text file is read, and the pass over all of it that finds out whether it can be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

import duckdb

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.sources.duckdb.relation import POSITION, WIDE, Relation, sampled, survey
from pneuma_assets.core.sources.sampling import positions_in
from pneuma_assets.core.tables import Column
from pneuma_assets.core.text.encoding import read_head

Options = Mapping[str, str]
"""DuckDB reader options; the values are SQL, and only the readers of formats write them."""

DELIMITERS = frozenset(",;|\t")

LINE_BYTES = 1 << 24
"""The longest row that is read, its values included."""


class Unread(NamedTuple):
    """How many lines of a file are not read, or not whole, and the number of the first, from 1.

    `first` is 0 where it is not known; `at_least` says that there may be more lines.
    """

    lines: int = 0
    first: int = 0
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """How a file is read without an error, so that it need not be found out again.

    `sql` stands after FROM and has one mark, for the file's name. `partition` are the values that
    its folders' names hold; `places` says where each column of its table stands in it; `called`
    tells people which of several files it is. `options` are those by which others read it.
    """

    sql: str
    columns: tuple[Column, ...]
    row_count: int
    lossy: bool = False
    unread: Unread = field(default_factory=Unread)
    unaligned: bool = False
    options: Options = field(default_factory=dict)
    partition: Mapping[str, str | None] = field(default_factory=dict)
    places: Sequence[int | None] = ()
    called: str = ""

    def source(self, name: str) -> tuple[Relation, int]:
        """Return what to select the file's rows from, values of folders last, and its width."""
        width = len(self.columns)
        source = with_partition(Relation(self.sql, (name,)), width, self.partition)
        return source, width + len(self.partition)


def written(options: Options) -> str:
    """Return options as SQL arguments."""
    return ", ".join(f"{name} = {value}" for name, value in options.items())


def literal(text: str) -> str:
    """Return text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def with_partition(source: Relation, width: int, partition: Mapping[str, str | None]) -> Relation:
    """Return a file's rows with the values that its folders' names hold as last columns."""
    if not partition:
        return source
    marks = ", ".join("?::VARCHAR" for _ in partition)
    columns = ", ".join(f"c{i}" for i in range(width))
    # The select list stands before the file's mark.
    return Relation(
        f"(SELECT {columns}, {marks} FROM {source.aliased(width)})",
        (*partition.values(), *source.parameters),
    )


SAMPLED_ROWS = 20_000
"""DuckDB guesses from this many rows; the types of a longer file are checked against all."""


@dataclass(slots=True)
class TextFile:
    """One file of a table while it is found out how to read it.

    `room` is the number of cells that may be kept of a small file. `options` are those that its
    bytes take, `encoding` only where it was replaced by a copy in UTF-8.
    """

    connection: duckdb.DuckDBPyConnection
    name: str
    partition: Mapping[str, str | None]
    wanted: Mapping[int, int]
    room: int
    options: Options = field(default_factory=dict)
    rows: list[Row] | None = None
    positions: Mapping[int, Sequence[int]] = field(default_factory=dict)
    has_values: bool = False

    @property
    def transcoded(self) -> bool:
        """Whether it is a copy in UTF-8."""
        return "encoding" in self.options

    @property
    def head(self) -> bytes:
        """Its beginning, unpacked."""
        return read_head(Path(self.name))[0]

    def ask(self, statement: str) -> duckdb.DuckDBPyConnection:
        """Run a statement with one mark, for the file's name; its rows can be fetched."""
        return self.connection.execute(statement, [self.name])

    def read(self, sql: str, width: int, checks: Sequence[str] = ()) -> tuple[int, Sequence[int]]:
        """Read it in one pass: all of it if it is small, else counts and wanted rows.

        Returns:
            The number of rows, and what the checks count; the rest stays here.
        """
        source = with_partition(Relation(sql, (self.name,)), width, self.partition)
        every = width + len(self.partition)
        self.rows = self._rows(source, every)
        if self.rows is not None:
            self.has_values = any(cell is not None for row in self.rows for cell in row[:width])
            self.positions = positions_in(self.rows, self.wanted)
            return len(self.rows), [0] * len(checks)
        with_values, *others = (
            f"count(coalesce({', '.join(f'c{i}' for i in columns)}))"
            for columns in chunks(range(width), WIDE)
        )
        count = partial(survey, self.connection, source, every)
        first = [with_values] if others else [with_values, *checks]
        found = count(self.wanted, first)
        self.positions = found.positions
        self.has_values = found.counts[0] > 0 or any(count({}, [one]).counts[0] for one in others)
        if others and found.row_count > SAMPLED_ROWS:
            return found.row_count, count({}, checks).counts
        return found.row_count, found.counts[1:] or [0] * len(checks)

    def _rows(self, source: Relation, width: int) -> list[Row] | None:
        """Return all rows, none if there is no room for their cells."""
        most = min(self.room // max(1, width), SAMPLED_ROWS)
        if not most:
            return None
        some = Relation(f"{source.aliased(width)} LIMIT {most + 1}", source.parameters)
        found = sampled(self.connection, POSITION, some, width)
        return [(*row.cells, row.mark.key) for row in found] if len(found) <= most else None

    def judge(self, error: duckdb.Error) -> None:
        """Raise what looser options would only hide."""
        if isinstance(error, duckdb.OutOfMemoryException):
            raise error
        if not self.transcoded and is_encoding_error(error):
            raise error


def is_encoding_error(error: duckdb.Error) -> bool:
    """Tell whether DuckDB met bytes that are not UTF-8, which transcoding mends."""
    text = str(error).lower()
    return any(sign in text for sign in ("unicode", "utf-8", "utf8", "control character"))
