"""Which table is meant by what it is called where it is kept: a full name, a path, a URI."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from pneuma_assets.core.config.load import LoadedDeployment

if TYPE_CHECKING:
    from pneuma_assets.core.store.tables import TableRecord


class Addresses:
    """What tables are called outside this project (`SourceConfig.address_of`).

    Args:
        loaded: The deployment, whose sources say how their tables are called.
        records: The tables that are known.
    """

    def __init__(self, loaded: LoadedDeployment, records: "Sequence[TableRecord]") -> None:
        base = loaded.base
        self._configs = {one.name: one.resolved(base) for one in loaded.deployment.sources}
        self._records = records

    def tables(self, address: str) -> Collection[str]:
        """Return the tables of this name or URI, in any case of letters where none has its own.

        A file or object below the folder of a table stands for that table.
        """
        for place in _self_and_above(address):
            found = self._exact.get(place) or self._exact.get(f"{place}/")
            if found:
                return found
        return self._folded.get(address.casefold(), ())

    def source(self, address: str) -> str | None:
        """Return the source that a table at this address would be in; None: none of them."""
        for name, config in self._configs.items():
            if config.holds(address):
                return name
        return None

    @cached_property
    def _exact(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for record in self._records:
            config = self._configs.get(record.source)
            if config is None:
                continue
            address = config.address_of(record.table_id, record.location, record.format)
            for one in {address.name, address.uri, record.location} - {None, ""}:
                found[str(one)].append(record.table_id)
        return dict(found)

    @cached_property
    def _folded(self) -> dict[str, list[str]]:
        folded: dict[str, list[str]] = {}
        for address, ids in self._exact.items():
            folded.setdefault(address.casefold(), []).extend(ids)
        return {address: ids for address, ids in folded.items() if len(set(ids)) == 1}


def _self_and_above(address: str) -> list[str]:
    """Return an address, and the folders that it lies in, the nearest first."""
    places, place = [address], address.rstrip("/")
    while "/" in place and not place.endswith(("/", ":")):
        places.append(place)
        place = place.rpartition("/")[0]
    return places
