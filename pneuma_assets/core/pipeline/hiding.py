"""What was read before it was hidden leaves the state and the index, before anything else is done.

A table is touched only where another column of it is hidden now, so a new rule costs the tables
that it is about.
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.progress import report
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.sources.private.rules import Rules
from pneuma_assets.core.sources.private.source import rules_of
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import Table, source_of

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Change:
    """The tables of which more is hidden than before, and those of which only less is.

    `named` are the schemas of those of which names are hidden, too.
    """

    more: Sequence[str]
    less: Sequence[str]
    named: Sequence[str]


def rules_that_changed(store: Store, rules: Sequence[tuple[str, Rules]]) -> list[str]:
    """Return the sources whose rules are others than those that their tables were read by."""
    noted = store.privacy.rules()
    return [name for name, one in rules if noted.get(name, "") != one.digest]


def apply_rules(
    store: Store, index: SearchIndex, indexed: Collection[str], sources: Sequence[Source]
) -> list[str]:
    """Forget what is hidden now of tables that were read by other rules, and let them wait.

    They are found again when they have been read anew, in this run or a later one. Killed before
    the end, the next run begins with the same.

    Args:
        store: What is known of tables.
        index: This deployment's own.
        indexed: The tables in it.
        sources: All sources of the deployment.

    Returns:
        The tables that left the index.
    """
    rules = {source.name: rules_of(source) for source in sources}
    changed = {name: rules[name] for name in rules_that_changed(store, list(rules.items()))}
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
    if found.named:
        store.headers.forget()
    store.queue.mark_pending(found.less, sample=True)
    store.privacy.use_rules({name: one.digest for name, one in changed.items()})
    if found.more:
        logger.warning(
            "Rules of privacy have changed: what was read of %d tables is forgotten, and they are "
            "read anew. Dagster's logs of earlier runs still hold what they showed of it: "
            "docs/privacy.md says how to delete them",
            len(found.more),
        )
    return removed


def forget_newly_hidden(store: Store, tables: Sequence[Table]) -> None:
    """Forget what was made of the rows of tables of which another column is hidden now.

    Such as one that was tagged in the warehouse, or was given a hidden name: the rules are the
    same.
    """
    now = {table.table_id: table for table in tables if any(one.hidden for one in table.columns)}
    before = store.tables.profiles(now)
    store.privacy.forget_rows(
        [one.table_id for one in before if _hides_more(one, _hidden_names(now[one.table_id]))]
    )


def _compare(store: Store, changed: dict[str, Rules]) -> _Change:
    table_ids = store.privacy.tables_of(changed)
    profiles = {table.table_id: table for table in store.tables.profiles(table_ids)}
    more, less, named = [], [], []
    for table_id in table_ids:
        table, rules = profiles.get(table_id), changed[source_of(table_id)]
        if table is None:  # why it could not be read may quote its cells
            more.append(table_id)
            continue
        hidden = rules.hidden(table_id, table.columns)
        names = {table.columns[at].name for at in hidden}
        if names and rules.config.hide_names:
            named.append(table.schema_hash)
            more.append(table_id)
        elif _hides_more(table, names):
            more.append(table_id)
        elif any(column.hidden and column.name not in names for column in table.columns):
            less.append(table_id)
    return _Change(more, less, named)


def _hidden_names(table: Table) -> set[str]:
    return {column.name for column in table.columns if column.hidden}


def _hides_more(before: Table, hidden: Collection[str]) -> bool:
    return not _hidden_names(before).issuperset(hidden)
