"""Last stages: pack documents into blocks, embed them, and make tables searchable."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from pneuma_assets.core.documents.packing import pack_blocks
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.progress import report
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.records import Finished, WorkItem
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, Table, Vector

CHUNK = 64
"""Tables embedded, and made searchable, at a time; a killed run loses at most these."""

_ALWAYS_COUNTED = (DocumentKind.SCHEMA, DocumentKind.ROWS, DocumentKind.CONTEXT)


def embed_tables(
    store: Store, run_id: str, encoder: Encoder, index: SearchIndex
) -> dict[str, float]:
    """Pack and embed the documents of every claimed table (Pneuma, section 5.2).

    A text is embedded once, however many tables say it and in however many runs.
    """
    items = [item for item in store.work.claimed(run_id) if item.table is not None]
    figures = dict.fromkeys(("tables", "blocks", "embedded", "reused", "characters"), 0.0)
    for chunk in chunks(items, CHUNK):
        ids = [item.ref.table_id for item in chunk]
        packed = {i: pack_blocks(store.documents.of_table(i), encoder) for i in ids}
        vectors = _known_vectors(store, encoder, index, packed)
        new = [text for text in _texts(packed) if text not in vectors]
        if new:
            vectors.update(zip(new, encoder.encode_documents(new), strict=True))
        embedded = [(i, [EmbeddedBlock(b, vectors[b.text]) for b in packed[i]]) for i in ids]
        store.embeddings.keep(encoder.name, embedded)
        store.documents.stage(encoder.name, embedded)
        blocks = sum(len(blocks) for blocks in packed.values())
        figures["tables"] += len(chunk)
        figures["blocks"] += blocks
        figures["embedded"] += len(new)
        figures["reused"] += blocks - len(new)
        figures["characters"] += sum(map(len, new))
        report("embedding blocks", int(figures["tables"]), len(items))
    return figures


def _known_vectors(
    store: Store, encoder: Encoder, index: SearchIndex, packed: Mapping[str, Sequence[Block]]
) -> dict[str, Vector]:
    """Return embeddings by text; what is not kept may stand in the index at the same table."""
    known = store.embeddings.known(encoder.name, _texts(packed))
    lacking = [i for i, blocks in packed.items() if any(b.text not in known for b in blocks)]
    if lacking:
        known = {e.block.text: e.vector for e in index.blocks(lacking)} | known
    return known


def _texts(packed: Mapping[str, Sequence[Block]]) -> list[str]:
    """Return the different texts, in order."""
    return list(dict.fromkeys(block.text for blocks in packed.values() for block in blocks))


def index_tables(
    store: Store,
    run_id: str,
    encoder_name: str,
    index: SearchIndex,
    on_indexed: Callable[[Table], None],
) -> dict[str, float]:
    """Make every claimed table searchable as one act each, and tell `on_indexed` what changed.

    Killed before the store knows of it, a table is indexed and told of once more by the next run,
    which changes nothing.
    """
    items = [item for item in store.work.claimed(run_id) if item.table is not None]
    done = 0
    counts = Counter(dict.fromkeys(_ALWAYS_COUNTED, 0))
    for chunk in chunks(items, CHUNK):
        staged = {
            item.ref.table_id: store.documents.staged(encoder_name, item.ref.table_id)
            for item in chunk
        }
        before = _block_ids(index.blocks(list(staged)))
        index.replace_tables(staged)
        for item in chunk:
            embedded = staged[item.ref.table_id]
            if item.table is not None and _is_news(item, embedded, before):
                on_indexed(item.table)
            for one in embedded:
                counts[one.block.kind] += 1
        store.work.finish(run_id, _finished(chunk, staged))
        done += len(chunk)
        report("writing the index", done, len(items))
    users = store.embeddings.tables()  # before the store: another run may add a table in between
    store.embeddings.prune(store.listings.in_sight(users - store.work.known()))
    return {"tables": done, **{f"{kind} blocks": count for kind, count in counts.items()}}


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


def remove_gone(
    store: Store, index: SearchIndex, on_removed: Callable[[Sequence[str]], None]
) -> int:
    """Take tables that left their source out of the index, then out of the store.

    Those that may not be read any more leave the index, too; the store keeps their problems.

    A table that the store does not know stays while its source is out of sight: a state that was
    lost begins anew, and has not listed every source yet.
    """
    indexed = index.list_tables()  # before the store: another run may add a table in between
    known = set(store.work.listed())
    gone = store.work.gone()
    strangers = store.listings.in_sight(i for i in indexed if i not in known)
    refused = [table_id for table_id in store.work.taken_back() if table_id in indexed]
    if gone or strangers or refused:
        index.delete_tables(sorted({*gone, *strangers, *refused}))
        on_removed([*gone, *refused])
        store.work.forget(gone)
    return len(gone)
