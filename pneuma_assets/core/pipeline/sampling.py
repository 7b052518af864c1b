"""Second stage: draw the rows that stand for a table, and gather what all of them say.

The rows are those of Pneuma, sections 4 and 5.2.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pneuma_assets.core.config.indexing import IndexingConfig, SamplingConfig
from pneuma_assets.core.documents.maker import DrawnRows
from pneuma_assets.core.documents.registry import documents_of
from pneuma_assets.core.pipeline.figures import Figures
from pneuma_assets.core.pipeline.one_table import SourcesByName, one_table
from pneuma_assets.core.pipeline.values import gather_values
from pneuma_assets.core.progress import report
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.records import Sampled, Stage, WorkItem
from pneuma_assets.core.tables import Evidence

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
    items = store.work.take(run_id, Stage.PROFILED)
    figures = SampledRowsFigures()
    read: dict[str, _Read] = {}
    kept_at = time.monotonic()
    for done, item in enumerate(items, 1):
        store.runs.reading(run_id, item.ref.table_id)
        with one_table(store, run_id, item, "sample"):
            read[item.ref.table_id] = _read(store, by_name.of(item), item, sampling, indexing)
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
    """What a table's rows gave: a new sample, if the old one is not true any more, and evidence."""

    sample: Sampled | None
    evidence: Evidence
    whole: bool
    seconds: float


def _read(
    store: Store, source: Source, item: WorkItem, sampling: SamplingConfig, indexing: IndexingConfig
) -> _Read:
    """Gather evidence first: when a table was sampled, a source forgets the rows it has read."""
    began = time.monotonic()
    values = gather_values(store, source, item, sampling)
    seconds = time.monotonic() - began
    sample = _sample(source, item, sampling, indexing.row_change)
    return _Read(sample, values.evidence, values.whole, seconds)


def _keep(store: Store, run_id: str, read: Mapping[str, _Read]) -> SampledRowsFigures:
    drawn = [one.sample for one in read.values() if one.sample is not None]
    kept = [table_id for table_id, one in read.items() if one.sample is None]
    with store.work.holding(run_id, read) as held:
        store.evidence.replace({i: one.evidence for i, one in read.items() if i in held})
        store.work.save_samples(run_id, drawn)
        store.work.advance(run_id, Stage.SAMPLED, kept)
    return SampledRowsFigures(
        tables=len(drawn),
        rows=sum(len(sample.rows) for sample in drawn),
        kept=len(kept),
        values=sum(_count(one.evidence) for one in read.values()),
        without_values=sum(not one.whole for one in read.values()),
        milliseconds_for_values=round(1000 * sum(one.seconds for one in read.values())),
    )


def _count(evidence: Evidence) -> int:
    in_rows = sum(cell is not None for row in evidence.rows for cell in row)
    return in_rows + len(evidence.cells)


def _sample(
    source: Source, item: WorkItem, sampling: SamplingConfig, row_change: float
) -> Sampled | None:
    """Return a table's new sample, None if the one it has is still true."""
    if item.table is None:
        return None
    anew = needs_new_rows(item, row_change)
    kept = () if anew else item.sampled
    rows = source.sample(item.ref, sampling.rows, sampling.seed, kept)
    if rows is None:
        return None
    old = {mark.key for mark in kept}
    some_old = any(row.mark.key in old for row in rows)
    return Sampled(
        table_id=item.table.table_id,
        row_count=None if some_old else item.table.row_count,
        rows=[row.mark for row in rows],
        documents=documents_of(DrawnRows(item.table, [row.cells for row in rows])),
    )


def needs_new_rows(item: WorkItem, threshold: float) -> bool:
    """Tell whether all sampled rows are drawn anew (Pneuma, section 5.2: more than 20 %).

    This is about rows that are still true: those that left the table are replaced in any case.
    The number of rows is compared with what it was when the sample was drawn, not at the last
    look, so that slow growth is not missed. With a threshold of 0 every table that was written
    is sampled anew.
    """
    if item.table is None or item.sampled_row_count is None or not item.sampled:
        return True
    if threshold == 0 or item.table.schema_hash != item.indexed_schema_hash:
        return True
    change = abs(item.table.row_count - item.sampled_row_count)
    return change > threshold * item.sampled_row_count
