"""An index as versions of format 1 left it: blocks and tables, no evidence."""

from typing import Any

from elasticsearch import Elasticsearch

from pneuma_assets.core.tables import EmbeddedBlock, source_of
from pneuma_assets.core.text.analysis import ENGLISH

INCARNATION = "0123456789abcdef0123456789abcdef"

_KEYWORD = {"type": "keyword"}
_STORED = {"type": "keyword", "index": False, "doc_values": False}


def create(
    client: Elasticsearch,
    name: str,
    encoder: str,
    tables: dict[str, list[EmbeddedBlock]],
) -> str:
    """Make the index behind the alias `name`, with these tables; returns its own name."""
    index, dimension = f"{name}-000001", len(next(iter(tables.values()))[0].vector)
    client.indices.create(
        index=index,
        aliases={f"{index}-w-{INCARNATION[:12]}": {}, name: {}},
        settings={
            "number_of_shards": 1,
            "number_of_replicas": 0,
            "refresh_interval": "-1",
            "similarity": {"default": {"type": "BM25", "k1": 1.2, "b": 0.75}},
        },
        mappings=_mappings(encoder, dimension),
    )
    for generation, (table_id, blocks) in enumerate(tables.items(), 1):
        for key, source in _documents(table_id, blocks, generation).items():
            client.index(index=index, id=f"{key}-{generation}", document=source)
    state = {"incarnation": INCARNATION, "version": 2, "last": len(tables), "leases": []}
    state |= {"retired": [], "dead": [], "successor": None}
    document = {"doc": "state", "generation": 0, "state": state}
    client.index(index=index, id="state", document=document, refresh=True)
    return index


def _mappings(encoder: str, dimension: int) -> dict[str, Any]:
    return {
        "dynamic": "strict",
        "_meta": {
            "program": "pneuma-assets",
            "format": 1,
            "incarnation": INCARNATION,
            "quantization": "bbq",
            "encoder": encoder,
            "dimension": dimension,
            "analyzer": ENGLISH.name,
        },
        "properties": {
            **dict.fromkeys(("doc", "table_id", "source", "kind", "block_id"), _KEYWORD),
            **dict.fromkeys(("text", "digest"), _STORED),
            "generation": {"type": "long"},
            "blocks": {"type": "integer"},
            "state": {"type": "object", "enabled": False},
            "terms": {"type": "text", "analyzer": "whitespace", "index_options": "freqs"},
            "vector": {
                "type": "dense_vector",
                "dims": dimension,
                "similarity": "dot_product",
                "index_options": {"type": "bbq_hnsw"},
            },
        },
    }


def _documents(
    table_id: str, blocks: list[EmbeddedBlock], generation: int
) -> dict[str, dict[str, Any]]:
    common = {
        "generation": generation,
        "table_id": table_id,
        "source": source_of(table_id),
    }
    found: dict[str, dict[str, Any]] = {
        item.block.block_id: {
            "doc": "block",
            **common,
            "block_id": item.block.block_id,
            "kind": item.block.kind,
            "text": item.block.text,
            "terms": " ".join(ENGLISH.terms(item.block.text)),
            "vector": item.vector,
        }
        for item in blocks
    }
    return {**found, "table": {"doc": "table", **common, "blocks": len(blocks), "digest": "old"}}
