"""The index's settings and mapping, and what is recorded in them."""

from collections.abc import Mapping
from typing import Any

from pneuma_assets.core.config_index import ElasticsearchConfig
from pneuma_assets.core.errors import IndexDamagedError, SearchIndexError
from pneuma_assets.core.index.identity import REBUILD, Identity

FORMAT = 1
"""Raised with every change of the mapping or of what the documents mean."""

B, K1 = 0.75, 1.2
LUCENE_FACTOR = K1 + 1
"""Elasticsearch's BM25 is the textbook's times this."""

_MIN_BBQ_DIMENSION = 64
_PROGRAM = "pneuma-assets"

_KEYWORD = {"type": "keyword"}
_STORED = {"type": "keyword", "index": False, "doc_values": False}


def settings_of(config: ElasticsearchConfig) -> dict[str, Any]:
    """Return the settings of a new index.

    Nothing becomes visible by itself (`refresh_interval`): writers refresh when they commit.
    """
    replicas: dict[str, Any] = {"number_of_replicas": config.replicas}
    if config.replicas == "auto":
        replicas = {"auto_expand_replicas": "0-1"}
    return {
        "number_of_shards": config.shards,
        **replicas,
        "refresh_interval": "-1",
        # Removed documents count in BM25's statistics until a merge may drop them, which this
        # allows after minutes, not hours; a copy that was away for longer is copied whole.
        "soft_deletes.retention_lease.period": "5m",
        # How long a removed document's version is remembered; see `documents._REMOVED`.
        "gc_deletes": "1h",
        "similarity": {"default": {"type": "BM25", "k1": K1, "b": B}},
    }


def mappings_of(config: ElasticsearchConfig, identity: Identity) -> dict[str, Any]:
    """Return the mapping of a new index: strict, and with its identity recorded.

    `terms` holds a text's terms, analysed by us as for every engine; the server only splits them
    at the spaces. Vectors have unit length, so their dot product is the cosine.
    """
    return {
        "dynamic": "strict",
        "_meta": {
            "program": _PROGRAM,
            "format": FORMAT,
            "encoder": identity.encoder,
            "dimension": identity.dimension,
            "analyzer": identity.analyzer,
            "quantization": quantization_of(config, identity.dimension),
        },
        "properties": {
            "doc": _KEYWORD,
            "generation": {"type": "long"},
            "table_id": _KEYWORD,
            "source": _KEYWORD,
            "kind": _KEYWORD,
            "block_id": _KEYWORD,
            "text": _STORED,
            "terms": {"type": "text", "analyzer": "whitespace", "index_options": "freqs"},
            "vector": {
                "type": "dense_vector",
                "dims": identity.dimension,
                "similarity": "dot_product",
                "index_options": {
                    "type": _INDEX_TYPES[quantization_of(config, identity.dimension)]
                },
            },
            "blocks": {"type": "integer"},
            "digest": _STORED,
            "state": {"type": "object", "enabled": False},
        },
    }


_INDEX_TYPES = {"bbq": "bbq_hnsw", "int8": "int8_hnsw", "none": "hnsw"}


def quantization_of(config: ElasticsearchConfig, dimension: int) -> str:
    """Return how vectors are shortened; one bit a component needs 64 of them."""
    if config.quantization == "bbq" and dimension < _MIN_BBQ_DIMENSION:
        return "int8"
    return config.quantization


def recorded(meta: object, index: str) -> tuple[Identity, str]:
    """Return what an index was built with: its identity and its quantization.

    Raises:
        SearchIndexError: It is another program's index, or another version's.
    """
    if not isinstance(meta, Mapping) or meta.get("program") != _PROGRAM:
        raise SearchIndexError(
            f"The index {index!r} belongs to another program; choose another "
            "index.elasticsearch.name."
        )
    if meta.get("format") != FORMAT:
        newer = isinstance(meta.get("format"), int) and meta["format"] > FORMAT
        remedy = f"upgrade pneuma-assets, or {REBUILD}" if newer else REBUILD
        raise IndexDamagedError(
            f"The index {index!r} was written by {'a newer' if newer else 'another'} version of "
            f"pneuma-assets; {remedy}."
        )
    identity = Identity(str(meta["encoder"]), int(meta["dimension"]), str(meta["analyzer"]))
    return identity, str(meta["quantization"])
