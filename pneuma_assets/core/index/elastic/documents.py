"""Blocks and tables as documents of the index, and back."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pneuma_assets.core.errors import IndexDamagedError
from pneuma_assets.core.index.base import TableContents
from pneuma_assets.core.index.checked import check_blocks, check_facts
from pneuma_assets.core.index.elastic.counted import counted_fields
from pneuma_assets.core.index.elastic.evidence import checked_text, sources_of
from pneuma_assets.core.index.elastic.mapping import TERMS
from pneuma_assets.core.index.elastic.text import escape, unescape
from pneuma_assets.core.index.facts_text import facts_from, facts_text
from pneuma_assets.core.index.identity import REBUILD
from pneuma_assets.core.tables import (
    Block,
    DocumentKind,
    EmbeddedBlock,
    TableFacts,
    TableTerms,
    Vector,
    content_hash,
    source_of,
)
from pneuma_assets.core.terms.fields import TERM_RULES
from pneuma_assets.core.text.analysis import Analyzer

BLOCK, TABLE, FACTS, STATE = "block", "table", "facts", "state"
STATE_ID = "state"
BLOCK_FIELDS = ("table_id", "kind", "text")
TABLE_FIELDS = ("table_id", "generation", "blocks", "documents", "digest")
FACTS_FIELDS = ("table_id", "generation", "facts")

Action = dict[str, Any]
"""One operation for the client's bulk helpers."""

_WRITTEN = {"version": 1, "version_type": "external_gte"}
_REMOVED = {"version": 2, "version_type": "external_gte"}
"""A request that was given up, sent again, and is carried out late finds a higher version: it does
not bring back what was removed since. Remembered as long as `mapping.settings_of` says."""

_UNIT = 1e-6  # float32's own rounding of a normalised vector


@dataclass(frozen=True, slots=True)
class Checked:
    """One table's contents, ready to be written.

    Attributes:
        blocks: By block id.
        evidence: As it was given.
        text: What is stored of it; None where there is none.
        facts: What is known of the table as a whole; not part of the digest, since they are told
            anew without the texts.
    """

    blocks: Mapping[str, EmbeddedBlock]
    evidence: TableTerms
    text: str | None
    facts: TableFacts

    @property
    def digest(self) -> str:
        """Name these contents and how they are searched, vectors included, in 32 hex digits."""
        blocks = (
            part
            for block_id in sorted(self.blocks)
            for part in (block_id, self.blocks[block_id].vector.tobytes().hex())
        )
        evidence = () if self.text is None else (self.text, str(TERM_RULES))
        return content_hash(*blocks, *evidence)


def checked(table_id: str, contents: TableContents, dimension: int) -> Checked:
    """Return contents that can be written.

    Raises:
        SearchIndexError: They cannot; the message says why.
    """
    blocks = check_blocks(table_id, contents.blocks, dimension)
    text = checked_text(table_id, contents.evidence)
    return Checked(blocks, contents.evidence, text, check_facts(table_id, contents.facts))


def unit(vector: Vector) -> Vector:
    """Return a vector of exactly unit length, which a dot product asks for; a good one as it is.

    Encoders in half precision are a little off; what is stored is what is compared.
    """
    length = np.linalg.norm(vector.astype(np.float64))
    return vector if abs(length - 1.0) < _UNIT else (vector / length).astype(np.float32)


def actions_of(
    table_id: str, contents: Checked, digest: str, generation: int, analyzer: Analyzer
) -> Iterator[Action]:
    """Yield what writes one table: its blocks, its evidence, and a record that counts them."""

    def action(name: str, source: Mapping[str, Any]) -> Action:
        return _written(name, table_id, generation, source)

    for block_id, item in contents.blocks.items():
        yield action(block_id, _block_source(item, analyzer))
    documents = 0
    if contents.text is not None:
        for name, source in sources_of(contents.evidence, contents.text, analyzer):
            yield action(name, source)
            documents += 1
    counts = {"blocks": len(contents.blocks), "documents": documents}
    yield action(TABLE, {"doc": TABLE, **counts, "digest": digest})


def facts_action(table_id: str, facts: TableFacts, generation: int) -> Action:
    """Return what writes the facts of one table; a generation of their own lets them change."""
    source = {"doc": FACTS, "facts": escape(facts_text(facts))}
    return _written(FACTS, table_id, generation, source)


def facts_of(hit: Mapping[str, Any]) -> TableFacts:
    """Return the facts of a hit.

    Raises:
        IndexDamagedError: The document is none of ours.
    """
    try:
        return facts_from(unescape(hit["_source"]["facts"]))
    except (KeyError, TypeError, ValueError) as error:
        raise IndexDamagedError(
            f"The document {hit.get('_id')!r} of the index {hit.get('_index')!r} is not as this "
            f"program writes them ({type(error).__name__}: {error}); {REBUILD}."
        ) from error


def _written(name: str, table_id: str, generation: int, source: Mapping[str, Any]) -> Action:
    common = {
        "generation": generation,
        "table_id": escape(table_id),
        "source": escape(source_of(table_id)),
    }
    return {
        "_op_type": "index",
        "_id": f"{name}-{generation}",
        **_WRITTEN,
        "_source": {**source, **common},
    }


def _block_source(item: EmbeddedBlock, analyzer: Analyzer) -> dict[str, Any]:
    terms = analyzer.terms(item.block.text)
    return {
        "doc": BLOCK,
        "block_id": item.block.block_id,
        "kind": item.block.kind,
        "text": escape(item.block.text),
        TERMS: " ".join(terms),
        **counted_fields(TERMS, terms),
        "vector": unit(item.vector),
    }


def removal_of(hit: Mapping[str, Any]) -> Action:
    """Return what deletes the document of a hit."""
    return {"_op_type": "delete", "_id": hit["_id"], **_REMOVED}


def block_id_of(hit: Mapping[str, Any]) -> str:
    """Return the block id of a hit whose fields were not asked for."""
    return str(hit["_id"]).partition("-")[0]


def block_from(hit: Mapping[str, Any]) -> Block:
    """Return the block of a hit.

    Raises:
        IndexDamagedError: The document is none of ours.
    """
    try:
        table_id, kind, text = (hit["_source"][name] for name in BLOCK_FIELDS)
        return Block(unescape(table_id), DocumentKind(kind), unescape(text))
    except (KeyError, TypeError, ValueError) as error:
        raise IndexDamagedError(
            f"The document {hit.get('_id')!r} of the index {hit.get('_index')!r} is not as this "
            f"program writes them ({type(error).__name__}: {error}); {REBUILD}."
        ) from error
