"""Who may read the tables of a listing, as the deployment names them."""

from dataclasses import replace

from pneuma_assets.core.access import role_of
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.sources.base import Listing
from pneuma_assets.core.tables import TableRef


def granted(listing: Listing, config: SourceConfig) -> Listing:
    """Return a listing whose readers are names of the deployment (`core.access`).

    A source's roles get its name before them; a table without grants of its own has the readers
    that the deployment file gives its source.
    """
    tables = [_granted(ref, config) for ref in listing.tables]
    return replace(listing, tables=tables)


def _granted(ref: TableRef, config: SourceConfig) -> TableRef:
    if ref.readers is not None:
        return replace(ref, readers=tuple(role_of(config.name, role) for role in ref.readers))
    return ref if config.readers is None else replace(ref, readers=config.readers)
