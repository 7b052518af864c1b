"""What of an index, and of what tables are made with, is reason for a run; no model is loaded."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.base import IndexInfo
from pneuma_assets.core.index.registry import index_credentials, inspect_index, words_wait
from pneuma_assets.core.pipeline.hiding import rules_that_changed
from pneuma_assets.core.pipeline.recipe import foreseen_recipe
from pneuma_assets.core.sources.private.rules import Rules
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import QueueCounts

EVERY_S = 600.0
"""How often an index is inspected of which nothing has changed: all of it is read then."""

_RED = "red"
_BUILT_BESIDE = "being built"
"""Under which `IndexInfo.details` tell of an index that is to take this one's place."""


@dataclass(frozen=True, slots=True)
class _Sound:
    """An inspection that found nothing: what the store said then, and how long that counts."""

    state: object
    until: float


class IndexLook:
    """Looks at one deployment's index, again only when something may have changed.

    One that was found as it should be is not read again before `EVERY_S` has passed, unless the
    store says something else of it by then.

    Args:
        loaded: The deployment.
        environ: Holds the secrets of the index.
        clock: Counts seconds.
    """

    def __init__(
        self,
        loaded: LoadedDeployment,
        environ: Mapping[str, str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._loaded = loaded
        self._environ = environ
        self._clock = clock
        self._sound: _Sound | None = None

    def reasons(self, store: Store, to_do: QueueCounts) -> list[str]:
        """Return why a run is needed; empty where none is.

        Raises:
            SearchIndexError: The index cannot be used, so that a run could only fail.
            ModelError: A configured model is not there.
            ConfigError: A variable that holds a secret is not set.
        """
        state = (to_do, store.queue.recipe(), store.problems.unlisted_sources())
        now = self._clock()
        if self._sound is not None and self._sound.state == state and now < self._sound.until:
            return []
        found = self._look(store, to_do)
        self._sound = None if found else _Sound(state, now + EVERY_S)
        return found

    def _look(self, store: Store, to_do: QueueCounts) -> list[str]:
        deployment = self._loaded.deployment
        config, home = deployment.index, self._loaded.home
        info = inspect_index(config, home, index_credentials(config, self._environ))
        if info is not None and (not info.usable or info.health == _RED):
            raise SearchIndexError(f"The search index is not usable: {info.health}")
        beside = info is not None and _BUILT_BESIDE in info.details
        found = []
        foreseen = foreseen_recipe(deployment, None if info is None or beside else info.encoder)
        if foreseen is not None and store.queue.recipe() not in (None, foreseen):
            found.append("models or options are others than those the tables were made with")
        rules = [(one.name, Rules(one.privacy)) for one in deployment.sources]
        if rules_that_changed(store, rules):
            found.append("which values are hidden has changed")
        if info is not None and words_wait(config, info):
            found.append("the words of the index are to be counted by another analyzer")
        if beside:
            if not (store.queue.pending() or store.problems.unlisted_sources()):
                found.append("an index that was built beside the old one waits to take its place")
        else:
            found += _difference(info, to_do)
        return found


def _difference(info: IndexInfo | None, to_do: QueueCounts) -> list[str]:
    held = 0 if info is None else info.tables
    if held < to_do.with_blocks:
        return [f"the index holds {held:,} of {to_do.with_blocks:,} tables"]
    if held > to_do.indexed and to_do.taken_back:
        return [f"the index holds {held:,} tables, and only {to_do.indexed:,} may be found"]
    return []
