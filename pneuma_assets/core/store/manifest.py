"""What of the store is needed to define the tables in Dagster, kept where it can be read alone.

Definitions are loaded by web servers, daemons and every step's process, while runs write the store,
after an upgrade, or on a machine that has no right to write. So what they need is kept apart from
it, written by runs as one act: in a file beside a state file, in a table of a server. Reading it
opens nothing for writing, and never fails: what cannot be read is an empty manifest that says why.

It is in two parts, because definitions do not need the columns of 10,000 tables: the tables' pages
(`Manifest`), and what others may show of them (`DescribedTables`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from pydantic import TypeAdapter, ValidationError

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.store.manifest_places import PlaceError, place_of
from pneuma_assets.core.store.packed import NotReadableError, pack, unpack
from pneuma_assets.core.tables import Description, source_of

if TYPE_CHECKING:
    from pneuma_assets.core.store.manifest_places import Keeper

PAGES = "tables"
COLUMNS = "columns"
"""The names of its two parts."""


@dataclass(frozen=True, slots=True)
class TablePage:
    """What the page of a table shows before any event of it is read.

    Attributes:
        table_id: The table.
        source: The source it is in.
        key: Its asset key, parts joined by '/'.
        description: What people wrote of it; empty where nobody did.
        table_name: Its name as its own engine spells it, or a file's path.
        uri: Its address; None where its kind of source knows none.
        kinds: What keeps it, at most three.
        owners: E-mail addresses and teams ('team:x').
        problem: What keeps it from being indexed as it should; None where nothing does.
        updated_at: When its data last changed, in seconds since 1970; None where nobody knows.
        indexed: Whether it was ever made searchable.
    """

    table_id: str
    source: str
    key: str
    description: str
    table_name: str
    uri: str | None
    kinds: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    problem: str | None = None
    updated_at: float | None = None
    indexed: bool = True


@dataclass(frozen=True, slots=True)
class Manifest:
    """The tables that have a page.

    Attributes:
        tables: In the order of their ids; those of sources that are hidden are not among them.
        digest: Another one where anything of any table is another; empty where there is none.
        trouble: Why nothing could be read and what to do; None where all is well, also before the
            first run.
    """

    tables: Sequence[TablePage] = ()
    digest: str = ""
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class DescribedTable:
    """A table as others may know it, what is said of its columns, and their types, by name.

    `said` is what people said of the table itself; None where nobody did. Tables of which nothing
    at all is said are kept, too: a name counts as theirs.
    """

    table_id: str
    table_name: str
    uri: str | None
    columns: Mapping[str, Description] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    said: Description | None = None

    @property
    def is_described(self) -> bool:
        """Whether anything is said of it or of its columns."""
        return bool(self.columns or self.said)


@dataclass(frozen=True, slots=True)
class DescribedTables:
    """What is said of all tables and their columns, by table id; `trouble` as in `Manifest`."""

    tables: Mapping[str, DescribedTable] = field(default_factory=dict)
    digest: str = ""
    trouble: str | None = None


_PAGES = TypeAdapter(list[TablePage])
_DESCRIBED = TypeAdapter(list[DescribedTable])

_Read = TypeVar("_Read")


def read_manifest(loaded: LoadedDeployment, environ: Mapping[str, str]) -> Manifest:
    """Return the tables that have a page, as the last run left them; never raises.

    Owners, and which sources are hidden, are those of the deployment file as it is now.
    """
    digest, found, trouble = _read(loaded, environ, PAGES, _PAGES.validate_json)
    whose = {
        source.name: tuple(dict.fromkeys((*loaded.deployment.dagster.owners, *source.owners)))
        for source in loaded.deployment.sources
        if source.visible
    }
    tables = [
        replace(page, owners=whose[page.source]) if whose[page.source] or page.owners else page
        for page in found or ()
        if page.source in whose and page.key.startswith(f"{loaded.deployment.key_prefix}/")
    ]
    return Manifest(tables, digest, trouble)


def read_described(loaded: LoadedDeployment, environ: Mapping[str, str]) -> DescribedTables:
    """Return what is said of all tables and their columns, as the last run left it; never raises.

    Those of hidden sources are among them: others may have the pages of these.
    """
    digest, found, trouble = _read(loaded, environ, COLUMNS, _DESCRIBED.validate_json)
    named = {source.name for source in loaded.deployment.sources}
    kept = {one.table_id: one for one in found or () if source_of(one.table_id) in named}
    return DescribedTables(kept, digest, trouble)


def write_pages(keeper: "Keeper", pages: Sequence[TablePage], made_of: str) -> None:
    """Replace the tables' pages; raises `StateError`."""
    keeper.write(PAGES, pack(_PAGES.dump_json(list(pages)), made_of))


def write_described(keeper: "Keeper", described: Sequence[DescribedTable], made_of: str) -> None:
    """Replace what is said of the tables and their columns; raises `StateError`."""
    keeper.write(COLUMNS, pack(_DESCRIBED.dump_json(list(described)), made_of))


def _read(
    loaded: LoadedDeployment,
    environ: Mapping[str, str],
    part: str,
    parse: Callable[[bytes], _Read],
) -> tuple[str, _Read | None, str | None]:
    """Return the digest of one part, the part, and what hindered."""
    try:
        place = place_of(loaded, environ)
        packed = place.read(part)
        if packed is None:
            return "", None, _NEVER_WRITTEN if place.has_state() else None
        head, contents = unpack(packed)
        return head.digest, parse(contents), None
    except PlaceError as error:
        return "", None, str(error)
    except (NotReadableError, ValidationError) as error:
        why = str(error) if isinstance(error, NotReadableError) else "is damaged"
        return "", None, f"The manifest of tables {why}; {_REMEDY}"


_REMEDY = "the next run of the job, or of `pneuma-assets index`, writes it anew."
_NEVER_WRITTEN = f"There is no manifest of tables yet; {_REMEDY}"
