"""Which index a run writes: the one there is or one built beside it; whose it is; who sees it."""

from collections.abc import Collection, Mapping
from typing import Protocol

from pneuma_assets.core.errors import (
    IndexBusyError,
    IndexDamagedError,
    IndexMismatchError,
    SearchIndexError,
)
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.index.identity import OtherIdentityError
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.tables import TableState
from pneuma_assets.core.tables import source_of


class IndexBuild(Protocol):
    """Where a deployment keeps its index, and where one is built to take its place."""

    @property
    def building(self) -> SearchIndex:
        """What a run writes: the index that is searched, or the one built beside it."""
        ...

    @property
    def begins_by_itself(self) -> bool:
        """Whether another encoder is reason enough to begin anew; else somebody must say so."""
        ...

    def begin_anew(self) -> None:
        """Let `building` be an empty index, whatever encoder or state the old one has."""
        ...

    def publish(self, build: str) -> bool:
        """Let readers see what this run built beside the old index, by the name of its build.

        False if it is not there: nothing was built, or another run has begun something else there.
        """
        ...


def rebuild_if_unusable(site: IndexBuild) -> bool:
    """Begin anew if the index is damaged, being copied, or another encoder's; tells if it did."""
    try:
        info = site.building.info()
        if info.usable and sum(site.building.list_tables().values()) == info.blocks:
            return False
    except (IndexMismatchError, IndexDamagedError, IndexBusyError):
        pass  # begun anew below
    site.begin_anew()
    return True


def rebuild_if_outdated(site: IndexBuild) -> bool:
    """Begin anew if another encoder is configured than built the index; tells whether it did.

    Only where that is the site's own affair. Of damage somebody should hear first.
    """
    try:
        _ = site.building
    except OtherIdentityError:
        if not site.begins_by_itself:
            raise
        site.begin_anew()
        return True
    return False


def trusted_tables(store: Store, index: SearchIndex, configured: Collection[str]) -> dict[str, int]:
    """Return the tables in an index that is sound and this deployment's own, by number of blocks.

    Raises:
        SearchIndexError: It is damaged, or another deployment's.
    """
    info = index.info()
    if not info.usable:
        raise IndexDamagedError(info.health)
    tables = index.list_tables()
    check_owner(store, tables, configured)
    return tables


def check_owner(store: Store, indexed: Mapping[str, int], configured: Collection[str]) -> None:
    """Raise `SearchIndexError` where an index has tables of sources that are none of ours.

    Two deployments that share an index by mistake would remove each other's tables for ever.
    """
    known = store.tables.known()
    strange = {source_of(i) for i in indexed if i not in known} - set(configured)
    if strange:
        raise SearchIndexError(
            f"The search index holds tables of {', '.join(sorted(strange)[:5])}, which this "
            "deployment does not know: another one uses the same index. Give each its own "
            "index.elasticsearch.name; or, to remove those tables, run "
            "'pneuma-assets index --rebuild'."
        )


def publish_if_complete(store: Store, site: IndexBuild) -> bool:
    """Let readers see an index that was built beside the old one, once it lacks nothing.

    It lacks something while a table waits, a source cannot be listed, or a run with another encoder
    has finished a table meanwhile. Returns whether readers see another index now.
    """
    if store.queue.pending() or store.problems.unlisted_sources():
        return False
    index = site.building
    build, held = index.build, index.list_tables()
    there = (r for r in store.tables.records() if r.state == TableState.INDEXED)
    complete = all(held.get(r.table_id, 0) == (r.block_count or 0) for r in there)
    return complete and site.publish(build)
