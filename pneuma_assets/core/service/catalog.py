"""The catalogue of a deployment in memory, as new as the state, for any number of threads."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.service.catalog_snapshot import NOTHING, Read, Snapshot, text_version

if TYPE_CHECKING:
    from pneuma_assets.core.store import Store

logger = logging.getLogger(__name__)

LOOKED_AT_S = 1.0
"""So often at most is looked whether the state changed."""

OLDEST_S = 4.0
"""What is older than that is not shown: whoever asks waits for what is new."""

_BUSY_SHARE = 5
"""While the state changes all the time, it is read for a fifth of the time at most."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A snapshot, what the state was like then, and the time until which it was so."""

    snapshot: Snapshot
    mark: object
    at: float
    took_s: float


class Catalog:
    """Reads all tables when first asked, and again where the state changed since.

    While one thread reads, the others go on with what there was, `OLDEST_S` long.

    Args:
        use_store: Returns the state, open within the block; None where there is none.
        deployment: Says who owns what.
    """

    def __init__(
        self,
        use_store: "Callable[[], AbstractContextManager[Store | None]]",
        deployment: Deployment,
    ) -> None:
        self._use_store = use_store
        self._owners = owners_of_sources(deployment)
        self._lock = threading.Lock()
        self._kept: _Kept | None = None

    def current(self) -> Snapshot:
        """Return all tables as they are, or were a few seconds ago.

        Raises:
            StateError: The state cannot be read.
        """
        kept = self._kept
        age = float("inf") if kept is None else time.monotonic() - kept.at
        if kept is not None and age < max(LOOKED_AT_S, min(3.0, _BUSY_SHARE * kept.took_s)):
            return kept.snapshot
        if kept is not None and age < OLDEST_S:
            self._begin_refresh()
            return kept.snapshot
        with self._lock:
            if self._kept is kept:
                self._refresh()
        return self._kept.snapshot if self._kept is not None else self.current()

    def _begin_refresh(self) -> None:
        """Let another thread look at the state, unless one does."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            threading.Thread(target=self._refresh_behind, daemon=True).start()
        except RuntimeError:  # no thread is to be had now: the next who asks begins one
            self._lock.release()

    def _refresh_behind(self) -> None:
        try:
            self._refresh()
        except PneumaError as error:  # told to whoever asks when what there is has become too old
            logger.debug("the catalogue is as it was: %s", error)
        finally:
            self._lock.release()

    def _refresh(self) -> None:
        kept = self._kept
        at = time.monotonic()
        with self._use_store() as store:
            mark = None if store is None else (store, store.catalog.mark())
            if kept is not None and kept.mark == mark:
                self._kept = _Kept(kept.snapshot, mark, at, kept.took_s)
                return
            before = None if kept is None else kept.snapshot
            read = NOTHING if store is None else read_all(store, before)
        if before is None or before.read != read:  # what is written often is nothing of this
            before = Snapshot(read, self._owners, before)
        self._kept = _Kept(before, mark, at, time.monotonic() - at)


def read_all(store: "Store", before: Snapshot | None) -> Read:
    """Return what the state says of all tables; of those that are as they were, the same texts."""
    known = {} if before is None else before.read.texts
    facts = store.catalog
    listed = store.tables.records()
    texts = {
        one.table_id: known[one.table_id]
        for one in listed
        if one.table_id in known and known[one.table_id][0] == text_version(one)
    }
    new = {one.table_id: one for one in listed if one.table_id not in texts}
    found = facts.texts({table_id: one.comment for table_id, one in new.items()})
    texts |= {table_id: (text_version(new[table_id]), one) for table_id, one in found.items()}
    lineage = facts.lineage(None if before is None else before.read.lineage)
    answers = store.usage.answers()
    return Read(listed, facts.corrected(), lineage, texts, answers)


def owners_of_sources(deployment: Deployment) -> Mapping[str, tuple[str, ...]]:
    """Return who owns all tables of each source, by the deployment file."""
    of_all = deployment.dagster.owners
    return {one.name: (*one.owners, *of_all) for one in deployment.sources}
