"""Last stage: make tables searchable."""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol

from pneuma_assets.core.documents.registry import makers
from pneuma_assets.core.errors import EvidenceRefusedError, StateError
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import UNKNOWN_FACTS, SearchIndex, TableContents
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.pipeline.building import IndexSite, publish_if_complete
from pneuma_assets.core.pipeline.copies import mark_copies
from pneuma_assets.core.pipeline.figures import Figures
from pneuma_assets.core.pipeline.heading import mark_headers
from pneuma_assets.core.pipeline.joining import mark_joins
from pneuma_assets.core.pipeline.removing import remove_gone
from pneuma_assets.core.pipeline.telling import tell_facts
from pneuma_assets.core.pipeline.values import STAGE as VALUES_STAGE
from pneuma_assets.core.progress import report
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Finished, Stage, WorkItem
from pneuma_assets.core.tables import DocumentKind, EmbeddedBlock, Table, TableFacts, TableTerms
from pneuma_assets.core.terms.collect import table_terms
from pneuma_assets.core.terms.split_names import spell_out

logger = logging.getLogger(__name__)

CHUNK = 64
"""Tables made searchable at a time; a killed run replaces at most these again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchIndexFigures(Figures):
    """What bringing the index up to date did."""

    stage: ClassVar[str] = "search_index"

    tables: int = 0
    """Tables that were made searchable."""
    blocks: Mapping[str, int] = field(default_factory=dict)
    """Blocks of these, by kind of document."""
    removed: int = 0
    """Tables that left their source, and now the index."""
    renamed: int = 0
    """Tables that left it under a name that they do not have any more."""
    forgotten: int = 0
    """Tables that left their source, and of which the index had nothing any more."""
    copies: int = 0
    """Tables that were found to be copies of others, or to be none any more."""
    joins: int = 0
    """Joins between tables that were found, or that are none any more."""
    headers: int = 0
    """Headers of columns that were embedded."""
    told: int = 0
    """Tables of which the index was told anew who may see them, and what lets people trust them."""
    published: int = 0
    """1 where an index that was built beside an old one took its place."""
    pages_of_others: int = 0
    """Tables without a page in Dagster's UI, because their asset keys are somebody else's."""


class Announcer(Protocol):
    """Where people see what is known of each table; told of every change to the index."""

    @property
    def others(self) -> Collection[str]:
        """The pages that could not be made, because somebody else has made them."""
        ...

    def announce(self, table: Table) -> None:
        """Show a table as it is now."""
        ...

    def remove(self, table_ids: Sequence[str]) -> None:
        """Show these tables no more."""
        ...

    def complete(self) -> None:
        """Show every indexed table that has no page."""
        ...


def update_index(
    store: Store, run_id: str, encoder: Encoder, site: IndexSite, pages: Announcer
) -> SearchIndexFigures:
    """Bring the index, and the tables' pages, up to date: the whole last stage."""
    outdated = store.privacy.pages_to_wipe()
    if outdated:
        pages.remove(outdated)
        store.privacy.pages_wiped(outdated)
    left = remove_gone(store, site.building, pages.remove)
    told = tell_facts(store, run_id, site.building)
    indexed = index_tables(store, run_id, encoder.name, site.building, pages.announce)
    copies = mark_copies(store, store.access.of_tables())
    joins = mark_joins(store, site.building)
    headers = mark_headers(store, encoder)
    told += tell_facts(store, run_id, site.building)  # of what others have learnt meanwhile
    if outdated:
        site.building.optimise()  # or its files still hold what was removed
    published = publish_if_complete(store, site)
    pages.complete()
    return indexed + SearchIndexFigures(
        removed=left.removed,
        renamed=left.renamed,
        forgotten=left.forgotten,
        copies=copies,
        joins=joins,
        headers=headers,
        told=told,
        published=int(published),
        pages_of_others=len(pages.others),
    )


def index_tables(
    store: Store,
    run_id: str,
    encoder_name: str,
    index: SearchIndex,
    on_indexed: Callable[[Table], None],
) -> SearchIndexFigures:
    """Make every claimed table searchable as one act each, and tell `on_indexed` what changed.

    Killed before the store knows of it, a table is indexed and told of once more by the next run,
    which changes nothing.

    Raises:
        StateError: Tables were embedded by another encoder than today's; they are to be embedded
            again, and the others are searchable.
    """
    taken = store.queue.take(run_id, Stage.EMBEDDED)
    outdated = store.documents.staged_otherwise(encoder_name, run_id)
    store.queue.advance(run_id, Stage.NARRATED, outdated)
    items = [item for item in taken if item.ref.table_id not in outdated]
    figures = SearchIndexFigures(blocks=dict.fromkeys(makers(), 0))
    for chunk in chunks(items, CHUNK):
        figures += _index(store, run_id, encoder_name, index, chunk, on_indexed)
        report("writing the index", figures.tables, len(items))
    users = store.embeddings.tables()  # before the store: another run may add a table in between
    store.embeddings.prune(store.listings.in_sight(users - store.tables.known()))
    if outdated:
        raise StateError(
            f"{len(outdated)} tables, such as {outdated[0]!r}, were embedded by another encoder "
            f"than {encoder_name!r}: materialize raw_tables and all after it"
        )
    return figures


