"""The tables of an Iceberg catalogue, each as its current snapshot has it."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pyarrow as pa
from pyiceberg.io import FileIO, InputFile, OutputFile, load_file_io

from pneuma_assets.core.dictionaries.text import plain_text
from pneuma_assets.core.errors import SourceError, TableReadError
from pneuma_assets.core.sources.base import NONE_KNOWN, Contexts, KnownIds, Listing, SampledRow
from pneuma_assets.core.sources.files.arrow import ArrowTable
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.iceberg import (
    StoredFile,
    arrow_table,
    explained,
    plain_address,
    refuse,
)
from pneuma_assets.core.sources.files.source import MemoryDatabase
from pneuma_assets.core.sources.files.staging import working
from pneuma_assets.core.sources.letting import nothing_fits
from pneuma_assets.core.sources.names import escape, escape_segment, unescape
from pneuma_assets.core.sources.root import Root
from pneuma_assets.core.tables import (
    Problem,
    RowMark,
    Table,
    TableRef,
    comments_on_columns,
    content_hash,
)
from pneuma_assets.core.terms.collect import CollectedTerms

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table as IcebergTable


Identifier = tuple[str, ...]

_AT_ONCE = 8
"""Tables whose metadata is asked for at once while listing."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """Which tables are wanted, by `namespace.table` with `*` and `?`; none means all."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def want(self, identifier: Identifier) -> bool:
        """Tell whether a table is wanted."""
        name = ".".join(identifier)
        if any(fnmatchcase(name, pattern) for pattern in self.exclude):
            return False
        return self._includes(name)

    def error(self, source: str, tables: Sequence[Identifier]) -> SourceError:
        """Return the error of patterns that let through none of the tables that there are."""
        names = [".".join(table) for table in tables]
        if any(map(self._includes, names)):
            return nothing_fits(source, "exclude", self.exclude, names)
        return nothing_fits(source, "include", self.include, names)

    def _includes(self, name: str) -> bool:
        return not self.include or any(fnmatchcase(name, pattern) for pattern in self.include)


