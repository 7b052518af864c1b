"""Packing a table's documents into blocks that fill the encoder's window (Pneuma, section 5.2).

One embedding a block instead of one a document makes the index smaller and quicker to build, and
a text that fits the window is read whole: encoders cut off silently what exceeds it.
"""

from collections.abc import Iterator, Sequence

from pneuma_assets.core.grouping import portions
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.tables import Block, Document, DocumentKind
from pneuma_assets.core.text.safe import well_formed
from pneuma_assets.core.text.sentences import Piece, pieces

SEPARATOR = "\n"
"""Stands between the documents of a block; most encoders read it as no token at all."""

_BATCH_CHARACTERS = 1_000_000
"""Text tokenized at once; token positions take some fifty times the memory of their text."""


def pack_blocks(documents: Sequence[Document], encoder: Encoder) -> list[Block]:
    """Join documents of the same table and kind, in order, into blocks within the window.

    A document longer than the window is split, best between lines, cells, sentences or words;
    only whitespace at a cut is lost. A shorter one is never split. Equal blocks of a table become
    one. A document in which the encoder sees no token (blank, control characters) says nothing to
    either side of the search and is left out.

    Blocks come in the order of their first documents. What was joined or split is tokenized once
    more, because a tokenizer may read a joined text as more tokens than its parts.
    """
    groups: dict[tuple[str, DocumentKind], list[Piece]] = {}
    for document, cut in _tokenized(documents, encoder):
        groups.setdefault((document.table_id, document.kind), []).extend(cut)
    joint = _joint_tokens(encoder)
    packed = [
        Document(table_id, kind, text)
        for (table_id, kind), cut in groups.items()
        for text in _join(cut, encoder.window, joint)
    ]
    blocks = (
        Block(document.table_id, document.kind, text)
        for document, cut in _tokenized(packed, encoder)
        for text, _ in cut
    )
    return list(dict.fromkeys(blocks))


def _tokenized(
    documents: Sequence[Document], encoder: Encoder
) -> Iterator[tuple[Document, list[Piece]]]:
    """Yield each document with its text in pieces that fit the window; no token, no piece."""
    sizes = {number: len(document.text) for number, document in enumerate(documents)}
    for numbers in portions(sizes, _BATCH_CHARACTERS):
        batch = [documents[number] for number in numbers]
        texts = [well_formed(document.text).strip() for document in batch]
        for document, text, spans in zip(batch, texts, encoder.token_spans(texts), strict=True):
            yield document, pieces(text, spans, encoder.window, encoder.token_spans)


def _join(cut: Sequence[Piece], window: int, joint: int) -> Iterator[str]:
    """Join pieces in order, each block taking the next one while it has room."""
    sizes = {place: tokens + joint for place, (_, tokens) in enumerate(cut)}
    for places in portions(sizes, window + joint):
        yield SEPARATOR.join(cut[place][0] for place in places)


def _joint_tokens(encoder: Encoder) -> int:
    """Return how many tokens the separator adds between two documents."""
    joined, alone = encoder.token_spans([f"a{SEPARATOR}a", "a"])
    return max(0, len(joined) - 2 * len(alone))
