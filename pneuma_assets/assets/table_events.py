"""The tables' pages in Dagster's UI: events under this deployment's own keys, and no others.

Teams share a Dagster instance. An event marks an asset as materialized whoever defined it, and
wiping a key takes everybody's history, so both happen only where the store says that this
deployment made the key and the last materialization bears its mark. An asset that somebody has
defined and never materialized cannot be told from none by any public call: against that, only a
prefix of its own protects, which is why there is one by default.
"""

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import dagster as dg

from pneuma_assets.assets.foreign_assets import attributed
from pneuma_assets.assets.report import DEPLOYMENT, latest_metadata
from pneuma_assets.core.changes.changed_share import Change
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.sources import TableAddress
from pneuma_assets.core.describe.columns import fact_descriptions
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.progress import report
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.asset_keys import PublishedPage
from pneuma_assets.core.store.dagster_manifest import TablePage
from pneuma_assets.core.store.dagster_manifest_write import address_of, problems_by_table
from pneuma_assets.core.store.tables import TableRecord, TableState
from pneuma_assets.core.tables import (
    Column,
    Description,
    DocumentKind,
    Provenance,
    Table,
    source_of,
)
from pneuma_assets.core.text.safe import plain_in_markdown
from pneuma_assets.resources.names import Names, bind_resources, may_be_a_stage
from pneuma_assets.resources.store import StoreResource

CHECK = "has_no_problem"

MOST_CHECKED = 500
"""Tables with a check; the others say so in their description, and all are on the index's check."""


def problem_checks(
    pages: Sequence[TablePage], deployment: Deployment
) -> list[dg.AssetChecksDefinition]:
    """Return a check a table that has a problem, all of them in one step; none where none has.

    Dagster names the step's inputs after the keys, by letters, digits and '_' alone: a key that
    does not fit, or becomes what another does, would keep the code location from loading.
    """
    times = Counter(_folded(page.key) for page in pages)
    ill = {
        page.key: page.table_id
        for page in pages
        if page.problem is not None and times[_folded(page.key)] == 1 and _fits(page.key)
    }
    shown = dict(list(ill.items())[:MOST_CHECKED])
    if not shown:
        return []
    names = Names.of(deployment)
    specs = [
        dg.AssetCheckSpec(
            CHECK,
            asset=dg.AssetKey(key.split("/")),
            description="Whether anything keeps this table from being indexed as it should be.",
        )
        for key in shown
    ]

    def tables_have_no_problem(
        context: dg.AssetCheckExecutionContext, pneuma_store: StoreResource
    ) -> Iterator[dg.AssetCheckResult]:
        store = pneuma_store.store
        problems = problems_by_table(store.problems.all())
        for one in context.selected_asset_check_keys:
            table_id = shown["/".join(one.asset_key.path)]
            problem, record = problems.get(table_id), store.tables.record(table_id)
            failed = record is not None and record.state == TableState.FAILED
            yield dg.AssetCheckResult(asset_key=one.asset_key, **check_outcome(problem, failed))

    check = dg.multi_asset_check(name=names("tables_have_no_problem"), specs=specs, can_subset=True)
    return [check(bind_resources(tables_have_no_problem, names))]


def check_outcome(problem: str | None, failed: bool) -> dict[str, Any]:
    """Return how the check of a table with a problem (None: without) comes out.

    It has `failed` where that keeps it from being indexed, and not only from being whole.
    """
    return {
        "check_name": CHECK,
        "passed": problem is None,
        "severity": dg.AssetCheckSeverity.ERROR if failed else dg.AssetCheckSeverity.WARN,
        "description": None if problem is None else plain_in_markdown(problem),
    }


def _fits(key: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9_./-]+", key) is not None


def _folded(key: str) -> str:
    """Return what two keys have in common that Dagster may make one name of."""
    return re.sub(r"[_./-]+", "_", key)


CHUNK = 64
"""Tables whose pages are made at a time."""

MAX_COLUMNS_SHOWN = 500
"""Columns of a table's page; an event with thousands of them is slow to store and to read."""

MAX_ROWS_SHOWN, MAX_ROW_SHOWN = 5, 500
"""Rows of a table's page, and characters of each."""

UPDATED = "dagster/last_updated_timestamp"
"""Dagster's freshness checks go by it, and not by when the event was logged."""


