"""Blocks and tables as documents of the index, and back.

Any string survives: JSON has no lone surrogates, which file names that are not text bring along,
so those are escaped.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pneuma_assets.core.errors import IndexDamagedError
from pneuma_assets.core.index.identity import REBUILD
from pneuma_assets.core.tables import (
    Block,
    DocumentKind,
    EmbeddedBlock,
    Vector,
    content_hash,
    source_of,
)
from pneuma_assets.core.text.analysis import Analyzer

BLOCK, TABLE, STATE = "block", "table", "state"
STATE_ID = "state"
BLOCK_FIELDS = ("table_id", "kind", "text")
TABLE_FIELDS = ("table_id", "generation", "blocks", "digest")

Action = dict[str, Any]
"""One operation for the client's bulk helpers."""

_WRITTEN = {"version": 1, "version_type": "external_gte"}
_REMOVED = {"version": 2, "version_type": "external_gte"}
"""A request that was given up, sent again, and is carried out late finds a higher version: it does
not bring back what was removed since. Remembered as long as `mapping.settings_of` says."""

_UNIT = 1e-6  # float32's own rounding of a normalised vector

_ESCAPE = "\ufdd0"  # a noncharacter: valid in UTF-8, never part of a text
_SPECIAL = re.compile(f"[\ud800-\udfff{_ESCAPE}]")
_ESCAPED = re.compile(f"{_ESCAPE}([0-9a-f]{{4}})")


def escape(text: str) -> str:
    """Return a text that UTF-8 can hold; nearly all are returned as they are."""
    return _SPECIAL.sub(lambda found: f"{_ESCAPE}{ord(found[0]):04x}", text)


def unescape(text: str) -> str:
    """Undo `escape`."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def digest_of(blocks: Mapping[str, EmbeddedBlock]) -> str:
    """Name a table's contents, vectors included, in 32 hex digits."""
    return content_hash(
        *(
            part
            for block_id in sorted(blocks)
            for part in (block_id, blocks[block_id].vector.tobytes().hex())
        )
    )


def unit(vector: Vector) -> Vector:
    """Return a vector of exactly unit length, which a dot product asks for; a good one as it is.

    Encoders in half precision are a little off; what is stored is what is compared.
    """
    length = np.linalg.norm(vector.astype(np.float64))
    return vector if abs(length - 1.0) < _UNIT else (vector / length).astype(np.float32)


def actions_of(
    table_id: str,
    blocks: Mapping[str, EmbeddedBlock],
    digest: str,
    generation: int,
    analyzer: Analyzer,
) -> Iterator[Action]:
    """Yield what writes one table: its blocks, and a record that counts them."""
    common = {
        "generation": generation,
        "table_id": escape(table_id),
        "source": escape(source_of(table_id)),
    }
    for block_id, item in blocks.items():
        yield {
            "_op_type": "index",
            "_id": f"{block_id}-{generation}",
            **_WRITTEN,
            "_source": {
                "doc": BLOCK,
                **common,
                "block_id": block_id,
                "kind": item.block.kind,
                "text": escape(item.block.text),
                "terms": " ".join(analyzer.terms(item.block.text)),
                "vector": unit(item.vector),
            },
        }
    yield {
        "_op_type": "index",
        "_id": f"{TABLE}-{generation}",
        **_WRITTEN,
        "_source": {"doc": TABLE, **common, "blocks": len(blocks), "digest": digest},
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
