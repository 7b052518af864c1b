"""Fourth stage: pack documents into blocks, and embed these and the names of columns.

Pneuma, section 5.2; Octopus, section 4.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from pneuma_assets.core.describe.kinds import makers
from pneuma_assets.core.describe.packing import pack_blocks
from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.models.base import Encoder, is_elsewhere
from pneuma_assets.core.models.endpoint import RefusedError
from pneuma_assets.core.models.usage import counting
from pneuma_assets.core.pipeline.stage import Figures
from pneuma_assets.core.progress import report
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.problems import WAITS
from pneuma_assets.core.store.queue import Stage, WorkItem
from pneuma_assets.core.tables import Block, EmbeddedBlock, Vector
from pneuma_assets.core.terms.fields import spaced
from pneuma_assets.core.text.holding import without

CHUNK = 64
"""Tables packed at a time."""

AT_ONCE = 64
"""Texts embedded at a time; a killed run embeds at most these again, however large a table is."""
FAR_AT_ONCE = 256
"""Likewise of an endpoint, which is asked several requests at once."""

_HARMLESS = "a table"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingBlocksFigures(Figures):
    """What embedding the claimed tables did."""

    stage: ClassVar[str] = "embedding_blocks"

    tables: int = 0
    """Tables whose blocks wait for the index."""
    blocks: int = 0
    """Blocks of these."""
    embedded: int = 0
    """Different texts that the encoder was given."""
    reused: int = 0
    """The other blocks, whose text had an embedding."""
    characters: int = 0
    """Characters that the encoder was given."""
    tokens_read: int = 0
    """Tokens that an endpoint read."""


def embed_tables(
    store: Store, run_id: str, encoder: Encoder, index: SearchIndex
) -> EmbeddingBlocksFigures:
    """Pack and embed the documents of every claimed table (Pneuma, section 5.2).

    A text is embedded once, however many tables say it and in however many runs. Where the encoder
    is at an endpoint and fails, what has no embedding yet waits for a later run, and has a problem.
    """
    items = store.queue.take(run_id, Stage.NARRATED)
    figures = EmbeddingBlocksFigures()
    with counting() as used:
        for chunk in chunks(items, CHUNK):
            figures += _embed(store, run_id, encoder, index, chunk)
            report("embedding blocks", figures.tables, len(items))
    return figures + EmbeddingBlocksFigures(tokens_read=used.read)


def _embed(
    store: Store, run_id: str, encoder: Encoder, index: SearchIndex, items: Sequence[WorkItem]
) -> EmbeddingBlocksFigures:
    known = makers()  # the store may hold documents of kinds that are no longer made
    table_ids = [item.ref.table_id for item in items]
    hidden: dict[str, set[str]] = {}
    if is_elsewhere(encoder):
        hidden = {one.ref.table_id: one.table.hidden_names for one in items if one.table}
    documents = [
        replace(one, text=without(hidden.get(one.table_id, ()), one.text))
        for some in store.documents.of_tables(table_ids).values()
        for one in some
        if one.kind in known
    ]
    packed: dict[str, list[Block]] = {i: [] for i in table_ids}
    for block in pack_blocks(documents, encoder):
        packed[block.table_id].append(block)
    vectors = _known_vectors(store, encoder, index, packed)
    new = [text for text in _texts(packed) if text not in vectors]
    problem: ModelError | None = None
    for some in chunks(new, FAR_AT_ONCE if is_elsewhere(encoder) else AT_ONCE):
        try:
            made, refused = _accepted(encoder, some)
        except ModelError as error:  # it is away, or not as it is configured
            if not is_elsewhere(encoder):
                raise
            problem = error
            break
        problem = refused or problem
        store.embeddings.keep(encoder.name, _embedded(packed, made), more=True)
        vectors.update(made)
    left = {i: str(problem) for i in table_ids if any(b.text not in vectors for b in packed[i])}
    if left:
        logger.warning("%d tables wait for the encoder: %s", len(left), problem)
        store.problems.record_of_tables(WAITS, left)
        store.queue.complete_later(run_id, left, released=True)
        packed = {i: blocks for i, blocks in packed.items() if i not in left}
        table_ids = [*packed]
    embedded = _embedded(packed, vectors)
    store.embeddings.keep(encoder.name, embedded)
    with store.queue.holding(run_id, table_ids) as held:
        store.documents.stage(encoder.name, [(i, some) for i, some in embedded if i in held])
        store.queue.advance(run_id, Stage.EMBEDDED, held)
    blocks = sum(len(blocks) for blocks in packed.values())
    new = [text for text in new if text in vectors]
    return EmbeddingBlocksFigures(
        tables=len(table_ids),
        blocks=blocks,
        embedded=len(new),
        reused=blocks - len(new),
        characters=sum(map(len, new)),
    )


def _accepted(
    encoder: Encoder, texts: Sequence[str]
) -> tuple[dict[str, Vector], ModelError | None]:
    """Return embeddings, and why some texts have none: an endpoint may refuse one of many.

    Raises:
        ModelError: The encoder fails, or refuses all.
    """
    try:
        return dict(zip(texts, encoder.encode_documents(texts), strict=True)), None
    except RefusedError as error:
        if len(texts) == 1:
            encoder.encode_documents([_HARMLESS])  # where it refuses this, too, texts are no cause
            return {}, error
        half = len(texts) // 2
        first, second = _accepted(encoder, texts[:half]), _accepted(encoder, texts[half:])
        return first[0] | second[0], error


def _embedded(
    packed: Mapping[str, Sequence[Block]], vectors: Mapping[str, Vector]
) -> list[tuple[str, list[EmbeddedBlock]]]:
    return [
        (i, [EmbeddedBlock(b, vectors[b.text]) for b in blocks if b.text in vectors])
        for i, blocks in packed.items()
    ]


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
    return list(dict.fromkeys(block.text for blocks in packed.values() for block in blocks))


NAMES_VERSION = "1"
"""Raised where names are spelled otherwise."""

_NAMES_AT_ONCE = 512
"""Names looked up, embedded and kept at a time: 50,000 at once take 200 MB."""


def embed_column_names(store: Store, encoder: Encoder) -> int:
    """Save one embedding of each column name of searchable tables; returns how many are new.

    Without another table or encoder than last time nothing is done. Raises `ModelError`.
    """
    now = (NAMES_VERSION, encoder.name, *store.joins.stamp())
    if store.headers.made_of() == now:
        return 0
    tables, away = store.tables.profiles(store.tables.indexed()), is_elsewhere(encoder)
    told = [one for table in tables for one in table.columns if not (one.hidden and away)]
    names = sorted({spaced(one.name) for one in told} - {""})
    done = new = 0
    for some in chunks(names, _NAMES_AT_ONCE):
        known = store.headers.of(encoder.name, some)
        missing = [name for name in some if name not in known]
        known |= zip(missing, encoder.encode_documents(missing), strict=True)
        store.headers.keep(encoder.name, known)
        done, new = done + len(some), new + len(missing)
        report("embedding column names", done, len(names))
    store.headers.keep_only(encoder.name, names, now)
    return new


def embed_answered_questions(store: Store, encoder: Encoder) -> int:
    """Save the embedding of each question of which people judged an answer, that has none.

    Returns how many these are. Raises `ModelError`.
    """
    asked = {one.answer_id: one.question for one in store.usage.answers()}
    known = store.usage.vectors(encoder.name, set(asked.values()))
    missing = {i: question for i, question in asked.items() if question not in known}
    if missing:
        vectors = encoder.encode_queries(list(missing.values()))
        pairs = zip(missing.items(), vectors, strict=True)
        store.usage.keep_vectors(encoder.name, {i: (text, vector) for (i, text), vector in pairs})
    return len(missing)