class IcebergCatalogSource:
    """One catalogue; ids are `source/namespace/table`, with a part for each level of namespaces.

    A table's version is its current snapshot and its metadata file, which every commit writes anew.
    Listing asks the catalogue for each table once, `_AT_ONCE` at a time.
    """

    def __init__(
        self, name: str, connect: Callable[[], "Catalog"], patterns: Patterns | None = None
    ) -> None:
        self._name = name
        self._connect = connect
        self._patterns = patterns or Patterns()
        self._memory = MemoryDatabase()

    @property
    def name(self) -> str:
        """The first part of every table id of this source."""
        return self._name

    @cached_property
    def _catalog(self) -> "Catalog":
        return self._connect()

    def list_tables(self, known: KnownIds = NONE_KNOWN) -> Listing:  # noqa: ARG002
        """List the wanted tables; one that cannot be loaded is a problem of its own.

        Raises:
            SourceError: The catalogue does not answer, or the patterns let through none of its
                tables.
        """
        try:
            with explained():
                there = _identifiers(self._catalog)
                wanted = sorted(filter(self._patterns.want, there))
                if there and not wanted:
                    raise self._patterns.error(self._name, there)
                with ThreadPoolExecutor(_AT_ONCE) as pool:
                    found = list(pool.map(self._reference, wanted))
        except (TableReadError, OSError) as error:
            raise SourceError(
                f"the catalogue of {self._name} cannot be listed: {error}; check uri, warehouse "
                "and the environment variables that hold its secrets"
            ) from error
        problems = [one for one in found if isinstance(one, Problem)]
        tables = [one for one in found if isinstance(one, TableRef)]
        if problems and not tables:
            raise SourceError(
                f"no table of the catalogue of {self._name} can be loaded, {problems[0].subject} "
                f"because {problems[0].cause}; check that its warehouse can be reached"
            )
        return Listing(tables, problems, [problem.subject for problem in problems])

    def profile(self, ref: TableRef, kept: Sequence[RowMark] = ()) -> Table:  # noqa: ARG002
        """Read the columns, and the number of rows from the manifests."""
        with self._opened(ref) as table:
            columns, row_count = tuple(table.columns), sum(table.counts)
        return Table(ref.table_id, columns, row_count, ref.location, table.comment)

    def sample(
        self, ref: TableRef, rows: int, seed: int, kept: Sequence[RowMark] = ()
    ) -> list[SampledRow] | None:
        """Draw rows from the data files they are in."""
        with self._opened(ref) as table:
            return table.sample(rows, seed, kept)

    def scan(self, ref: TableRef, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        """Read the whole table as Arrow batches of at most `batch_rows` rows."""
        with self._opened(ref) as table:
            yield from table.scan(batch_rows)

    def evidence(self, ref: TableRef, seed: int) -> CollectedTerms:
        """Read all rows once and return what is kept of them."""
        with self._opened(ref) as table:
            return table.evidence(seed)

    def contexts(self, ref: TableRef) -> Contexts:
        """Return the comments on the table and its columns."""
        with self._opened(ref) as table:
            texts = [table.comment, comments_on_columns(table.columns)]
        return Contexts([text for text in map(plain_text, texts) if text])

    def close(self) -> None:
        """Let go of the catalogue and the database in memory; used again, they are opened anew."""
        self._memory.close()
        catalog = self.__dict__.pop("_catalog", None)
        if catalog is not None:
            catalog.close()

    def _reference(self, identifier: Identifier) -> TableRef | Problem:
        table_id = "/".join([self._name, *map(escape_segment, identifier)])
        try:
            with explained():
                table = self._catalog.load_table(identifier)
                return self._described(table_id, identifier, table)
        except (TableReadError, OSError) as error:
            return Problem(table_id, "listing", f"it cannot be loaded: {error}")

    def _described(self, table_id: str, identifier: Identifier, table: "IcebergTable") -> TableRef:
        snapshot = table.current_snapshot()
        return TableRef(
            table_id=table_id,
            source=self._name,
            location=escape(f"{table.location()}#{'.'.join(identifier)}"),
            format="iceberg",
            version=content_hash(
                str(snapshot.snapshot_id if snapshot else ""), table.metadata_location
            ),
            updated_at=snapshot.timestamp_ms / 1000 if snapshot else None,
            identity=str(table.metadata.table_uuid),
        )

    @contextmanager
    def _opened(self, ref: TableRef) -> Iterator[ArrowTable]:
        """Open a table for one call; explain in one line what goes wrong."""
        with working(self._memory.database, ref) as (connection, _):
            with explained():
                identifier = tuple(map(unescape, ref.table_id.split("/")[1:]))
                table = self._catalog.load_table(identifier)
            yield arrow_table(connection, table)


def connect(name: str, properties: Mapping[str, str], local_files: Path | None = None) -> "Catalog":
    """Return a catalogue that lets no table name a Python class that reads it, nor any local file.

    Properties of tables are written by whoever writes tables, and pyiceberg mixes them with those
    of the catalogue. Of a REST catalogue they bring the keys to a table's files.

    Args:
        name: The catalogue's.
        properties: What pyiceberg is told.
        local_files: The only folder of this machine in which files of tables are read.
    """
    from pyiceberg.catalog import load_catalog
    from pyiceberg.io import FileIO, load_file_io

    from pneuma_assets.core.sources.files.iceberg_catalog import FOLDER, IMPLEMENTATION

    own = {"py-io-impl": IMPLEMENTATION, FOLDER: str(local_files or "")}
    catalog = load_catalog(name, **{"init_catalog_tables": "false", **properties, **own})
    is_rest = properties["type"] == "rest"

    def loaded(properties: Mapping[str, str], location: str | None = None) -> FileIO:
        brought = {k: v for k, v in properties.items() if is_rest and not k.startswith("py-")}
        return load_file_io({**catalog.properties, **brought, **own}, location)

    catalog._load_file_io = loaded  # type: ignore[method-assign,assignment]
    return catalog


def _identifiers(catalog: "Catalog") -> list[Identifier]:
    """Return the names of all tables, of namespaces within others, too."""
    from pyiceberg.exceptions import BadRequestError

    found: list[Identifier] = []
    seen: set[Identifier] = set()
    pending = [tuple(namespace) for namespace in catalog.list_namespaces()]
    while pending:
        namespace = pending.pop()
        if namespace in seen:
            continue
        seen.add(namespace)
        found += [tuple(table) for table in catalog.list_tables(namespace)]
        try:
            pending += [tuple(inner) for inner in catalog.list_namespaces(namespace)]
        except (BadRequestError, NotImplementedError):
            continue  # This catalogue has one level of namespaces.
    return found


FOLDER = "pneuma.local-files"
"""The property with the folder, which is absolute; none is set where no local file may be read."""

_OUTSIDE = (
    "its files lie on this machine and outside of the folder that they may lie in; set local_files "
    "of the source to allow theirs"
)


class CatalogIO(FileIO):
    """Reads files of other machines as pyiceberg does, local ones of one folder; writes none."""

    def __init__(self, properties: dict[str, str]) -> None:
        """Take the properties of catalogue and table, `FOLDER` among them."""
        super().__init__(properties)
        folder = properties.get(FOLDER)
        self._storage = FolderStorage(Path(folder)) if folder else None
        self._folder = folder or "/"
        self._remote: dict[str, FileIO] = {}

    def new_input(self, location: str) -> InputFile:
        """Return a file; raises `TableReadError` for a local one outside."""
        scheme = urlsplit(location).scheme
        if scheme not in {"", "file"}:
            return self._other(scheme, location).new_input(location)
        path = plain_address(location)
        if self._storage is None or not path.startswith("/"):
            raise TableReadError(_OUTSIDE)
        inside = os.path.relpath(path, self._folder)
        try:
            Root(Path(self._folder)).resolve(inside)
        except TableReadError as error:
            raise TableReadError(_OUTSIDE) from error
        return StoredFile(location, self._storage, inside)

    def new_output(self, location: str) -> OutputFile:
        """Refuse; raises `io.UnsupportedOperation`."""
        refuse(location)

    def delete(self, location: str | InputFile | OutputFile) -> None:
        """Refuse; raises `io.UnsupportedOperation`."""
        refuse(location)

    def _other(self, scheme: str, location: str) -> FileIO:
        if scheme not in self._remote:
            own = {name: value for name, value in self.properties.items() if name != "py-io-impl"}
            self._remote[scheme] = load_file_io(own, location)
        return self._remote[scheme]


IMPLEMENTATION = f"{CatalogIO.__module__}.{CatalogIO.__qualname__}"
"""What pyiceberg is told as `py-io-impl`."""
