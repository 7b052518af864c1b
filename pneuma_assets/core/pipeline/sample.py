"""Second stage: draw the rows that stand for a table, and gather the terms of all its rows.

The rows are those of Pneuma, sections 4 and 5.2: all are drawn again when more than 20 % of a
table's rows changed, else those that left it.
"""

import logging
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from pneuma_assets.core.changes.changed_share import Change, Extent, measured
from pneuma_assets.core.changes.schema_diff import schema_diff
from pneuma_assets.core.changes.sketch import TableSketch
from pneuma_assets.core.config.small_sections import IndexingConfig, SamplingConfig
from pneuma_assets.core.describe.kinds import documents_of
from pneuma_assets.core.describe.texts import DrawnRows
from pneuma_assets.core.errors import AccessRefusedError, TableReadError, TableTooSlowError
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.pipeline.stage import Figures, SourcesByName, isolate_failures
from pneuma_assets.core.progress import report
from pneuma_assets.core.relations.fingerprints import Fingerprint, fingerprint_of
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.profiles import SampleSnapshot
from pneuma_assets.core.store.queue import Sampled, Stage, WorkItem
from pneuma_assets.core.tables import ColumnProfile, Table, TableTerms
from pneuma_assets.core.terms.collect import CollectedTerms, collect_rows, with_listed

logger = logging.getLogger(__name__)

SEED = 0
"""Draws the same rows of the same data again."""

CHUNK = 64
"""Tables saved in the store at a time; a killed run reads at most these again."""

SAVED_EVERY_S = 10.0
"""Or those of that many seconds, and the one that it was reading."""

FORMER_NAMES = 5
"""Former names that are remembered of a column, by which contexts that people added know it."""

VALUES_STAGE = "values"
"""Under which problems of gathering are recorded; the table is indexed all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledRowsFigures(Figures):
    """What sampling the claimed tables did."""

    stage: ClassVar[str] = "sampled_rows"

    tables: int = 0
    """Tables of which rows were drawn."""
    rows: int = 0
    """Rows that stand for these."""
    kept: int = 0
    """Tables whose rows are as they were."""
    same: int = 0
    """Tables read again of which no row had changed since theirs were drawn."""
    changed_little: int = 0
    """Tables of which some had, but not so many that all were drawn again for that."""
    changed_much: int = 0
    """Tables of which so many had."""
    other_columns: int = 0
    """Tables of which all were drawn again since their columns are not the same any more."""
    values: int = 0
    """Values of all rows, by which tables are found: those of rows kept as they are, and others."""
    without_values: int = 0
    """Tables of which only sampled rows are found by their values, because of a problem."""
    milliseconds_for_values: int = 0
    """Time that it took to gather these."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reading of a table says about the rows that stand for it.

    Attributes:
        anew: Whether all of them are drawn again.
        change: How many changed since they were drawn; None: none were, or of other columns.
        drawn: What it is measured from as long as one of the rows that were drawn is kept.
        drawn_anew: What it is measured from where none is.
        other_columns: Whether columns were added, dropped, reordered or retyped since then.
        columns: The new names of renamed columns, by their old ones.
    """

    anew: bool
    change: Change | None
    drawn: SampleSnapshot
    drawn_anew: SampleSnapshot
    other_columns: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Read:
    """What a table's rows gave: a new sample if need be, terms, and why not of all rows."""

    item: WorkItem
    table: Table
    gathered: CollectedTerms
    cause: str | None
    seconds: float
    verdict: Verdict
    sample: Sampled | None
    fingerprint: Fingerprint | None

    @property
    def snapshot(self) -> SampleSnapshot:
        """What the table is measured from, from now on."""
        anew = self.sample is not None and self.sample.row_count is not None
        return self.verdict.drawn_anew if anew else self.verdict.drawn

    @property
    def profiles(self) -> dict[str, ColumnProfile]:
        """The profiles of columns that are shown, by name; none where not all rows were read."""
        found = zip(self.table.columns, self.gathered.profiles, strict=False)
        return {c.name: one for c, one in found if one is not None and not c.hidden}


