"""Reading the profile of every claimed table, and what people wrote about it."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from pneuma_assets.core.documents.maker import ReadTable
from pneuma_assets.core.errors import AccessRefusedError, TableReadError
from pneuma_assets.core.narration.describe import read_descriptions
from pneuma_assets.core.pipeline.documents import Made, keeping_documents, make_documents
from pneuma_assets.core.pipeline.hiding import forget_newly_hidden
from pneuma_assets.core.pipeline.listing import RawTablesFigures
from pneuma_assets.core.pipeline.one_table import SourcesByName, one_table
from pneuma_assets.core.progress import report
from pneuma_assets.core.sources.base import Contexts, Source
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Stage, WorkItem
from pneuma_assets.core.tables import Description

logger = logging.getLogger(__name__)

CHUNK = 64
"""Tables kept in the store at a time; a killed run reads at most these again."""


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read of one table: the documents made of it, and what its columns are said to be."""

    made: Made[ReadTable]
    described: Sequence[tuple[int, Description]]


def profile_tables(store: Store, run_id: str, sources: Sequence[Source]) -> RawTablesFigures:
    """Read columns, number of rows and contexts of every claimed table."""
    by_name = SourcesByName(sources)
    items = store.queue.claimed(run_id, Stage.LISTED)
    figures = RawTablesFigures()
    profiles: list[_Read] = []
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


def _profile(store: Store, source: Source, item: WorkItem) -> _Read:
    table = source.profile(item.ref, item.sampled)
    contexts = _contexts(source, item)
    store.problems.record_of_table(table.table_id, "contexts", "; ".join(contexts.problems) or None)
    described = read_descriptions(table, contexts.glossaries)
    return _Read(make_documents(ReadTable(table, contexts.texts, contexts.of_folder)), described)


def _contexts(source: Source, item: WorkItem) -> Contexts:
    """Read the documents of a table; one that ends its reader must not keep it from the index.

    Raises:
        AccessRefusedError: The table itself may not be read any more.
    """
    try:
        return source.contexts(item.ref)
    except AccessRefusedError:
        raise
    except TableReadError as error:
        logger.warning("%s: %s", item.ref.table_id, error)
        return Contexts((), (f"its documents cannot be read: {error}",))


def _keep(store: Store, run_id: str, profiles: Sequence[_Read]) -> RawTablesFigures:
    read = [one.made.material for one in profiles]
    forget_newly_hidden(store, [one.table for one in read])
    with keeping_documents(store, run_id, [one.made for one in profiles]) as held:
        store.queue.save_profiles(run_id, [one.table for one in read])
        store.descriptions.replace(
            (one.made.material.table.table_id, one.described)
            for one in profiles
            if one.made.material.table.table_id in held
        )
    return RawTablesFigures(
        profiled=len(read),
        columns=sum(len(one.table.columns) for one in read),
        rows=sum(one.table.row_count for one in read),
        contexts=sum(len(one.contexts) for one in read),
    )
