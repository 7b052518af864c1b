"""The tables' pages in Dagster's UI: events under this deployment's own keys, and no others.

Teams share a Dagster instance. An event marks an asset as materialized whoever defined it, and
wiping a key takes everybody's history, so both happen only where the store says that this
deployment made the key and the last materialization bears its mark. An asset that somebody has
defined and never materialized cannot be told from none by any public call: against that, only a
prefix of its own protects, which is why there is one by default.
"""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import dagster as dg

from pneuma_assets.assets.table_events import DEPLOYMENT, UPDATED, asset_key, table_event
from pneuma_assets.assets.table_problems import problem_event
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.progress import report
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.asset_keys import PublishedPage
from pneuma_assets.core.store.manifest_write import address_of, problems_by_table
from pneuma_assets.core.store.tables import TableRecord, TableState
from pneuma_assets.core.tables import DocumentKind, Table, source_of
from pneuma_assets.resources.names import may_be_a_stage


class TablePages:
    """What one run does to the pages of tables.

    Attributes:
        others: Keys that somebody else has made, or may yet make as those of stages, so that their
            tables have no page.
    """

    def __init__(
        self,
        store: Store,
        deployment: Deployment,
        instance: dg.DagsterInstance,
        log_event: Callable[[dg.AssetMaterialization], None],
    ) -> None:
        self._store = store
        self._prefix = deployment.key_prefix
        self._sources = {one.name: one for one in deployment.sources if one.visible}
        self._shows_rows = deployment.dagster.show_rows
        self._instance = instance
        self._log_event = log_event
        self._mark = store.asset_keys.deployment()
        self._told = store.asset_keys.published()
        self._announced = -math.inf
        self._shown: set[str] = set()
        self.others: set[str] = set()

    def announce(self, table: Table) -> None:
        """Show a table as it is now, unless its key is somebody else's or its source is hidden."""
        if source_of(table.table_id) not in self._sources or not self._owned(table.table_id):
            return
        record = self._store.tables.record(table.table_id)
        if record is None:
            return
        self._note(replace(self._before(table.table_id), updated_at=record.updated_at))
        self._announced = time.monotonic()
        self._shown.add(table.table_id)
        key = asset_key(self._prefix, table.table_id)
        self._log_event(
            table_event(
                key,
                table,
                self._store.narrations.of_table(table.table_id),
                self._mark,
                address_of(self._sources[record.source], record),
                self._first_seen(key) if record.updated_at is None else record.updated_at,
                self._rows(table.table_id),
                self._store.profiles.changes([table.table_id]).get(table.table_id),
                self._lineage(table.table_id),
            )
        )

    def _lineage(self, table_id: str) -> dict[str, list[tuple[dg.AssetKey, str]]]:
        """Return where the columns of a table come from: from tables that have a page."""
        found: dict[str, list[tuple[dg.AssetKey, str]]] = {}
        for edge in self._store.edges.of_tables([table_id]):
            shown = source_of(edge.upstream) in self._sources and edge.upstream != table_id
            if edge.derives and edge.downstream == table_id and shown:
                key = asset_key(self._prefix, edge.upstream)
                for column, own in edge.columns:
                    found.setdefault(own, []).append((key, column))
        return found

    def _rows(self, table_id: str) -> list[str]:
        """Return the sampled rows of a table where they are to be shown, as they are searched."""
        if not self._shows_rows:
            return []
        documents = self._store.documents.of_table(table_id)
        return [one.text for one in documents if one.kind == DocumentKind.ROWS]

    def complete(self) -> None:
        """Give every table the page it should have, and wipe those that should not be.

        Under another prefix, or in another Dagster instance, a table has none;
        data that was written again need not be news to the index; a problem is told of, and that it
        is solved.
        """
        records = [r for r in self._store.tables.records() if r.source in self._sources]
        lagging = [r.table_id for r in records if self._lags(r)]
        for done, table in enumerate(self._store.tables.profiles(lagging), 1):
            self.announce(table)
            report("making pages", done, len(lagging))
        self._tell_problems(records)
        current = {self._name(r.table_id) for r in records} & self._told.keys()
        moved = {self._told[name].table_id for name in current}
        self._wipe(
            name
            for name, told in self._told.items()
            if name not in current
            and (told.table_id in moved or source_of(told.table_id) not in self._sources)
        )

    def trouble(self) -> str:
        """Return why `others` have no page, and what to do."""
        return (
            f"{len(self.others)} tables have no page, because their asset keys are somebody "
            f"else's, or end like a stage's, such as {min(self.others)}: give this deployment a "
            "dagster.key_prefix of its own, call the table otherwise, or wipe those assets if "
            "nobody needs their history."
        )

    def remove(self, table_ids: Sequence[str]) -> None:
        """Wipe the pages of tables that have left."""
        gone = set(table_ids)
        self._wipe(name for name, told in self._told.items() if told.table_id in gone)

    def _tell_problems(self, records: Iterable[TableRecord]) -> None:
        problems = problems_by_table(self._store.problems.all())
        for record in records:
            before, problem = self._before(record.table_id), problems.get(record.table_id)
            if problem == before.problem or not self._owned(record.table_id):
                continue
            self._note(replace(before, problem=problem))
            self._let_a_second_pass()
            failed = record.state == TableState.FAILED
            self._instance.report_runless_asset_event(
                problem_event(asset_key(self._prefix, record.table_id), problem, failed=failed)
            )

    def _let_a_second_pass(self) -> None:
        """Dagster holds a check of the second of a materialization for one of an earlier state."""
        time.sleep(max(0.0, self._announced + 1.1 - time.monotonic()))

    def _name(self, table_id: str) -> str:
        return f"{self._prefix}/{table_id}"

    def _lags(self, record: TableRecord) -> bool:
        told = self._told.get(self._name(record.table_id))
        if record.indexed_at is None or told is None:
            return record.indexed_at is not None
        # What waits, or cannot be read, is shown as it was when it was indexed.
        return record.state == TableState.INDEXED and (
            told.updated_at != record.updated_at
            or (
                record.table_id not in self._shown
                and asset_key(self._prefix, record.table_id) not in self._existing
            )
        )

    def _owned(self, table_id: str) -> bool:
        """Tell whether events may be logged of a table, and remember those that may not."""
        name = self._name(table_id)
        taken = name in self.others or may_be_a_stage(table_id)
        if taken or not self._may_log(asset_key(self._prefix, table_id), name):
            self.others.add(name)
            return False
        return True

    def _before(self, table_id: str) -> PublishedPage:
        return self._told.get(self._name(table_id), PublishedPage(table_id))

    def _note(self, now: PublishedPage) -> None:
        """Remember what Dagster is told, before it is told."""
        name = self._name(now.table_id)
        if self._told.get(name) != now:
            self._store.asset_keys.record(
                name, now.table_id, self._mark, updated_at=now.updated_at, problem=now.problem
            )
            self._told[name] = now

    def _wipe(self, names: Iterable[str]) -> None:
        names = list(names)
        keys = [dg.AssetKey(name.split("/")) for name in names]
        own = [key for key in keys if key in self._existing and self._bears_our_mark(key)]
        if own:
            self._instance.wipe_assets(own)
            self._existing.difference_update(own)
        self._store.asset_keys.forget(names)
        for name in names:
            del self._told[name]

    def _may_log(self, key: dg.AssetKey, name: str) -> bool:
        if key not in self._existing:
            return True
        return name in self._told and self._bears_our_mark(key)

    @cached_property
    def _existing(self) -> set[dg.AssetKey]:
        """The keys that had a history when the run first asked, all of them by one query."""
        return set(self._instance.get_asset_keys())

    def _bears_our_mark(self, key: dg.AssetKey) -> bool:
        mark = self._shown_last(key).get(DEPLOYMENT)
        return mark is not None and mark.value == self._mark

    def _first_seen(self, key: dg.AssetKey) -> float:
        """Return when a table was first told of that was never seen to change, which may be now."""
        told = self._shown_last(key).get(UPDATED) if key in self._existing else None
        return told.value if isinstance(told, dg.TimestampMetadataValue) else self._store.now()

    def _shown_last(self, key: dg.AssetKey) -> Mapping[str, dg.MetadataValue]:
        event = self._instance.get_latest_materialization_event(key)
        made = event.asset_materialization if event is not None else None
        return made.metadata if made is not None else {}
