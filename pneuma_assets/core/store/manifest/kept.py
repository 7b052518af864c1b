"""Reads and writes the two parts of a manifest; what cannot be read is empty and says why."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from pydantic import TypeAdapter, ValidationError

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.store.manifest.contents import (
    DescribedTable,
    DescribedTables,
    Manifest,
    TablePage,
)
from pneuma_assets.core.store.manifest.opening import place_of
from pneuma_assets.core.store.manifest.packed import NotReadableError, pack, unpack
from pneuma_assets.core.store.manifest.places import PlaceError
from pneuma_assets.core.tables import source_of

if TYPE_CHECKING:
    from pneuma_assets.core.store.manifest.places import Keeper

PAGES = "tables"
COLUMNS = "columns"
"""The names of its two parts."""

_PAGES = TypeAdapter(list[TablePage])
_DESCRIBED = TypeAdapter(list[DescribedTable])

_Read = TypeVar("_Read")


def read_manifest(loaded: LoadedDeployment, environ: Mapping[str, str]) -> Manifest:
    """Return the tables that have a page, as the last run left them; never raises.

    Which sources are hidden, and the owners that the deployment file names, are those of now.
    """
    digest, found, trouble = _read(loaded, environ, PAGES, _PAGES.validate_json)
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
