"""Reading the profile of every claimed table, and what people wrote about it."""

from collections.abc import Sequence

from pneuma_assets.core.documents.maker import ReadTable
from pneuma_assets.core.pipeline.documents import Made, keeping_documents, make_documents
from pneuma_assets.core.pipeline.listing import RawTablesFigures
from pneuma_assets.core.pipeline.one_table import SourcesByName, one_table
from pneuma_assets.core.progress import report
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.records import Stage, WorkItem

CHUNK = 64
"""Tables kept in the store at a time; a killed run reads at most these again."""


def profile_tables(store: Store, run_id: str, sources: Sequence[Source]) -> RawTablesFigures:
    """Read columns, number of rows and contexts of every claimed table."""
    by_name = SourcesByName(sources)
    items = store.work.claimed(run_id, Stage.LISTED)
    figures = RawTablesFigures()
    profiles: list[Made[ReadTable]] = []
    if items:
        report("reading profiles", 0, len(items))
    for done, item in enumerate(items, 1):
        store.runs.reading(run_id, item.ref.table_id)
        with one_table(store, run_id, item, "profile"):
            profiles.append(_profile(store, by_name.of(item), item))
        if len(profiles) >= CHUNK or done == len(items):
            figures += _keep(store, run_id, profiles)
            profiles.clear()
        report("reading profiles", done, len(items))
    store.runs.reading(run_id, None)
    return figures


def _profile(store: Store, source: Source, item: WorkItem) -> Made[ReadTable]:
    table = source.profile(item.ref, item.sampled)
    contexts = source.contexts(item.ref)
    store.record_table_problem(table.table_id, "contexts", "; ".join(contexts.problems) or None)
    return make_documents(ReadTable(table, contexts.texts))


def _keep(store: Store, run_id: str, profiles: Sequence[Made[ReadTable]]) -> RawTablesFigures:
    read = [made.material for made in profiles]
    with keeping_documents(store, run_id, profiles):
        store.work.save_profiles(run_id, [one.table for one in read])
    return RawTablesFigures(
        profiled=len(read),
        columns=sum(len(one.table.columns) for one in read),
        rows=sum(one.table.row_count for one in read),
        contexts=sum(len(one.contexts) for one in read),
    )
