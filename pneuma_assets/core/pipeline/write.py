"""Last stage: make tables searchable, publish their metadata, and remove those that left."""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple, Protocol

from pneuma_assets.core.describe.kinds import makers
from pneuma_assets.core.errors import EvidenceRefusedError, ModelError, StateError
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import UNKNOWN_FACTS, SearchIndex, TableContents
from pneuma_assets.core.models.base import Encoder, is_elsewhere
from pneuma_assets.core.pipeline.embed import embed_answered_questions, embed_column_names
from pneuma_assets.core.pipeline.index_build import IndexBuild, publish_if_complete
from pneuma_assets.core.pipeline.lineage_texts import redact_names
from pneuma_assets.core.pipeline.relate import mark_copies, mark_joins
from pneuma_assets.core.pipeline.sample import VALUES_STAGE
from pneuma_assets.core.pipeline.stage import Figures
from pneuma_assets.core.progress import report
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Finished, Stage, WorkItem
from pneuma_assets.core.tables import (
    Description,
    DocumentKind,
    EmbeddedBlock,
    Provenance,
    Table,
    TableFacts,
    TableTerms,
)
from pneuma_assets.core.terms.collect import names_of, table_terms
from pneuma_assets.core.terms.split_names import name_prefixes, spell_out

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
    """Tables that were found to be copies of others, or of a family, or to be none any more."""
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

    def announce(self, tables: Sequence[Table]) -> None:
        """Show tables as they are now."""
        ...

    def remove(self, table_ids: Sequence[str]) -> None:
        """Show these tables no more."""
        ...

    def complete(self) -> None:
        """Show every indexed table that has no page."""
        ...


def update_index(
    store: Store, run_id: str, encoder: Encoder, site: IndexBuild, pages: Announcer
) -> SearchIndexFigures:
    """Bring the index, and the tables' pages, up to date: the whole last stage."""
    outdated = store.privacy.pages_to_wipe()
    if outdated:
        pages.remove(outdated)
        store.privacy.pages_wiped(outdated)
    left = remove_gone(store, site.building, pages.remove)
    told = publish_metadata(store, run_id, site.building)
    indexed = index_tables(store, run_id, encoder.name, site.building, pages.announce)
    figures = SearchIndexFigures(
        **left._asdict(),
        copies=mark_copies(store, store.access.of_tables()),
        joins=mark_joins(store, site.building),
    )
    try:
        figures += SearchIndexFigures(headers=embed_column_names(store, encoder))
        embed_answered_questions(store, encoder)
    except ModelError as error:
        if not is_elsewhere(encoder):
            raise
        logger.warning("Names of columns and answered questions wait for the encoder: %s", error)
    told += publish_metadata(store, run_id, site.building)  # of what others have learnt meanwhile
    if outdated:
        site.building.optimise()  # or its files still hold what was removed
    published = publish_if_complete(store, site)
    pages.complete()
    if indexed.tables or left != Removed():
        store.back_up()  # or its copy of before still holds what has left
    others = len(pages.others)
    more = SearchIndexFigures(told=told, published=int(published), pages_of_others=others)
    return indexed + figures + more


def index_tables(
    store: Store,
    run_id: str,
    encoder_name: str,
    index: SearchIndex,
    on_indexed: Callable[[Sequence[Table]], None],
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
    prefixes = _prefixes(store)
    for chunk in chunks(items, CHUNK):
        figures += _index(store, run_id, encoder_name, index, chunk, prefixes, on_indexed)
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
    prefixes: Mapping[str, str],
    on_indexed: Callable[[Sequence[Table]], None],
) -> SearchIndexFigures:
    with store.queue.holding(run_id, [item.ref.table_id for item in items]) as held:
        tables = {item.ref.table_id: item for item in items if item.ref.table_id in held}
    ids = list(tables)  # of the others, somebody else has newer blocks
    staged = store.documents.staged(encoder_name, ids)
    before: dict[str, set[str]] = {i: set() for i in ids}
    for old in index.blocks(ids):
        before[old.block.table_id].add(old.block.block_id)
    facts = store.access.of_tables(ids)
    gathered, said = _gathered(store, index, ids), store.narrations.of_tables(ids)
    contents = {}
    for i, item in tables.items():
        known = replace(facts.get(i, UNKNOWN_FACTS), prefix=prefixes.get(i, ""))
        evidence = _evidence(item, gathered.get(i), said.get(i, {}).values(), staged[i], known)
        contents[i] = TableContents(staged[i], evidence, known)
    finished, changed = [], []
    for i, item in tables.items():
        if item.table is not None:
            finished.append(Finished(i, item.table.schema_hash, len(staged[i])))
            blocks = {one.block.block_id for one in staged[i]}
            # An event for each unchanged table would be a flood.
            seen = item.indexed_row_count, item.indexed_schema_hash, before[i]
            if seen != (item.table.row_count, item.table.schema_hash, blocks):
                changed.append(item.table)
    store.queue.mark_unannounced(run_id, [table.table_id for table in changed])
    _replace(store, index, contents)
    store.conversations.forget_rows({*ids} - store.tables.unchanged(ids))
    store.access.mark_published(facts)
    on_indexed(changed)
    store.queue.finish(run_id, finished)
    kinds: Counter[str] = Counter(e.block.kind for embedded in staged.values() for e in embedded)
    return SearchIndexFigures(tables=len(ids), blocks=kinds)