def sample_tables(
    store: Store,
    run_id: str,
    sources: Sequence[Source],
    sampling: SamplingConfig,
    indexing: IndexingConfig,
) -> SampledRowsFigures:
    """Draw the rows that stand for each claimed table, and gather the terms of all its rows."""
    by_name = SourcesByName(sources)
    items = store.queue.take(run_id, Stage.PROFILED)
    figures, done = SampledRowsFigures(), 0
    for chunk in chunks(items, CHUNK):
        read: dict[str, _Read] = {}
        before = store.profiles.snapshots(item.ref.table_id for item in chunk)
        saved_at = time.monotonic()
        for item in chunk:
            table_id = item.ref.table_id
            store.runs.reading(run_id, table_id)
            with isolate_failures(store, run_id, item, "sample"):
                source, drawn = by_name.of(item), before.get(table_id)
                read[table_id] = _read(source, item, drawn, sampling, indexing.row_change)
            if time.monotonic() - saved_at > SAVED_EVERY_S:
                figures += _save(store, run_id, read, indexing.row_change)
                read, saved_at = {}, time.monotonic()
            done += 1
            report("sampling rows", done, len(items))
        figures += _save(store, run_id, read, indexing.row_change)
    return figures


def _read(
    source: Source,
    item: WorkItem,
    before: SampleSnapshot | None,
    sampling: SamplingConfig,
    threshold: float,
) -> _Read:
    """Gather terms first: when a table was sampled, a source forgets the rows it has read."""
    table = item.table
    if table is None:
        raise TableReadError("It has no profile; the next run reads one.")
    began = time.monotonic()
    gathered, cause = gather_values(source, item, sampling)
    seconds = time.monotonic() - began
    verdict = judge(item, table, before, gathered.sketch, threshold)
    sample = _sample(source, item, table, sampling, anew=verdict.anew)
    fingerprint = fingerprint_of(table, gathered.terms, gathered.sketch)
    return _Read(item, table, gathered, cause, seconds, verdict, sample, fingerprint)


def _save(
    store: Store, run_id: str, read: Mapping[str, _Read], threshold: float
) -> SampledRowsFigures:
    store.runs.reading(run_id, None)  # a kill from here on is no table's fault
    if not read:
        return SampledRowsFigures()
    drawn = [one.sample for one in read.values() if one.sample is not None]
    kept = [table_id for table_id, one in read.items() if one.sample is None]
    with store.queue.holding(run_id, read) as held:
        mine = {table_id: one for table_id, one in read.items() if table_id in held}
        store.profiles.save_terms({i: one.gathered.terms for i, one in mine.items()})
        store.statistics.save_column_profiles({i: one.profiles for i, one in mine.items()})
        prints = {i: one.fingerprint for i, one in mine.items() if one.fingerprint is not None}
        store.profiles.save_fingerprints(prints)
        old_names = _find_old_names(store, mine.values())
        store.profiles.save_snapshots({i: one.snapshot for i, one in mine.items()})
        store.problems.record_of_tables(VALUES_STAGE, {i: one.cause for i, one in mine.items()})
        for table_id, one in mine.items():
            if one.verdict.columns:
                store.renaming.columns(table_id, one.verdict.columns)
        for table_id, old_name in old_names.items():
            store.renaming.take_over(old_name, table_id)
        store.queue.save_samples(run_id, drawn)
        store.queue.advance(run_id, Stage.SAMPLED, kept)
    known = [one.verdict.change for one in read.values() if one.verdict.change is not None]
    terms = [one.gathered.terms for one in read.values()]
    in_rows = (cell is not None for some in terms for row in some.rows for cell in row)
    return SampledRowsFigures(
        tables=len(drawn),
        rows=sum(len(sample.rows) for sample in drawn),
        kept=len(kept),
        same=sum(change.share == 0 for change in known),
        changed_little=sum(0 < change.share <= threshold for change in known),
        changed_much=sum(change.share > threshold for change in known),
        other_columns=sum(one.verdict.other_columns for one in read.values()),
        values=sum(in_rows) + sum(len(some.cells) for some in terms),
        without_values=sum(one.cause is not None for one in read.values()),
        milliseconds_for_values=round(1000 * sum(one.seconds for one in read.values())),
    )


def _find_old_names(store: Store, read: Collection[_Read]) -> dict[str, str]:
    """Return which gone table each new one was: that which alone had just its columns and rows."""
    new = [one for one in read if one.item.sampled_row_count is None]
    sources = {one.item.ref.source for one in new}
    gone = {name: store.profiles.snapshots_of_gone(name) for name in sources}
    found: dict[str, str] = {}
    for one in new:
        sketch = one.gathered.sketch
        if sketch is None or not sketch.rows:
            continue
        columns = [(column.name, column.type) for column in one.table.columns]
        same = [
            table_id
            for table_id, was in gone[one.item.ref.source].items()
            if was.sketch == sketch and [(c.name, c.type) for c in was.columns] == columns
        ]
        if len(same) == 1:
            found[one.table.table_id] = same[0]
    return found


