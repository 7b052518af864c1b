"""Reading the profile of every claimed table and what people wrote about it, and hiding columns.

What was read before it was hidden leaves the state and the index before anything else is done, of
the tables alone of which another column is hidden now.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pneuma_assets.core.describe.columns import read_descriptions
from pneuma_assets.core.describe.kinds import documents_of
from pneuma_assets.core.describe.texts import ReadTable
from pneuma_assets.core.errors import AccessRefusedError, TableReadError
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.pipeline.list import RawTablesFigures
from pneuma_assets.core.pipeline.stage import SourcesByName, isolate_failures, save_documents
from pneuma_assets.core.progress import report
from pneuma_assets.core.sources.base import Contexts, Source, unread_of
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.problems import ROWS
from pneuma_assets.core.store.queue import Stage, WorkItem
from pneuma_assets.core.tables import Description, Document, DocumentKind, Table, source_of

logger = logging.getLogger(__name__)

CHUNK = 64
"""Tables saved in the store at a time; a killed run reads at most these again."""

MOST_ROWS = 2**63 - 1
"""What a database counts to; a table's own files may say any number."""


class _Read(NamedTuple):
    """One table's profile, what people wrote of it, and what of that could not be read."""

    table: Table
    contexts: Contexts
    documents: Mapping[DocumentKind, Sequence[Document]]
    described: Sequence[tuple[int, Description]]


def profile_tables(store: Store, run_id: str, sources: Sequence[Source]) -> RawTablesFigures:
    """Read columns, number of rows and contexts of every claimed table."""
    by_name = SourcesByName(sources)
    items = store.queue.claimed(run_id, Stage.LISTED)
    figures, done = RawTablesFigures(), 0
    for chunk in chunks(items, CHUNK):
        read: dict[str, _Read] = {}
        for item in chunk:
            report("reading profiles", done, len(items))
            store.runs.reading(run_id, item.ref.table_id)
            with isolate_failures(store, run_id, item, "profile"):
                read[item.ref.table_id] = _read(by_name.of(item), item)
            done += 1
        figures += _save(store, run_id, read)
        report("reading profiles", done, len(items))
    return figures


def _read(source: Source, item: WorkItem) -> _Read:
    table = source.profile(item.ref, item.sampled)
    if table.row_count > MOST_ROWS:
        raise TableReadError(
            f"It says that it has {table.row_count} rows, more than there can be; repair its "
            "metadata, such as the statistics in its log."
        )
    said = _contexts(source, item)
    documents = documents_of(ReadTable(table, said.texts, said.of_folder))
    return _Read(table, said, documents, read_descriptions(table, said.glossaries))


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


def _save(store: Store, run_id: str, read: Mapping[str, _Read]) -> RawTablesFigures:
    store.runs.reading(run_id, None)  # a kill from here on is no table's fault
    tables = [one.table for one in read.values()]
    forget_newly_hidden(store, tables)
    with save_documents(store, run_id, {i: one.documents for i, one in read.items()}) as held:
        store.queue.save_profiles(run_id, tables)
        store.descriptions.replace((i, read[i].described) for i in held)
        unread = {i: "; ".join(read[i].contexts.problems) or None for i in held}
        store.problems.record_of_tables("contexts", unread)
        lost = {i: unread_of(read[i].table.notes) for i in held}
        told = {i: f"{note}; mend the file" if note else None for i, note in lost.items()}
        store.problems.record_of_tables(ROWS, told)
    for table_id, note in lost.items():
        if note:
            logger.warning("%s: %s", table_id, note)
    return RawTablesFigures(
        profiled=len(tables),
        columns=sum(len(table.columns) for table in tables),
        rows=sum(table.row_count for table in tables),
        contexts=sum(len(one.contexts.texts) for one in read.values()),
        not_whole=sum(map(bool, lost.values())),
    )


@dataclass(frozen=True, slots=True)
class _Change:
    """Tables of which more is hidden than before, and those of which only less is.

    `named` are the schema hashes of those of which names are hidden, too.
    """

    more: list[str] = field(default_factory=list)
    less: list[str] = field(default_factory=list)
    named: list[str] = field(default_factory=list)


def rules_that_changed(store: Store, rules: Mapping[str, Rules]) -> list[str]:
    """Return the sources whose rules are others than those that their tables were read by."""
    saved = store.privacy.rules()
    return [name for name, one in rules.items() if saved.get(name, "") != one.digest]


def apply_rules(
    store: Store, index: SearchIndex, indexed: Collection[str], sources: Sequence[Source]
) -> list[str]:
    """Forget what is hidden now of tables that were read by other rules, and requeue them.

    Killed before the end, the next run begins with the same. Returns what left the index.
    """
    rules = {source.name: source.rules for source in sources}
    changed = {name: rules[name] for name in rules_that_changed(store, rules)}
    if not changed:
        return []
    found = _compare(store, changed)
    known = store.tables.known()  # of any other, nobody can tell what was hidden of it
    strangers = {i for i in indexed if source_of(i) in changed and i not in known}
    removed = sorted({*found.more, *strangers} & {*indexed})
    if removed:
        report("taking hidden values out of the index", 0, 0)
        index.delete_tables(removed)
        index.optimise()  # or what was removed is still in its files
    store.privacy.forget_names(found.named)
    store.privacy.forget(found.more)
    store.embeddings.prune(found.more)
    # Whose names were hidden nobody can tell any more where a run was killed here.
    if found.more and any(one.config.hide_names for one in changed.values()):
        store.headers.forget()
    store.queue.mark_pending(found.less, sample=True)
    store.privacy.use_rules({name: one.digest for name, one in changed.items()})
    if found.more:
        logger.warning(
            "Rules of privacy have changed: what was read of %d tables is forgotten, and they are "
            "read again. Dagster's logs of earlier runs still hold what they showed of it: "
            "docs/privacy.md says how to delete them",
            len(found.more),
        )
    return removed


def forget_newly_hidden(store: Store, tables: Sequence[Table]) -> None:
    """Forget what was made of rows of tables of which the same rules hide another column now."""
    now = {table.table_id: table for table in tables if any(one.hidden for one in table.columns)}
    if not now:
        return
    hidden = {table_id: _hidden_names(table) for table_id, table in now.items()}
    before = [one for one in store.tables.profiles(now) if _hides_more(one, hidden[one.table_id])]
    renamed = [one for one in before if hidden[one.table_id] - {c.name for c in one.columns}]
    if renamed:  # their columns' names are hidden, too
        store.privacy.forget_names([one.schema_hash for one in renamed])
    store.privacy.forget_rows([one.table_id for one in before])


def _compare(store: Store, changed: Mapping[str, Rules]) -> _Change:
    table_ids = store.privacy.tables_of(changed)
    profiles = {table.table_id: table for table in store.tables.profiles(table_ids)}
    found = _Change()
    for table_id in table_ids:
        table, rules = profiles.get(table_id), changed[source_of(table_id)]
        if table is None:  # why it could not be read may quote its cells
            found.more.append(table_id)
            continue
        names = {table.columns[at].name for at in rules.hidden(table_id, table.columns)}
        if names and rules.config.hide_names:
            found.named.append(table.schema_hash)
            found.more.append(table_id)
        elif _hides_more(table, names):
            found.more.append(table_id)
        elif _hidden_names(table) - names:
            found.less.append(table_id)
    return found


def _hidden_names(table: Table) -> set[str]:
    return {column.name for column in table.columns if column.hidden}


def _hides_more(before: Table, hidden: Collection[str]) -> bool:
    return not _hidden_names(before).issuperset(hidden)
