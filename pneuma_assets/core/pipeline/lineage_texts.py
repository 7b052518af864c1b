"""Texts that name the tables a table is built from and feeds, and who may see these.

A text that names a table which was hidden since leaves the index before the index is told so.
"""

from collections.abc import Collection, Mapping, Sequence

from pneuma_assets.core.describe.kinds import documents_of
from pneuma_assets.core.describe.texts import LinkedTable
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import SearchIndex, TableContents
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import (
    Document,
    DocumentKind,
    EmbeddedBlock,
    TableFacts,
    TableTerms,
)

CHUNK = 64
"""Tables that are written at once."""


def lineage_texts(store: Store, table_ids: Sequence[str]) -> dict[str, list[Document]]:
    """Return the documents about the lineage of tables, of those that have any.

    A neighbour is named only where all who may see the table may see the neighbour, too.
    """
    above: dict[str, set[str]] = {}
    below: dict[str, set[str]] = {}
    edges = [edge for edge in store.edges.of_tables(table_ids) if edge.derives]
    for edge in edges:
        if edge.upstream != edge.downstream:
            above.setdefault(edge.downstream, set()).add(edge.upstream)
            below.setdefault(edge.upstream, set()).add(edge.downstream)
    readers = store.edges.readers({end for e in edges for end in (e.upstream, e.downstream)})
    found: dict[str, list[Document]] = {}
    for table_id in table_ids:
        linked = LinkedTable(
            table_id,
            *(
                [one for one in sorted(ends.get(table_id, ())) if may_name(readers, table_id, one)]
                for ends in (above, below)
            ),
        )
        documents = documents_of(linked).get(DocumentKind.LINEAGE, [])
        if documents:
            found[table_id] = documents
    return found


def may_name(readers: Mapping[str, frozenset[str] | None], table: str, other: str) -> bool:
    """Tell whether all who may see a table may see another one, too."""
    may_see_other, may_see = readers.get(other), readers.get(table)
    if may_see_other is None:
        return True
    return may_see is not None and may_see <= may_see_other


def redact_names(
    store: Store,
    run_id: str,
    index: SearchIndex,
    known: Mapping[str, TableFacts],
    regranted: Collection[str],
) -> list[str]:
    """Take texts that name what not all of their readers may see out of store and index.

    Their tables, which are returned, wait for the encoder, and get a text again that names what it
    may. Done before the index is told of other readers, it may be killed anywhere.

    Args:
        store: Knows who may see a table now.
        run_id: Whose claims are not disturbed.
        index: Where such texts may still be.
        known: Of the tables in the index, what it was told last.
        regranted: Those of which it is to be told other readers: what waits for the encoder may
            name such a table in a text that is not the store's any more.
    """
    hidden = _hidden_neighbours(store)
    news = store.queue.pending() if regranted else set()
    if hidden:
        own = store.link(run_id, (), (), lambda ids: lineage_texts(store, ids), also=hidden.keys())
        news |= own | _whose_readers_are_others(store, hidden, known)
    left: list[str] = []
    for some in chunks(sorted(news & known.keys()), CHUNK):
        left += _rewrite(store, index, some, known)
    if left:
        store.queue.mark_for_embedding(run_id, left)
    return left


def _hidden_neighbours(store: Store) -> dict[str, set[str]]:
    """Return the neighbours that a table's text must not name, of tables that have such."""
    pairs = [(up, down) for down, ups in store.edges.derived().items() for up in ups]
    readers = store.edges.readers({end for pair in pairs for end in pair})
    found: dict[str, set[str]] = {}
    for up, down in pairs:
        for table, other in ((up, down), (down, up)):
            if not may_name(readers, table, other):
                found.setdefault(table, set()).add(other)
    return found


def _whose_readers_are_others(
    store: Store, hidden: Mapping[str, Collection[str]], known: Mapping[str, TableFacts]
) -> set[str]:
    """Return the tables of which, or of whose hidden neighbours, the index knows other readers."""
    readers = store.edges.readers({*hidden, *(one for some in hidden.values() for one in some)})
    others = {
        table_id
        for table_id, facts in known.items()
        if table_id in readers
        and (None if facts.readers is None else frozenset(facts.readers)) != readers[table_id]
    }
    return {table for table, some in hidden.items() if table in others or others & {*some}}


def _rewrite(
    store: Store, index: SearchIndex, table_ids: Sequence[str], known: Mapping[str, TableFacts]
) -> list[str]:
    """Leave texts about lineage that the store lacks out of the index; returns of which tables."""
    said = store.documents.of_kind(DocumentKind.LINEAGE, table_ids)
    blocks: dict[str, list[EmbeddedBlock]] = {}
    for one in index.blocks(table_ids):
        blocks.setdefault(one.block.table_id, []).append(one)
    kept = {
        table_id: [
            one
            for one in some
            if one.block.kind != DocumentKind.LINEAGE  # a long text is in pieces
            or any(one.block.text in text for text in said.get(table_id, ()))
        ]
        for table_id, some in blocks.items()
    }
    less = sorted(table_id for table_id, some in kept.items() if len(some) < len(blocks[table_id]))
    if less:
        evidence = index.evidence(less)
        index.replace_tables(
            {i: TableContents(kept[i], evidence.get(i, TableTerms()), known[i]) for i in less}
        )
    return less
