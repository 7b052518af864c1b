"""`type: sqlite`: the tables and views of one SQLite file, as a package of others would bring it.

One file, and one registration: `register_source(SQLiteSourceConfig)`, or the entry point
`sqlite = tests.support.sqlite_source:SQLiteSourceConfig`. What a table called `about` says of the
others (their name, a text) is their context.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import ClassVar, Literal

import pyarrow as pa

from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.config.values import LocalPath
from pneuma_assets.core.dictionaries.text import plain_text
from pneuma_assets.core.errors import PneumaError, SourceError, TableReadError
from pneuma_assets.core.sources.base import (
    NONE_KNOWN,
    Contexts,
    KnownIds,
    Listing,
    SampledRow,
    Source,
)
from pneuma_assets.core.sources.names import escape, escape_segment, unescape
from pneuma_assets.core.sources.sampling import resampled_positions, wanted_keys
from pneuma_assets.core.tables import Column, RowMark, Table, TableRef, content_hash
from pneuma_assets.core.text.safe import one_line

CELL_CHARACTERS = 1000
LISTED = (
    "SELECT name, type, sql FROM sqlite_schema "
    "WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name != 'about'"
)


class SQLiteSourceConfig(SourceConfig):
    """The tables and views of one SQLite file."""

    technologies: ClassVar[frozenset[str]] = frozenset({"sqlite"})

    type: Literal["sqlite"] = "sqlite"
    path: LocalPath

    @property
    def location(self) -> str:
        return str(self.path)

    def open(self, environ: Mapping[str, str]) -> "SQLiteSource":
        return SQLiteSource(self.name, self.path)


class SQLiteSource(Source):
    """One SQLite file; ids are `source/table`."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self._path = path

    def list_tables(self, known: KnownIds = NONE_KNOWN) -> Listing:
        with self._opened(SourceError, escape(str(self._path))) as connection:
            found = connection.execute(LISTED).fetchall()
            about = _about(connection)
        stamp = self._path.stat()
        tables = [
            TableRef(
                table_id=f"{self.name}/{escape_segment(name)}",
                source=self.name,
                location=escape(f"{self._path}#{name}"),
                format=kind,
                version=content_hash(
                    sql, str(stamp.st_size), str(stamp.st_mtime_ns), *about.get(name, ())
                ),
            )
            for name, kind, sql in found
        ]
        return Listing(sorted(tables, key=lambda table: table.table_id))

    def profile(self, ref: TableRef, kept: Sequence[RowMark] = ()) -> Table:
        with self._opened(TableReadError, ref.location) as connection:
            columns = tuple(Column(one_line(n), k) for n, k in _columns(connection, ref))
            (count,) = connection.execute(f"SELECT count(*) FROM {_quoted(ref)}").fetchone()
        return Table(ref.table_id, columns, count, ref.location)

    def sample(
        self, ref: TableRef, rows: int, seed: int, kept: Sequence[RowMark] = ()
    ) -> list[SampledRow] | None:
        with self._opened(TableReadError, ref.location) as connection:
            wanted, found, count = wanted_keys(kept), defaultdict(list), 0
            for row in _rows(connection, ref):
                if wanted and (key := _key(row)) in wanted:
                    found[key].append(count)
                count += 1
            positions = resampled_positions(count, rows, seed, kept, found)
            if positions is None:
                return None
            drawn = dict.fromkeys(positions)
            return [
                SampledRow(RowMark(position, _key(row)), tuple(map(_short, row)))
                for position, row in enumerate(_rows(connection, ref))
                if position in drawn
            ]

    def scan(self, ref: TableRef, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        with self._opened(TableReadError, ref.location) as connection:
            names = [one_line(name) for name, _ in _columns(connection, ref)]
            found = _rows(connection, ref)
            while batch := found.fetchmany(batch_rows):
                columns = [pa.array(column, pa.string()) for column in zip(*batch, strict=True)]
                yield pa.record_batch(columns, names=names)

    def contexts(self, ref: TableRef) -> Contexts:
        with self._opened(TableReadError, ref.location) as connection:
            return Contexts([plain_text(text) for text in _about(connection).get(_name(ref), ())])

    def close(self) -> None:
        """Do nothing: the file is open only while a call lasts."""

    @contextmanager
    def _opened(self, kind: type[PneumaError], what: str) -> Iterator[sqlite3.Connection]:
        """Open the file without ever writing to it; explain in one line what goes wrong."""
        try:
            address = f"{self._path.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(address, uri=True)) as connection:
                connection.text_factory = lambda data: data.decode("utf-8", "replace")
                connection.execute("PRAGMA trusted_schema = OFF")
                yield connection
        except (sqlite3.Error, OSError) as error:
            cause = one_line(str(error))
            raise kind(f"{what} cannot be read: {cause}; check the file or its view") from error


def _about(connection: sqlite3.Connection) -> Mapping[str, list[str]]:
    """Return what people wrote, by table."""
    texts: Mapping[str, list[str]] = defaultdict(list)
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'about'").fetchone():
        for name, text in connection.execute("SELECT name, text FROM about ORDER BY rowid"):
            texts[name].append(text)
    return texts


def _columns(connection: sqlite3.Connection, ref: TableRef) -> list[tuple[str, str]]:
    found = connection.execute(f"PRAGMA table_info({_quoted(ref)})").fetchall()
    if not found:
        raise sqlite3.OperationalError("it is gone")
    return [(row[1], row[2]) for row in found]


def _rows(connection: sqlite3.Connection, ref: TableRef) -> sqlite3.Cursor:
    """Read every cell as text."""
    names = (name for name, _ in _columns(connection, ref))
    cells = ", ".join(f"CAST({_identifier(name)} AS TEXT)" for name in names)
    return connection.execute(f"SELECT {cells} FROM {_quoted(ref)}")


def _key(row: Sequence[str | None]) -> int:
    parts = ("none" if cell is None else f"text {cell}" for cell in row)
    return int(content_hash(*parts)[:15], 16)


def _short(cell: str | None) -> str | None:
    return None if cell is None else cell[:CELL_CHARACTERS]


def _name(ref: TableRef) -> str:
    return unescape(ref.table_id.partition("/")[2])


def _quoted(ref: TableRef) -> str:
    return _identifier(_name(ref))


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