def _sample(
    source: Source, item: WorkItem, table: Table, sampling: SamplingConfig, *, anew: bool
) -> Sampled | None:
    kept = () if anew else item.sampled
    rows = source.sample(item.ref, sampling.rows, SEED, kept)
    if rows is None:
        return None
    old = {mark.key for mark in kept}
    some_old = any(row.mark.key in old for row in rows)
    return Sampled(
        table_id=table.table_id,
        row_count=None if some_old else table.row_count,
        rows=[row.mark for row in rows],
        documents=documents_of(DrawnRows(table, [row.cells for row in rows])),
    )


def gather_values(
    source: Source, item: WorkItem, sampling: SamplingConfig
) -> tuple[CollectedTerms, str | None]:
    """Gather the terms of a table's rows; none where `sampling.values` is off.

    Where not all can be read, those of sampled rows; the second value says why.

    Raises:
        TableReadError: No row can be read either, or none may be read any more; or the table has
            other columns now than when it was profiled.
    """
    if not sampling.values:
        return CollectedTerms(TableTerms(), None), None
    width, cause = len(item.table.columns) if item.table is not None else 0, None
    try:
        gathered = source.evidence(item.ref, SEED)
    except AccessRefusedError:
        raise
    except TableReadError as error:
        # A sample of what is computed takes as long as all of it.
        if isinstance(error, TableTooSlowError) and item.ref.format in ("view", "foreign table"):
            raise
        drawn = source.sample(item.ref, sampling.rows, SEED) or []
        some = collect_rows([row.cells for row in drawn], width, SEED)
        gathered = CollectedTerms(some.terms, None)
        cause = (
            f"only {len(drawn)} sampled rows can be found by their values, because not all rows "
            f"could be read: {error}"
        )
        logger.warning("%s: %s", item.ref.table_id, cause)
    rows = gathered.terms.rows
    if rows and item.table is not None and len(rows[0]) != width:
        raise TableReadError(
            f"The table changed while it was read, from {width} columns to {len(rows[0])}; the "
            "next run reads it again."
        )
    if item.table is not None:
        gathered = replace(gathered, terms=with_listed(gathered.terms, item.table))
    return gathered, cause


def judge(
    item: WorkItem,
    table: Table,
    before: SampleSnapshot | None,
    sketch: TableSketch | None,
    threshold: float,
) -> Verdict:
    """Compare a table with what it was when its rows were drawn, so that no slow drift is missed.

    Of other columns all rows are drawn again, and no share of them is told. `before` is None where
    none were drawn, `sketch` where not all rows were read. A threshold of 0 draws always.
    """
    now = SampleSnapshot(table.columns, sketch)
    diff = None
    if before is not None:
        cells = [() if one.sketch is None else one.sketch.columns for one in (before, now)]
        diff = schema_diff(before.columns, now.columns, *cells)
    columns = {} if diff is None else diff.renamed
    now = replace(now, former_names=_former_names(before, now, columns))
    if before is None or diff is None or item.sampled_row_count is None or not item.sampled:
        return Verdict(True, None, now, now, columns=columns)
    if not diff.same_cells:
        return Verdict(True, None, now, now, other_columns=True, columns=columns)
    then = Extent(item.sampled_row_count, before.sketch)
    change = measured(then, Extent(table.row_count, sketch))
    return Verdict(
        threshold == 0 or bool(columns) or change.share > threshold,
        change,
        replace(now, sketch=before.sketch or sketch, change=change),
        replace(now, change=change),
        columns=columns,
    )


def _former_names(
    before: SampleSnapshot | None, now: SampleSnapshot, columns: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Return former names of columns, but those that another one has now.

    `columns` are those that were just renamed, the new name by the old one.
    """
    known = {} if before is None else before.former_names
    old_name = {new: old for old, new in columns.items()}
    there = [column.name for column in now.columns]
    found: dict[str, tuple[str, ...]] = {}
    for name in there:
        old = old_name.get(name, name)
        names = dict.fromkeys((old, *known.get(old, ())))
        if some := [one for one in names if one not in there]:
            found[name] = tuple(some[:FORMER_NAMES])
    return found
