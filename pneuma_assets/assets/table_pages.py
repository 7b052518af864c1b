"""The tables' pages in Dagster's UI: events under this deployment's own keys, and no others.

Teams share a Dagster instance. An event marks an asset as materialized whoever defined it, and
wiping a key takes everybody's history, so both happen only where the store says that this
deployment made the key and the last materialization bears its mark.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

import dagster as dg

from pneuma_assets.assets.table_events import DEPLOYMENT, asset_key, table_event
from pneuma_assets.core.progress import report
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import Table


class TablePages:
    """What one run does to the pages of tables.

    Attributes:
        others: Keys that somebody else has made, so that their tables have no page.
    """

    def __init__(
        self,
        store: Store,
        prefix: str,
        instance: dg.DagsterInstance,
        log_event: Callable[[dg.AssetMaterialization], None],
    ) -> None:
        self._store = store
        self._prefix = prefix
        self._instance = instance
        self._log_event = log_event
        self._mark = store.pages.deployment()
        self._ours = store.pages.keys()
        self.others: set[str] = set()

    def announce(self, table: Table) -> None:
        """Show a table as it is now, unless its key is somebody else's."""
        key = asset_key(self._prefix, table.table_id)
        name = f"{self._prefix}/{table.table_id}"
        if not self._may_log(key, name):
            self.others.add(name)
            return
        if name not in self._ours:
            self._store.pages.made(name, table.table_id, self._mark)
            self._ours[name] = table.table_id
        narrations = self._store.narrations.of_table(table.table_id)
        self._log_event(table_event(key, table, narrations, self._mark))

    def complete(self) -> None:
        """Give every indexed table its page: after an upgrade, or another prefix, it has none."""
        wanted = {i: f"{self._prefix}/{i}" for i in self._store.work.indexed()}
        lacking = [table_id for table_id, name in wanted.items() if name not in self._ours]
        for done, table in enumerate(self._store.work.tables(lacking), 1):
            self.announce(table)
            report("making pages", done, len(lacking))
        current = {name for name in wanted.values() if name in self._ours}
        moved = {i for i, name in wanted.items() if name in current}
        self._wipe(n for n, i in self._ours.items() if i in moved and n not in current)

    def trouble(self) -> str:
        """Return why `others` have no page, and what to do."""
        return (
            f"{len(self.others)} tables have no page, because their asset keys are somebody "
            f"else's, such as {min(self.others)}: give this deployment a dagster.key_prefix of "
            "its own, or wipe those assets if nobody needs their history."
        )

    def remove(self, table_ids: Sequence[str]) -> None:
        """Wipe the pages of tables that have left."""
        gone = set(table_ids)
        self._wipe(name for name, table_id in self._ours.items() if table_id in gone)

    def _wipe(self, names: Iterable[str]) -> None:
        names = list(names)
        keys = [dg.AssetKey(name.split("/")) for name in names]
        own = [key for key in keys if key in self._existing and self._bears_our_mark(key)]
        if own:
            self._instance.wipe_assets(own)
        self._store.pages.forget(names)
        for name in names:
            del self._ours[name]

    def _may_log(self, key: dg.AssetKey, name: str) -> bool:
        if key not in self._existing:
            return True
        return name in self._ours and self._bears_our_mark(key)

    @cached_property
    def _existing(self) -> set[dg.AssetKey]:
        """The keys that had a history when the run first asked, all of them by one query."""
        return set(self._instance.get_asset_keys())

    def _bears_our_mark(self, key: dg.AssetKey) -> bool:
        event = self._instance.get_latest_materialization_event(key)
        made = event.asset_materialization if event is not None else None
        found: Mapping[str, dg.MetadataValue] = made.metadata if made is not None else {}
        mark = found.get(DEPLOYMENT)
        return mark is not None and mark.value == self._mark
