"""Second stage: draw the rows that stand for a table, and gather what all of them say.

The rows are those of Pneuma, sections 4 and 5.2.
"""

import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pneuma_assets.core.config.indexing import IndexingConfig, SamplingConfig
from pneuma_assets.core.documents.maker import DrawnRows
from pneuma_assets.core.documents.registry import documents_of
from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.pipeline.changing import Verdict, find_under_old_name, judge
from pneuma_assets.core.pipeline.figures import Figures
from pneuma_assets.core.pipeline.one_table import SourcesByName, one_table
from pneuma_assets.core.pipeline.values import gather_values
from pneuma_assets.core.progress import report
from pneuma_assets.core.relations.fingerprints import Fingerprint, fingerprint_of
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.profiles import SampleSnapshot
from pneuma_assets.core.store.queue import Sampled, Stage, WorkItem
from pneuma_assets.core.tables import DocumentKind, Table, TableTerms

CHUNK = 64
"""Tables kept in the store at a time; a killed run reads at most these again."""

KEPT_EVERY_S = 10.0
"""Or those of that many seconds, and the one that it was reading."""


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
    """Tables of which some had, but not so many that all were drawn anew for that."""
    changed_much: int = 0
    """Tables of which so many had."""
    other_columns: int = 0
    """Tables of which all were drawn anew since their columns are not the same any more."""
    measured: Mapping[str, int] = field(default_factory=dict)
    """Those that are the same or changed, by what tells how much (`changes.measure.Measure`)."""
    values: int = 0
    """Cells of all rows, by which tables are found: those of rows kept as they are, and others."""
    without_values: int = 0
    """Tables of which only sampled rows are found by their values, because of a problem."""
    milliseconds_for_values: int = 0
    """Time that it took to gather these."""


def sample_tables(
    store: Store,
    run_id: str,
    sources: Sequence[Source],
    sampling: SamplingConfig,
    indexing: IndexingConfig,
) -> SampledRowsFigures:
    """Let rows that are in their table stand for it, and gather what all its rows say.

    Drawn anew are all rows of a table that changed enough, and of any other those that left it.
    """
    by_name = SourcesByName(sources)
    items = store.queue.take(run_id, Stage.PROFILED)
    figures = SampledRowsFigures()
    read: dict[str, _Read] = {}
    kept_at = time.monotonic()
    for done, item in enumerate(items, 1):
        store.runs.reading(run_id, item.ref.table_id)
        with one_table(store, run_id, item, "sample"):
            if item.table is None:
                raise TableReadError("It has no profile; the next run reads one.")
            source = by_name.of(item)
            read[item.ref.table_id] = _read(store, source, item, item.table, sampling, indexing)
        late = time.monotonic() - kept_at > KEPT_EVERY_S
        if late or len(read) >= CHUNK or done == len(items):
            figures += _keep(store, run_id, read)
            read.clear()
            kept_at = time.monotonic()
        report("sampling rows", done, len(items))
    store.runs.reading(run_id, None)
    return figures


@dataclass(frozen=True, slots=True)
class _Read:
    """What a table's rows gave: a new sample, if the old one is not true any more, and evidence.

    Where they show that the table was another one before, `old_name` is what it was called.
    """

    sample: Sampled | None
    evidence: TableTerms
    whole: bool
    seconds: float
    verdict: Verdict
    threshold: float
    old_name: str | None = None
    fingerprint: Fingerprint | None = None

    @property
    def drawn(self) -> SampleSnapshot:
        """What the table is measured from, from now on."""
        anew = self.sample is not None and self.sample.row_count is not None
        return self.verdict.drawn_anew if anew else self.verdict.drawn

    @property
    def shown_left(self) -> bool:
        """Whether rows that a model may have been shown may have left the table."""
        change = self.verdict.change
        return self.sample is not None and (change is None or change.share > 0)


def _read(
    store: Store,
    source: Source,
    item: WorkItem,
    table: Table,
    sampling: SamplingConfig,
    indexing: IndexingConfig,
) -> _Read:
    """Gather evidence first: when a table was sampled, a source forgets the rows it has read."""
    began = time.monotonic()
    values = gather_values(store, source, item, sampling)
    seconds = time.monotonic() - began
    table_id, sketch = item.ref.table_id, values.gathered.sketch
    threshold = indexing.row_change_of(table_id)
    verdict = judge(item, table, store.profiles.snapshot(table_id), sketch, threshold)
    return _Read(
        _sample(source, item, table, sampling, anew=verdict.anew),
        values.gathered.terms,
        values.whole,
        seconds,
        verdict,
        threshold,
        find_under_old_name(store, item, table, sketch),
        fingerprint_of(table, values.gathered.terms, sketch),
    )


def _keep(store: Store, run_id: str, read: Mapping[str, _Read]) -> SampledRowsFigures:
    drawn = [one.sample for one in read.values() if one.sample is not None]
    kept = [table_id for table_id, one in read.items() if one.sample is None]
    with store.queue.holding(run_id, read) as held:
        store.profiles.save_terms({i: one.evidence for i, one in read.items() if i in held})
        store.profiles.save_fingerprints(
            {
                i: one.fingerprint
                for i, one in read.items()
                if i in held and one.fingerprint is not None
            }
        )
        store.profiles.save_snapshots({i: one.drawn for i, one in read.items() if i in held})
        for table_id in held:
            store.renaming.columns(table_id, read[table_id].verdict.columns)
            if (before := read[table_id].old_name) is not None:
                store.renaming.take_over(before, table_id)
        gone = [i for i, one in read.items() if i in held and one.shown_left]
        store.documents.replace(DocumentKind.QUESTIONS, ((i, []) for i in gone))
        store.queue.save_samples(run_id, drawn)
        store.queue.advance(run_id, Stage.SAMPLED, kept)
    return SampledRowsFigures(
        tables=len(drawn),
        rows=sum(len(sample.rows) for sample in drawn),
        kept=len(kept),
        **_changes(read.values()),
        values=sum(_count(one.evidence) for one in read.values()),
        without_values=sum(not one.whole for one in read.values()),
        milliseconds_for_values=round(1000 * sum(one.seconds for one in read.values())),
    )


def _changes(read: Collection[_Read]) -> dict[str, Any]:
    """Return how many tables changed how much, of those whose rows had been drawn before."""
    known = [(one.verdict.change, one.threshold) for one in read if one.verdict.change is not None]
    return {
        "same": sum(change.share == 0 for change, _ in known),
        "changed_little": sum(0 < change.share <= threshold for change, threshold in known),
        "changed_much": sum(change.share > threshold for change, threshold in known),
        "other_columns": sum(one.verdict.other_columns for one in read),
        "measured": Counter(str(change.measured_by) for change, _ in known),
    }


def _count(evidence: TableTerms) -> int:
    in_rows = sum(cell is not None for row in evidence.rows for cell in row)
    return in_rows + len(evidence.cells)


def _sample(
    source: Source, item: WorkItem, table: Table, sampling: SamplingConfig, *, anew: bool
) -> Sampled | None:
    """Return a table's new sample, None if the one it has is still true."""
    kept = () if anew else item.sampled
    rows = source.sample(item.ref, sampling.rows, sampling.seed, kept)
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