def asset_key(prefix: str, table_id: str) -> dg.AssetKey:
    """Return the asset key of a table: the deployment's prefix and the table's id, a part each."""
    return dg.AssetKey(f"{prefix}/{table_id}".split("/"))


def table_event(
    key: dg.AssetKey,
    table: Table,
    narrations: Mapping[str, Description],
    deployment: str,
    address: TableAddress,
    updated_at: float | None,
    rows: Sequence[str] = (),
    change: Change | None = None,
    lineage: Mapping[str, Sequence[tuple[dg.AssetKey, str]]] | None = None,
) -> dg.AssetMaterialization:
    """Return what the UI shows of a table: described columns, row count, where and how old it is.

    Args:
        key: The table's own, from `asset_key`.
        table: What was read of it.
        narrations: What is said of its columns, by name.
        deployment: Who logs the event, as the store names it.
        address: How others know the table.
        updated_at: When its data last changed, in seconds since 1970, or was seen to have.
        rows: Some of the table's rows, as text.
        change: How many of its rows changed since the sampled ones were drawn.
        lineage: The columns that each column comes from, and the asset keys of their tables.
    """
    schema = dg.TableSchema(
        columns=[
            dg.TableColumn(
                name=column.name,
                type=column.type,
                description=_column_text(column, narrations.get(column.name)),
            )
            for column in table.columns[:MAX_COLUMNS_SHOWN]
        ]
    )
    shown = [plain_in_markdown(row[:MAX_ROW_SHOWN]) for row in rows[:MAX_ROWS_SHOWN]]
    sample = {"sampled rows": dg.MetadataValue.md("\n\n".join(shown))} if shown else {}
    measured: dict[str, float | str] = {}
    if change is not None:
        measured = {"changed_share": round(change.share, 4), "measured_by": str(change.measured_by)}
    age = {} if updated_at is None else {UPDATED: dg.MetadataValue.timestamp(updated_at)}
    return dg.AssetMaterialization(
        asset_key=key,
        metadata={
            "dagster/column_schema": schema,
            "dagster/row_count": table.row_count,
            "dagster/table_name": address.name,
            **age,
            **sample,
            **measured,
            **_lineage_metadata(lineage or {}),
            "location": table.location,
            "columns": len(table.columns),
            DEPLOYMENT: deployment,
            **({"notes": "; ".join(table.notes)} if table.notes else {}),
        },
    )


def _lineage_metadata(
    lineage: Mapping[str, Sequence[tuple[dg.AssetKey, str]]],
) -> dict[str, dg.MetadataValue]:
    """Return what Dagster+ draws between columns; elsewhere it is kept and not shown."""
    deps = {
        column: [dg.TableColumnDep(asset_key=key, column_name=name) for key, name in sources]
        for column, sources in list(lineage.items())[:MAX_COLUMNS_SHOWN]
    }
    if not deps:
        return {}
    shown = dg.TableColumnLineage(deps_by_column=deps)
    return {"dagster/column_lineage": dg.MetadataValue.column_lineage(shown)}


def _column_text(column: Column, said: Description | None) -> str | None:
    """Return what is said of a column, what people say before what a model says."""
    comment = plain_in_markdown(column.comment)
    if said is None or not said.text:
        return comment or None
    shown = attributed(said)
    of_machines = said.provenance in (Provenance.MODEL, Provenance.PROFILE)
    if not of_machines or not column.comment or column.comment == said.text:
        return shown
    return f"{comment} — {shown}"


