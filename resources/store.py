"""The project's own state, as a Dagster resource."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

import dagster as dg
from pydantic import PrivateAttr

from pneuma_assets.core.config.owner import check_unowned, note_owner
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.service.state import open_store
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.dagster_manifest_write import refresh_manifest
from pneuma_assets.resources.deployment import DeploymentPart
from pneuma_assets.resources.names import Names


class StoreResource(DeploymentPart):
    """Work list, narrations and documents; open, and marked as alive, while a run lasts."""

    _store: Store | None = PrivateAttr(default=None)

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Self]:
        """Open the store and hold a lock, so that the run's claims count as living."""
        run_id = context.run.run_id if context.run else f"process-{os.getpid()}"
        loaded = self.loaded
        check_unowned(loaded)
        with open_store(loaded, os.environ) as store, store.runs.alive(run_id):
            note_owner(loaded, Names.of(loaded.deployment)("index_tables"))
            self._store = store
            refresh_manifest(store, loaded.deployment)
            try:
                yield self
            finally:
                self._store = None

    @property
    def store(self) -> Store:
        """The open store; raises `StateError` outside a run."""
        if self._store is None:
            raise StateError("The store is not open; enter the resource first.")
        return self._store