def _replace(store: Store, index: SearchIndex, contents: Mapping[str, TableContents]) -> None:
    """Write tables; one whose terms are refused, first without its rows, then without any."""
    try:
        index.replace_tables(contents)
    except EvidenceRefusedError as error:
        refused = contents.get(error.table_id)
        if refused is None or refused.evidence == TableTerms():
            raise
        logger.warning("%s is indexed without its rows: %s", error.table_id, error)
        cause = f"cannot be found by its values: {error}"
        store.problems.record_of_tables(VALUES_STAGE, {error.table_id: cause})
        kept = replace(refused.evidence, rows=(), cells=())
        less = TableTerms() if kept == refused.evidence else kept
        _replace(store, index, {**contents, error.table_id: replace(refused, evidence=less)})


def _gathered(store: Store, index: SearchIndex, table_ids: Sequence[str]) -> dict[str, TableTerms]:
    """Return the terms of all rows of tables; of those embedded again alone, the index has them."""
    waiting = store.profiles.terms(table_ids)
    others = store.tables.unchanged(one for one in table_ids if one not in waiting)
    return waiting | index.evidence(sorted(others))


def _evidence(
    item: WorkItem,
    gathered: TableTerms | None,
    said: Iterable[Description],
    embedded: Sequence[EmbeddedBlock],
    facts: TableFacts,
) -> TableTerms:
    """Return a table's terms; what people wrote about it or its folder may spell its names out."""
    if item.table is None:
        return TableTerms()
    written = (one.text for one in said if one.provenance is not Provenance.PROFILE)
    kinds = (DocumentKind.CONTEXT, DocumentKind.FOLDER)
    texts = (one.block.text for one in embedded if one.block.kind in kinds)
    terms = table_terms(item.table, gathered or TableTerms(), written)
    return spell_out(terms, texts, facts.prefix)


def _prefixes(store: Store) -> dict[str, str]:
    readers = store.tables.readers(None)
    return name_prefixes({table_id: names_of(table_id) for table_id in readers}, readers)


def publish_metadata(store: Store, run_id: str, index: SearchIndex) -> int:
    """Bring the facts in the index to what the store says; returns of how many tables.

    The index is asked what it knows, which may be that of a copy. No model is asked, and no text
    written again; one that names a table that some of its readers may not see any more leaves the
    index first. Where the tables beside one tell another prefix of its name than before, it waits
    to be written again. Killed in between, it is done again by the next run.
    """
    prefixes = _prefixes(store)
    every = store.access.of_tables()
    wanted = {i: replace(one, prefix=prefixes.get(i, "")) for i, one in every.items()}
    known = index.facts(list(wanted))
    regranted = [i for i, facts in known.items() if wanted[i].readers != facts.readers]
    redact_names(store, run_id, index, known, regranted)
    respelled = {i for i, facts in known.items() if wanted[i].prefix != facts.prefix}
    store.queue.mark_for_embedding(run_id, sorted(respelled - store.queue.pending()))
    wanted |= {i: replace(wanted[i], prefix=known[i].prefix) for i in respelled}
    differing = {i: wanted[i] for i, facts in known.items() if wanted[i] != facts}
    if differing:
        index.set_facts(differing)
    if (
        store.access.unpublished()
    ):  # asked, since noting it of each table of a large lake takes long
        store.access.mark_published({table_id: wanted[table_id] for table_id in known})
    return len(differing)


class Removed(NamedTuple):
    """How many tables left, each counted by the one run that lets go of it."""

    removed: int = 0
    """Those that were searchable."""
    renamed: int = 0
    """Those that were searchable under a name that they do not have now."""
    forgotten: int = 0
    """Those that the state alone still knew: they could never be found, or were removed before and
    remembered as long as new tables of their source were not read."""


def remove_gone(
    store: Store, index: SearchIndex, on_removed: Callable[[Sequence[str]], None]
) -> Removed:
    """Take tables that left their source out of the index, then out of the store.

    Those that may not be read any more leave the index, too; the store keeps their problems.

    A table that the store does not know stays while its source is out of sight: a state that was
    lost begins anew, and has not listed every source yet.
    """
    indexed = index.list_tables()  # before the store: another run may add a table in between
    known = set(store.tables.listed())
    gone, renamed = store.removals.gone(), {*store.removals.renamed()}
    # Another run may let go of some, or see others leave, between two looks at the store.
    forgotten = {*gone} & {*store.removals.unsearchable()} - indexed.keys()
    strangers = store.listings.in_sight(i for i in indexed if i not in known)
    refused = [table_id for table_id in store.removals.retracted() if table_id in indexed]
    if gone or strangers or refused:
        index.delete_tables(sorted({*gone, *strangers, *refused}))
        on_removed([*gone, *refused])
        store.conversations.forget_rows([*gone, *refused])
        store.removals.note_renaming({*gone} & renamed - forgotten)
        store.removals.forget(gone)
    left = {*gone} - forgotten
    return Removed(len(left - renamed), len(left & renamed), len(forgotten))
