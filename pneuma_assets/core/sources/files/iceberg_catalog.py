"""The tables of an Iceberg catalogue, each as its current snapshot has it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pneuma_assets.core.errors import SourceError, TableReadError
from pneuma_assets.core.sources.base import NONE_KNOWN, KnownIds, Listing
from pneuma_assets.core.sources.files.arrow import ArrowTable
from pneuma_assets.core.sources.files.iceberg import arrow_table, explained
from pneuma_assets.core.sources.files.source import InMemorySource
from pneuma_assets.core.sources.files.staging import reading
from pneuma_assets.core.sources.filters import no_match_error
from pneuma_assets.core.sources.names import escape, escape_segment, unescape
from pneuma_assets.core.tables import Problem, TableRef, content_hash

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog


Identifier = tuple[str, ...]

_AT_ONCE = 8
"""Tables whose metadata is asked for at once while listing."""


class IcebergCatalogSource(InMemorySource):
    """One catalogue; ids are `source/namespace/table`, with a part for each level of namespaces.

    A table's version is its current snapshot and its metadata file, which every commit writes anew.
    Listing asks the catalogue for each table once, `_AT_ONCE` at a time.
    """

    def __init__(
        self,
        name: str,
        connect: Callable[[], "Catalog"],
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> None:
        """Take patterns of `namespace.table`, with `*` and `?`; to include none means all."""
        self.name = name
        self._connect = connect
        self._include, self._exclude = include, exclude

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
                included = [t for t in there if not self._include or _matches(t, self._include)]
                wanted = sorted(t for t in included if not _matches(t, self._exclude))
                if there and not wanted:
                    key, given = "include", self._include
                    if included:
                        key, given = "exclude", self._exclude
                    raise no_match_error(self.name, key, given, [".".join(t) for t in there])
                with ThreadPoolExecutor(_AT_ONCE) as pool:
                    found = list(pool.map(self._reference, wanted))
        except (TableReadError, OSError) as error:
            raise SourceError(
                f"the catalogue of {self.name} cannot be listed: {error}; check uri, warehouse "
                "and the environment variables that hold its secrets"
            ) from error
        problems = [one for one in found if isinstance(one, Problem)]
        tables = [one for one in found if isinstance(one, TableRef)]
        if problems and not tables:
            raise SourceError(
                f"no table of the catalogue of {self.name} can be loaded, {problems[0].subject} "
                f"because {problems[0].cause}; check that its warehouse can be reached"
            )
        return Listing(tables, problems, [problem.subject for problem in problems])

    def close(self) -> None:
        """Let go of the catalogue and the database in memory; used again, they are opened anew."""
        super().close()
        catalog = self.__dict__.pop("_catalog", None)
        if catalog is not None:
            catalog.close()

    def _reference(self, identifier: Identifier) -> TableRef | Problem:
        table_id = "/".join([self.name, *map(escape_segment, identifier)])
        try:
            with explained():
                table = self._catalog.load_table(identifier)
                snapshot = table.current_snapshot()
                snapshot_id = str(snapshot.snapshot_id if snapshot else "")
                return TableRef(
                    table_id=table_id,
                    source=self.name,
                    location=escape(f"{table.location()}#{'.'.join(identifier)}"),
                    format="iceberg",
                    version=content_hash(snapshot_id, table.metadata_location),
                    updated_at=snapshot.timestamp_ms / 1000 if snapshot else None,
                    identity=str(table.metadata.table_uuid),
                )
        except (TableReadError, OSError) as error:
            return Problem(table_id, "listing", f"it cannot be loaded: {error}")

    @contextmanager
    def opened(self, ref: TableRef) -> Iterator[ArrowTable]:
        """Open a table for one call; explain in one line what goes wrong."""
        with reading(self.database, ref) as (connection, _):
            with explained():
                identifier = tuple(map(unescape, ref.table_id.split("/")[1:]))
                table = self._catalog.load_table(identifier)
            yield arrow_table(connection, table)


def _matches(identifier: Identifier, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(".".join(identifier), pattern) for pattern in patterns)


def connect(name: str, properties: Mapping[str, str], local_files: Path | None = None) -> "Catalog":
    """Return a catalogue that lets no table name a Python class that reads it, nor any local file.

    Properties of tables are written by whoever writes tables, and pyiceberg mixes them with those
    of the catalogue. Of a REST catalogue they bring the keys to a table's files. `local_files` is
    the only folder of this machine in which files of tables are read.
    """
    from pyiceberg.catalog import load_catalog
    from pyiceberg.io import FileIO, load_file_io

    from pneuma_assets.core.sources.files.iceberg_io import FOLDER, IMPLEMENTATION

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
