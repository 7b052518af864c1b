"""What of the store is needed to define the tables in Dagster, kept where it can be read alone.

Definitions are loaded by many processes, also by some that may not write. So what they need is kept
apart, written by runs as one act: in a file beside a state file, in a table of a server. Reading it
never fails: what cannot be read is an empty manifest that says why.

It has two parts, because definitions do not need the columns of 10,000 tables: the tables' pages
(`Manifest`), and what others may show of them (`DescribedTables`). A part is a line that names what
it was made of, then the part, compressed. It may be another version's or damaged, and is bounded.
"""

import uuid
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter
from sqlalchemy import func, select

from pneuma_assets.core.atomic_write import replace_file
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import ConfigError, StateError
from pneuma_assets.core.store.database import StorePart
from pneuma_assets.core.store.postgresql_database import PostgreSQLDatabase, server_of
from pneuma_assets.core.store.schema import manifests, upsert
from pneuma_assets.core.store.user_edits_journal import write_errors
from pneuma_assets.core.tables import Description, source_of

MAX_UNPACKED = 512 << 20
"""Bytes; a manifest of 100,000 tables takes a tenth of them."""

PAGES = "tables"
COLUMNS = "columns"
"""The names of its two parts."""

_REMEDY = "the next run of the job, or of `pneuma-assets index`, writes it anew."
_NEVER_WRITTEN = f"There is no manifest of tables yet; {_REMEDY}"
_NOT_READABLE = (
    f"The manifest of tables is damaged, or another version of pneuma-assets wrote it; {_REMEDY}"
)


@dataclass(frozen=True, slots=True)
class TablePage:
    """What the page of a table shows before any event of it is read.

    Asset keys are written with their parts joined by '/'.
    """

    table_id: str
    source: str
    key: str
    """Its asset key."""
    description: str
    """What people wrote of it; empty where nobody did."""
    table_name: str
    """Its name as its own engine spells it, or a file's path."""
    uri: str | None
    """Its address; None where its kind of source knows none."""
    kinds: tuple[str, ...] = ()
    """What keeps it, at most three."""
    owners: tuple[str, ...] = ()
    """E-mail addresses, teams ('team:x'), and whom else others name."""
    problem: str | None = None
    """What keeps it from being indexed as it should."""
    updated_at: float | None = None
    """When its data last changed, in seconds since 1970; None where nobody knows."""
    indexed: bool = True
    """Whether it was ever made searchable."""
    deps: tuple[str, ...] = ()
    """The asset keys of the tables that it is built from."""
    joins: tuple[str, ...] = ()
    """How it can be joined with other tables that have a page, in Markdown, the surest first."""
    tags: tuple[str, ...] = ()
    """Words that others sorted it by, or `name=value`."""
    assets: tuple[str, ...] = ()
    """The keys of others' assets that are this table."""
    facts: tuple[str, ...] = ()
    """What else others say of it: what reads it, what is checked of it."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The tables that have a page, by id; `trouble`: why nothing could be read and what to do."""

    tables: Sequence[TablePage] = ()
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class DescribedTable:
    """A table as others may know it, what is said of its columns, and their types, by name.

    `said` is what people said of the table itself. Tables of which nothing is said count, too.
    """

    table_id: str
    table_name: str
    uri: str | None
    columns: Mapping[str, Description] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    said: Description | None = None


@dataclass(frozen=True, slots=True)
class DescribedTables:
    """What is said of all tables and their columns, by table id; `trouble` as in `Manifest`."""

    tables: Mapping[str, DescribedTable] = field(default_factory=dict)
    trouble: str | None = None


_PAGES = TypeAdapter(list[TablePage])
_DESCRIBED = TypeAdapter(list[DescribedTable])

_Read = TypeVar("_Read")


MAX_PACKED = 64 << 20
"""Bytes; a manifest of 100,000 tables takes a tenth of them."""

PATIENCE_S = 3.0
"""A web server loads definitions meanwhile; a lock or a server that is away is waited for once."""

_STATE_FILE = "state.db"


