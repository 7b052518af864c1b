"""Second stage: draw the rows that stand for a table (Pneuma, sections 4 and 5.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pneuma_assets.core.config.indexing import IndexingConfig, SamplingConfig
from pneuma_assets.core.documents.maker import DrawnRows
from pneuma_assets.core.documents.registry import documents_of
from pneuma_assets.core.pipeline.figures import Figures
from pneuma_assets.core.pipeline.one_table import SourcesByName, one_table
from pneuma_assets.core.progress import report
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.records import Sampled, Stage, WorkItem

CHUNK = 64
"""Samples kept in the store at a time; a killed run draws at most these again."""


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


def sample_tables(
    store: Store,
    run_id: str,
    sources: Sequence[Source],
    sampling: SamplingConfig,
    indexing: IndexingConfig,
) -> SampledRowsFigures:
    """Let rows that are in their table stand for it (Pneuma, sections 4 and 5.2).

    Drawn anew are all rows of a table that changed enough, and of any other those that left it.
    """
    by_name = SourcesByName(sources)
    items = store.work.take(run_id, Stage.PROFILED)
    figures = SampledRowsFigures()
    samples: dict[str, Sampled | None] = {}
    for done, item in enumerate(items, 1):
        store.runs.reading(run_id, item.ref.table_id)
        with one_table(store, run_id, item, "sample"):
            sample = _sample(by_name.of(item), item, sampling, indexing.row_change)
            samples[item.ref.table_id] = sample
        if len(samples) >= CHUNK or done == len(items):
            figures += _keep(store, run_id, samples)
            samples.clear()
        report("sampling rows", done, len(items))
    store.runs.reading(run_id, None)
    return figures


def _keep(store: Store, run_id: str, samples: Mapping[str, Sampled | None]) -> SampledRowsFigures:
    drawn = [sample for sample in samples.values() if sample is not None]
    store.work.save_samples(run_id, drawn)
    kept = [table_id for table_id, sample in samples.items() if sample is None]
    store.work.advance(run_id, Stage.SAMPLED, kept)
    return SampledRowsFigures(
        tables=len(drawn),
        rows=sum(len(sample.rows) for sample in drawn),
        kept=len(kept),
    )


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