def _index(
    store: Store,
    run_id: str,
    encoder_name: str,
    index: SearchIndex,
    items: Sequence[WorkItem],
    on_indexed: Callable[[Table], None],
) -> SearchIndexFigures:
    with store.queue.holding(run_id, [item.ref.table_id for item in items]) as held:
        items = [item for item in items if item.ref.table_id in held]  # others have newer blocks
    ids = [item.ref.table_id for item in items]
    staged = {i: store.documents.staged(encoder_name, i) for i in ids}
    before = _block_ids(index.blocks(ids))
    facts = store.access.of_tables(ids)
    contents = _contents(items, staged, _gathered(store, index, ids), facts)
    _replace(store, index, contents)
    store.access.mark_published(facts)
    for item in items:
        if item.table is not None and _is_news(item, staged[item.ref.table_id], before):
            on_indexed(item.table)
    store.queue.finish(run_id, _finished(items, staged))
    kinds: Counter[str] = Counter(e.block.kind for embedded in staged.values() for e in embedded)
    return SearchIndexFigures(tables=len(items), blocks=kinds)


def _replace(store: Store, index: SearchIndex, contents: Mapping[str, TableContents]) -> None:
    """Write tables; of one whose evidence is refused, first without its rows, then without any.

    One table must not keep the others out.
    """
    try:
        index.replace_tables(contents)
    except EvidenceRefusedError as error:
        refused = contents.get(error.table_id)
        if refused is None or refused.evidence == TableTerms():
            raise
        logger.warning("%s is indexed without its rows: %s", error.table_id, error)
        cause = f"cannot be found by its values: {error}"
        store.problems.record_of_table(error.table_id, VALUES_STAGE, cause)
        kept = replace(refused.evidence, rows=(), cells=())
        less = TableTerms() if kept == refused.evidence else kept
        _replace(store, index, {**contents, error.table_id: replace(refused, evidence=less)})


def _gathered(store: Store, index: SearchIndex, table_ids: Sequence[str]) -> dict[str, TableTerms]:
    """Return what all rows of tables say.

    Of a table that was embedded again for another text alone, the index still has that.
    """
    waiting = store.profiles.terms(table_ids)
    others = store.tables.unchanged(one for one in table_ids if one not in waiting)
    return waiting | index.evidence(sorted(others))


def _contents(
    items: Sequence[WorkItem],
    staged: Mapping[str, Sequence[EmbeddedBlock]],
    gathered: Mapping[str, TableTerms],
    facts: Mapping[str, TableFacts],
) -> dict[str, TableContents]:
    """Return all that the index is to keep: no text is ever there before who may see it."""
    known = {item.ref.table_id: item.table for item in items if item.table is not None}
    evidence = {
        i: spell_out(table_terms(table, gathered.get(i, TableTerms())), _written_of(staged[i]))
        for i, table in known.items()
    }
    return {
        i: TableContents(blocks, evidence.get(i, TableTerms()), facts.get(i, UNKNOWN_FACTS))
        for i, blocks in staged.items()
    }


def _written_of(embedded: Sequence[EmbeddedBlock]) -> Iterator[str]:
    """Yield what people wrote about a table or its folder, which may spell its names out."""
    written = (DocumentKind.CONTEXT, DocumentKind.FOLDER)
    return (one.block.text for one in embedded if one.block.kind in written)


def _block_ids(embedded: Iterable[EmbeddedBlock]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for one in embedded:
        found.setdefault(one.block.table_id, set()).add(one.block.block_id)
    return found


def _is_news(
    item: WorkItem, embedded: Sequence[EmbeddedBlock], before: dict[str, set[str]]
) -> bool:
    """Tell whether people see a difference; an event for each unchanged table would be a flood."""
    if item.table is None or item.indexed_row_count != item.table.row_count:
        return True
    if item.indexed_schema_hash != item.table.schema_hash:
        return True
    return before.get(item.ref.table_id, set()) != {one.block.block_id for one in embedded}


def _finished(
    items: Sequence[WorkItem], staged: dict[str, list[EmbeddedBlock]]
) -> Iterator[Finished]:
    for item in items:
        if item.table is not None:
            table_id = item.ref.table_id
            yield Finished(table_id, item.table.schema_hash, len(staged[table_id]))
