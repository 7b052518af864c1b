"""The tables and views of one DuckDB database file.

The file is opened read-only and only for as long as one call lasts, so that its owner can write
in between. While another process writes, listing raises `SourceError` and nothing is taken for
deleted. A view runs as its owner wrote it, so it may read its own database and nothing else of
this machine, unless the source's `external_views` says that its owner is trusted.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from pneuma_assets.core.errors import AccessRefusedError, PneumaError, SourceError, TableReadError
from pneuma_assets.core.sources import bounds
from pneuma_assets.core.sources.base import NONE_KNOWN, KnownIds, Listing
from pneuma_assets.core.sources.duckdb import session
from pneuma_assets.core.sources.duckdb.catalog import LIST_TABLES, DuckDBTable
from pneuma_assets.core.sources.names import escape, escape_segment
from pneuma_assets.core.sources.readable_table import OpeningSource
from pneuma_assets.core.tables import TableRef, content_hash

_EXTERNAL = (
    "copy what it reads into a table of the database, or, if you trust everybody who can write "
    "that file with all that this user can read, set external_views: true on its source"
)
_OF_THE_VIEW = (
    *(duckdb.CatalogException, duckdb.BinderException),
    *(duckdb.ConversionException, duckdb.OutOfRangeException),
)


class DuckDBFileSource(OpeningSource):
    """One database file; ids are `source/schema/table`.

    A table's version joins its columns, comments and estimated size with the size and time of
    the file: DuckDB keeps no cheaper sign of an update in place, so any write to the file makes
    all its tables be profiled again (which finds most of them unchanged).
    """

    def __init__(self, name: str, path: Path, *, external_views: bool = False) -> None:
        self.name = name
        self._path = path
        self._external_views = external_views

    def list_tables(self, known: KnownIds = NONE_KNOWN) -> Listing:  # noqa: ARG002
        """List all tables and views of all schemas from the catalogue."""
        with self._connected(SourceError, str(self._path)) as connection:
            found = connection.execute(LIST_TABLES).fetchall()
        files = [one.stat() for one in (self._path, _log_of(self._path)) if one.exists()]
        stamp = " ".join(f"{one.st_size}-{one.st_mtime_ns}" for one in files)
        return Listing([self._reference(stamp, *row) for row in found])

    @contextmanager
    def opened(self, ref: TableRef) -> Iterator[DuckDBTable]:
        """Open the file for one table."""
        with self._connected(TableReadError, ref.location) as connection:
            yield DuckDBTable(connection, ref)

    def close(self) -> None:
        """Do nothing: the file is open only while a call lasts."""

    def _reference(
        self, stamp: str, schema: str, name: str, kind: str, fingerprint: str, columns: str
    ) -> TableRef:
        admitted = ("external",) if self._external_views and kind == "view" else ()
        return TableRef(
            table_id=f"{self.name}/{escape_segment(schema)}/{escape_segment(name)}",
            source=self.name,
            location=f"{escape(str(self._path))}#{escape(schema)}.{escape(name)}",
            format=kind,
            version=content_hash(kind, fingerprint, columns or "", stamp, *admitted),
        )

    @contextmanager
    def _connected(self, kind: type[PneumaError], what: str) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the database for one call; explain in one line what goes wrong."""
        try:
            bounds.reading_file(self._path)
            with open_read_only(self._path, external_views=self._external_views) as connection:
                yield connection
        except TableReadError as error:
            raise kind(f"{what} cannot be read: {error}") from error
        except (duckdb.Error, OSError) as error:
            cause, remedy = session.reason(error) or type(error).__name__, _remedy(error)
            if remedy == _EXTERNAL and kind is TableReadError:
                kind = AccessRefusedError
            unquoted = (
                f"DuckDB fails ({type(error).__name__}) in words that may quote hidden values "
                f"(privacy); {remedy}"
            )
            raise kind(f"{what} cannot be read: {cause}; {remedy}").saying(unquoted) from error


@contextmanager
def open_read_only(
    path: Path, *, external_views: bool = False
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database file without ever writing to it, and close it whatever happens.

    Its views reach nothing outside it unless `external_views` are admitted.
    """
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {escape(str(path))}")
    if _log_of(path).is_symlink():
        raise OSError("its write-ahead log is a link, which may lead anywhere; remove it")
    spill = str(path)
    with duckdb.connect(path, read_only=True, config=session.settings(spill)) as connection:
        if not external_views:
            session.lock_down(connection, spill)
        yield connection


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.wal")


def _remedy(error: Exception) -> str:
    cause = str(error).lower()
    if isinstance(error, duckdb.PermissionException) or "has been locked" in cause:
        return _EXTERNAL
    if "set lock" in cause or "different configuration" in cause:
        return "another program has it open for writing, run again when that has finished"
    if "no file" in cause or "permission denied" in cause:
        return "check the source's path, and that this user may read it"
    if isinstance(error, duckdb.OutOfMemoryException):
        return "make its rows shorter, or its view simpler"
    if isinstance(error, _OF_THE_VIEW):
        return "correct or drop the view"
    return "check that it is a DuckDB database that DuckDB " + duckdb.__version__ + " can open"