class TablePages:
    """What one run does to the pages of tables; `others` are keys that may be somebody else's."""

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
        quotes = deployment.narration.prompt == "values"
        self._quoting = {Provenance.PROFILE, *([Provenance.MODEL] if quotes else [])}
        self._instance = instance
        self._log_event = log_event
        self._mark = store.asset_keys.deployment()
        self._told = store.asset_keys.published()
        self._announced = -math.inf
        self._shown: set[str] = set()
        self.others: set[str] = set()

    def announce(self, tables: Sequence[Table]) -> None:
        """Show tables as they are now; none whose key is somebody else's, or source is hidden."""
        store, ids = self._store, [table.table_id for table in tables]
        visible = [i for i in ids if source_of(i) in self._sources and self._owned(i)]
        records = {record.table_id: record for record in store.tables.records(visible)}
        self._note(self._before(i) for i in records)  # a kill in between disowns no page
        said = store.narrations.of_tables(records)
        # As they are searched, where they are to be shown.
        rows = store.documents.of_kind(DocumentKind.ROWS, records if self._shows_rows else ())
        changes, lineage = store.profiles.changes(records), self._lineage(records)
        for table in tables:
            i = table.table_id
            if (record := records.get(i)) is None:
                continue
            self._announced = time.monotonic()
            self._shown.add(i)
            key = asset_key(self._prefix, i)
            self._log_event(
                table_event(
                    key,
                    table,
                    said[i] if self._shows_rows else self._without_cells(table, said[i]),
                    self._mark,
                    address_of(self._sources[record.source], record),
                    self._first_seen(key) if record.updated_at is None else record.updated_at,
                    rows.get(i, ()),
                    changes.get(i),
                    lineage.get(i),
                )
            )
        self._note(replace(self._before(i), updated_at=r.updated_at) for i, r in records.items())

    def _without_cells(
        self, table: Table, said: Mapping[str, Description]
    ) -> dict[str, Description]:
        """Return descriptions; for those that may quote cells what the column's name says."""
        by_name = fact_descriptions(table, (), all_rows=False)
        names = {table.columns[position].name: one for position, one in by_name.items()}
        quoting = {name for name, one in said.items() if one.provenance in self._quoting}
        shown = {name: names.get(name) if name in quoting else one for name, one in said.items()}
        return {name: one for name, one in shown.items() if one is not None}

    def _lineage(
        self, table_ids: Collection[str]
    ) -> dict[str, dict[str, list[tuple[dg.AssetKey, str]]]]:
        """Return where the columns of tables come from: from tables that have a page."""
        found: dict[str, dict[str, list[tuple[dg.AssetKey, str]]]] = {}
        for edge in self._store.edges.of_tables(table_ids):
            shown = source_of(edge.upstream) in self._sources and edge.upstream != edge.downstream
            if edge.derives and edge.downstream in table_ids and shown:
                key = asset_key(self._prefix, edge.upstream)
                columns = found.setdefault(edge.downstream, {})
                for column, own in edge.columns:
                    columns.setdefault(own, []).append((key, column))
        return found

    def complete(self) -> None:
        """Give every table the page and check it should have; wipe those that should not be.

        Under another prefix or in another Dagster instance it has none; newer data need not be news
        to the index, nor whether rows are shown.
        """
        records = [r for r in self._store.tables.records() if r.source in self._sources]
        other = self._store.asset_keys.shows_rows() != self._shows_rows
        lagging = [
            r.table_id for r in records if self._lags(r) or (other and r.indexed_at is not None)
        ]
        for done, some in enumerate(chunks(lagging, CHUNK)):
            self.announce(list(self._store.tables.profiles(some)))
            report("making pages", CHUNK * done + len(some), len(lagging))
        self._store.asset_keys.use_rows(self._shows_rows)
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
        news = {
            record.table_id: record
            for record in records
            if problems.get(record.table_id) != self._before(record.table_id).problem
            and self._owned(record.table_id)
        }
        self._note(self._before(i) for i in news)
        for i, record in news.items():
            # Dagster holds a check of a materialization's second for one of an earlier state.
            time.sleep(max(0.0, self._announced + 1.1 - time.monotonic()))
            outcome = check_outcome(problems.get(i), record.state == TableState.FAILED)
            self._instance.report_runless_asset_event(
                dg.AssetCheckEvaluation(asset_key=asset_key(self._prefix, i), **outcome)
            )
        self._note(replace(self._before(i), problem=problems.get(i)) for i in news)

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
        name, key = self._name(table_id), asset_key(self._prefix, table_id)
        ours = key not in self._existing or (name in self._told and self._bears_our_mark(key))
        if name in self.others or may_be_a_stage(table_id) or not ours:
            self.others.add(name)
            return False
        return True

    def _before(self, table_id: str) -> PublishedPage:
        return self._told.get(self._name(table_id), PublishedPage(table_id))

    def _note(self, pages: Iterable[PublishedPage]) -> None:
        """Remember what Dagster was told, and before that which pages are ours to make."""
        told = {self._name(page.table_id): page for page in pages}
        news = {name: page for name, page in told.items() if self._told.get(name) != page}
        self._store.asset_keys.record(self._mark, news)
        self._told |= news

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
        return latest_metadata(self._instance, key) or {}
