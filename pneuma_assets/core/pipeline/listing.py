"""First stages: list every source, claim what changed, read profiles, contexts and rows."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from pneuma_assets.core.config.deployment import IndexingConfig, SamplingConfig
from pneuma_assets.core.documents.rows import row_documents
from pneuma_assets.core.errors import (
    AccessRefusedError,
    PneumaError,
    SearchIndexError,
    SourceError,
    TableReadError,
)
from pneuma_assets.core.progress import report
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.records import Reconciliation, Sampled, WorkItem
from pneuma_assets.core.tables import Document, DocumentKind, Problem, Table, source_of

logger = logging.getLogger(__name__)

CHUNK = 64
"""Tables kept in the store at a time; a killed run loses at most these."""


@dataclass(frozen=True, slots=True)
class Listed:
    """What listing every source showed."""

    tables: int
    new: int
    changed: int
    unchanged: int
    gone: int
    unreachable: int


def list_sources(store: Store, sources: Sequence[Source]) -> Listed:
    """List every source and bring the work list up to date.

    A source that cannot be listed keeps its tables and becomes a problem. Raises `SourceError`
    if no source could be listed.
    """
    found: list[Reconciliation] = []
    failures: list[str] = []
    for number, source in enumerate(sources, 1):
        try:
            listing = source.list_tables(store.work.ids(source.name))
        except SourceError as error:
            failures.append(str(error))
            store.record_problems(
                source.name, "listing", [Problem(source.name, "listing", str(error))]
            )
            continue
        store.record_problems(source.name, "listing", listing.problems)
        found.append(store.work.reconcile(source.name, listing.tables, listing.unlisted))
        report("listing sources", number, len(sources))
    if failures and not found:
        raise SourceError(" ".join(failures))
    return Listed(
        tables=sum(r.new + r.changed + r.unchanged for r in found),
        new=sum(r.new for r in found),
        changed=sum(r.changed for r in found),
        unchanged=sum(r.unchanged for r in found),
        gone=sum(r.gone for r in found),
        unreachable=len(failures),
    )


def begin_run(
    store: Store,
    run_id: str,
    sources: Sequence[Source],
    config: IndexingConfig,
    *,
    configured: Sequence[str],
    recipe: str,
    indexed: Mapping[str, int],
    everything: bool = False,
    retry: bool = False,
) -> dict[str, float]:
    """List the sources and claim the tables that this run works on.

    Args:
        store: Where the work list is kept.
        run_id: Whose claims these are; its lock must be held (`Runs.alive`).
        sources: What to list; tables of other configured sources are left as they are.
        config: How much to claim.
        configured: Names of all sources of the deployment; tables of others are gone.
        recipe: What decides how tables are represented; another one makes every table wait.
        indexed: Number of blocks of each table in the index, to notice what it lost.
        everything: Let every table of these sources wait, changed or not.
        retry: Try failed tables again, however often they failed.

    Raises:
        SourceError: There is no source, or none can be listed.
    """
    if not sources:
        raise SourceError(
            "There is no source to index; name a folder (pneuma-assets index FOLDER) or add one "
            "to the deployment file."
        )
    store.work.use_recipe(recipe)
    dropped = store.work.drop_sources(configured)
    listed = list_sources(store, sources)
    names = [source.name for source in sources]
    records = store.work.records()
    if everything:
        store.narrations.forget_empty()
        store.work.let_wait((r.table_id for r in records if r.source in names), sample=True)
    if retry:
        store.work.retry(names)
    lost = [
        r.table_id
        for r in records
        if r.indexed_at is not None and indexed.get(r.table_id) != r.block_count
    ]
    store.work.let_wait(lost)
    store.work.release_claims(run_id)
    for table_id in store.work.deadly(config.max_attempts):
        cause = f"reading it killed the run {config.max_attempts} times; repair or remove the file"
        store.work.fail(Problem(table_id, "profile", cause))
    claimed = store.work.claim(run_id, config.tables_per_run, config.max_attempts, names)
    store.runs.begin(run_id)
    waiting = store.work.waiting(names)
    figures = asdict(listed)
    figures["gone"] += dropped
    return {**figures, "lost": len(lost), "claimed": claimed, "waiting": waiting}


def check_owner(store: Store, indexed: Mapping[str, int], configured: Sequence[str]) -> None:
    """Refuse an index with tables of sources that this deployment does not have and never had.

    Two deployments that share an index by mistake would remove each other's tables for ever.

    Raises:
        SearchIndexError: There are such tables.
    """
    known = store.work.known()
    strange = {source_of(i) for i in indexed if i not in known} - set(configured)
    if strange:
        raise SearchIndexError(
            f"The search index holds tables of {', '.join(sorted(strange)[:5])}, which this "
            "deployment does not know: another one uses the same index. Give each its own "
            "index.elasticsearch.name; or, to remove those tables, run "
            "'pneuma-assets index --rebuild'."
        )


def profile_tables(store: Store, run_id: str, sources: Sequence[Source]) -> dict[str, float]:
    """Read columns, number of rows and contexts of every claimed table."""
    by_name = {source.name: source for source in sources}
    items = store.work.claimed(run_id)
    profiled: list[tuple[Table, list[Document]]] = []
    totals = {"profiled": 0.0, "columns": 0.0, "rows": 0.0, "contexts": 0.0}
    if items:
        report("reading profiles", 0, len(items))
    for done, item in enumerate(items, 1):
        store.runs.reading(run_id, item.ref.table_id)
        with one_table(store, item, "profile"):
            table, documents = _profile(store, by_name, item)
            profiled.append((table, documents))
            totals["profiled"] += 1
            totals["columns"] += len(table.columns)
            totals["rows"] += table.row_count
            totals["contexts"] += len(documents)
        if len(profiled) >= CHUNK or done == len(items):
            store.work.save_profiles(run_id, [table for table, _ in profiled])
            store.documents.replace(
                DocumentKind.CONTEXT, [(table.table_id, texts) for table, texts in profiled]
            )
            profiled.clear()
        report("reading profiles", done, len(items))
    store.runs.reading(run_id, None)
    return totals


def _profile(
    store: Store, sources: Mapping[str, Source], item: WorkItem
) -> tuple[Table, list[Document]]:
    source = _source(sources, item)
    table = source.profile(item.ref, item.sampled)
    contexts = source.contexts(item.ref)
    store.record_table_problem(table.table_id, "contexts", "; ".join(contexts.problems) or None)
    documents = [Document(table.table_id, DocumentKind.CONTEXT, text) for text in contexts.texts]
    return table, documents


def sample_tables(
    store: Store,
    run_id: str,
    sources: Sequence[Source],
    sampling: SamplingConfig,
    indexing: IndexingConfig,
) -> dict[str, float]:
    """Let rows that are in their table stand for it (Pneuma, sections 4 and 5.2).

    Drawn anew are all rows of a table that changed enough, and of any other those that left it.
    """
    by_name = {source.name: source for source in sources}
    items = [item for item in store.work.claimed(run_id) if item.table is not None]
    figures = {"tables": 0.0, "rows": 0.0, "kept": 0.0}
    samples: list[Sampled] = []
    for done, item in enumerate(items, 1):
        store.runs.reading(run_id, item.ref.table_id)
        with one_table(store, item, "sample"):
            sample = _sample(_source(by_name, item), item, sampling, indexing.row_change)
            if sample is None:
                figures["kept"] += 1
            else:
                samples.append(sample)
                figures["tables"] += 1
                figures["rows"] += len(sample.rows)
        if len(samples) >= CHUNK or done == len(items):
            store.work.save_samples(run_id, samples)
            samples.clear()
        report("sampling rows", done, len(items))
    store.runs.reading(run_id, None)
    return figures


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
        documents=row_documents(item.table, (row.cells for row in rows)),
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


def _source(sources: Mapping[str, Source], item: WorkItem) -> Source:
    try:
        return sources[item.ref.source]
    except KeyError:
        raise TableReadError(
            f"The source {item.ref.source!r} is not configured; add it to the deployment file."
        ) from None


@contextmanager
def one_table(store: Store, item: WorkItem, stage: str) -> Iterator[None]:
    """Turn whatever goes wrong with one table into its recorded problem; the others go on."""
    table_id = item.ref.table_id
    try:
        yield
    except (TableReadError, SourceError) as error:  # its part of the source may have gone
        logger.warning("%s: %s", table_id, error)
        store.work.fail(Problem(table_id, stage, str(error)))
        if isinstance(error, AccessRefusedError):
            store.work.take_back(table_id)
    except PneumaError:
        raise
    except Exception as error:  # one hostile table must not stop two thousand others
        logger.exception("Reading %s failed in a way nobody foresaw", table_id)
        cause = " ".join(f"Unexpected {type(error).__name__}: {error}".split())[:500]
        store.work.fail(Problem(table_id, stage, f"{cause}; please report this file."))
