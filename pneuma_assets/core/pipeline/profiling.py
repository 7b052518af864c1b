"""Reading the profile of every claimed table, and what people wrote about it."""

from collections.abc import Sequence

from pneuma_assets.core.documents.context import context_documents
from pneuma_assets.core.pipeline.listing import RawTablesFigures
from pneuma_assets.core.pipeline.one_table import SourcesByName, one_table
from pneuma_assets.core.progress import report
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.records import WorkItem
from pneuma_assets.core.tables import Document, DocumentKind, Table

CHUNK = 64
"""Tables kept in the store at a time; a killed run reads at most these again."""

Profile = tuple[Table, list[Document]]
"""A table as it was read, and what people wrote about it."""


def profile_tables(store: Store, run_id: str, sources: Sequence[Source]) -> RawTablesFigures:
    """Read columns, number of rows and contexts of every claimed table."""
    by_name = SourcesByName(sources)
    items = store.work.claimed(run_id)
    figures = RawTablesFigures()
    profiles: list[Profile] = []
    if items:
        report("reading profiles", 0, len(items))
    for done, item in enumerate(items, 1):
        store.runs.reading(run_id, item.ref.table_id)
        with one_table(store, item, "profile"):
            profiles.append(_profile(store, by_name.of(item), item))
        if len(profiles) >= CHUNK or done == len(items):
            figures += _keep(store, run_id, profiles)
            profiles.clear()
        report("reading profiles", done, len(items))
    store.runs.reading(run_id, None)
    return figures


def _profile(store: Store, source: Source, item: WorkItem) -> Profile:
    table = source.profile(item.ref, item.sampled)
    contexts = source.contexts(item.ref)
    store.record_table_problem(table.table_id, "contexts", "; ".join(contexts.problems) or None)
    return table, context_documents(table, contexts.texts)


def _keep(store: Store, run_id: str, profiles: Sequence[Profile]) -> RawTablesFigures:
    store.work.save_profiles(run_id, [table for table, _ in profiles])
    store.documents.replace(
        DocumentKind.CONTEXT, [(table.table_id, texts) for table, texts in profiles]
    )
    return RawTablesFigures(
        profiled=len(profiles),
        columns=sum(len(table.columns) for table, _ in profiles),
        rows=sum(table.row_count for table, _ in profiles),
        contexts=sum(len(texts) for _, texts in profiles),
    )