class Folder:
    """A folder of this machine, a file a name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str) -> bytes | None:
        """Return the first bytes of the file, None if there is no file."""
        path = self._path(name)
        try:
            with path.open("rb") as file:
                return file.read(MAX_PACKED)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StateError(
                f"The manifest of tables {str(path)!r} cannot be read ({error.strerror}); let this "
                "user read it."
            ) from error

    def write(self, name: str, packed: bytes) -> None:
        """Replace the file as one act; of several who do so at once, one is the last."""
        path = self._path(name)
        fresh = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
        with write_errors(path, "The manifest of tables"):
            replace_file(path, packed, fresh)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.manifest"


class Server(StorePart):
    """A table of the state's server."""

    def read(self, name: str) -> bytes | None:
        """Return the first bytes of what is kept, None if nothing is."""
        first = select(func.substring(manifests.c.packed, 1, MAX_PACKED))
        found = self._db.read(first.where(manifests.c.name == name))
        return bytes(found[0][0]) if found else None

    def write(self, name: str, packed: bytes) -> None:
        """Replace what is kept."""
        with self._db.write() as connection:
            upsert(connection, manifests, [{"name": name, "packed": packed}])


Place = Folder | Server
"""Keeps the parts of a manifest by their names; either way raises `StateError`."""


def read_part(
    loaded: LoadedDeployment, environ: Mapping[str, str], name: str
) -> tuple[bytes | None, bool]:
    """Return one part of a deployment's manifest, and whether there is a state; writes nothing.

    Raises:
        ConfigError: The password's variable is not set.
        StateError: It cannot be read.
    """
    server = server_of(loaded.deployment.state, environ)
    if server is None:
        return Folder(loaded.home).read(name), (loaded.home / _STATE_FILE).exists()
    with PostgreSQLDatabase(server, reads_within_s=PATIENCE_S) as database:
        made = database.is_made()
        return Server(database).read(name) if made else None, made


def read_manifest(loaded: LoadedDeployment, environ: Mapping[str, str]) -> Manifest:
    """Return the tables that have a page, as the last run left them; never raises."""
    found, trouble = _read(loaded, environ, PAGES, _PAGES.validate_json)
    whose = {
        source.name: tuple(dict.fromkeys((*loaded.deployment.dagster.owners, *source.owners)))
        for source in loaded.deployment.sources
        if source.visible
    }
    tables = [
        replace(page, owners=tuple(dict.fromkeys((*whose[page.source], *page.owners))))
        for page in found or ()
        if page.source in whose and page.key.startswith(f"{loaded.deployment.key_prefix}/")
    ]
    return Manifest(tables, trouble)


def read_described(loaded: LoadedDeployment, environ: Mapping[str, str]) -> DescribedTables:
    """Return what is said of all tables, also of hidden sources, by the last run; never raises."""
    found, trouble = _read(loaded, environ, COLUMNS, _DESCRIBED.validate_json)
    named = {source.name for source in loaded.deployment.sources}
    kept = {one.table_id: one for one in found or () if source_of(one.table_id) in named}
    return DescribedTables(kept, trouble)


def write_pages(place: Place, pages: Sequence[TablePage], made_of: str) -> None:
    """Replace the tables' pages; raises `StateError`."""
    place.write(PAGES, _packed(_PAGES.dump_json(list(pages)), made_of))


def write_described(place: Place, described: Sequence[DescribedTable], made_of: str) -> None:
    """Replace what is said of the tables and their columns; raises `StateError`."""
    place.write(COLUMNS, _packed(_DESCRIBED.dump_json(list(described)), made_of))


def made_of(place: Place) -> str | None:
    """Return what both parts were made of; None if not of the same, or damaged.

    Raises `StateError`.
    """
    packed = [place.read(name) or b"" for name in (PAGES, COLUMNS)]
    try:
        (made,) = {one.partition(b"\n")[0] for one in packed if _unpacked(one)}
    except ValueError:
        return None
    return made.decode(errors="replace")


def _read(
    loaded: LoadedDeployment, environ: Mapping[str, str], part: str, parse: Callable[[bytes], _Read]
) -> tuple[_Read | None, str | None]:
    """Return one part, and what hindered."""
    try:
        packed, has_state = read_part(loaded, environ, part)
        if packed is None:
            return None, _NEVER_WRITTEN if has_state else None
        return parse(_unpacked(packed)), None
    except (ConfigError, StateError) as error:
        return None, str(error)
    except ValueError:
        return None, _NOT_READABLE


def _packed(contents: bytes, made_of: str) -> bytes:
    return made_of.encode() + b"\n" + zlib.compress(contents, 3)


def _unpacked(packed: bytes) -> bytes:
    """Return the contents; raises `ValueError` unless they are as written: zlib sums them up."""
    reading = zlib.decompressobj()
    try:
        contents = reading.decompress(packed.partition(b"\n")[2], MAX_UNPACKED)
    except zlib.error as error:
        raise ValueError("not as it was packed") from error
    if not reading.eof:
        raise ValueError("there is more, or too little")
    return contents
