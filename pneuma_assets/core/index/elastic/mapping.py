"""The index's settings and mapping, what is recorded in them, and texts as they can hold them."""

import re
from dataclasses import asdict
from typing import Any

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.index.base import K1, B
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.tables import content_hash
from pneuma_assets.core.terms.fields import PRESENCE, Field

FORMAT = 3
"""Raised with every change of the mapping or of what the documents mean."""

LUCENE_FACTOR = K1 + 1
"""Elasticsearch's BM25 is the textbook's times this."""

_MIN_BBQ_DIMENSION = 64
PROGRAM = "pneuma-assets"
"""What an index says it belongs to."""

_KEYWORD = {"type": "keyword"}
_INTEGER = {"type": "integer"}
_PRESENCE = "presence"
_TERMS = {"type": "text", "analyzer": "whitespace", "index_options": "freqs"}
"""Terms that are analysed by us as for every engine; the server only splits them at the spaces."""
_STORED = {"type": "keyword", "index": False, "doc_values": False}
_INDEX_TYPES = {"bbq": "bbq_hnsw", "int8": "int8_hnsw", "none": "hnsw"}

TERMS = "terms"
"""The field of a block's terms."""

_LONGEST_TERM = 100
"""Characters; the server cuts a term of more than 255 in pieces."""

_ESCAPE = "\ufdd0"  # a noncharacter: valid in UTF-8, never part of a text
_SPECIAL = re.compile(f"[\ud800-\udfff{_ESCAPE}]")
_ESCAPED = re.compile(f"{_ESCAPE}([0-9a-f]{{4}})")


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
        "similarity": {
            "default": {"type": "BM25", "k1": K1, "b": B},
            _PRESENCE: {"type": "BM25", "k1": 0.0, "b": 0.0},
        },
    }


def mappings_of(
    config: ElasticsearchConfig, identity: Identity, incarnation: str
) -> dict[str, Any]:
    """Return the mapping of a new index: strict, and with what it was built with recorded."""
    quantization = quantization_of(config, identity.dimension)
    return {
        "dynamic": "strict",
        "_meta": {
            "program": PROGRAM,
            "format": FORMAT,
            "incarnation": incarnation,
            "quantization": quantization,
            **asdict(identity),
        },
        "properties": _properties(identity.dimension, quantization),
    }


def _properties(dimension: int, quantization: str) -> dict[str, Any]:
    """Return the fields: of blocks, of evidence, of facts, of tables' records, and of the state.

    Vectors have unit length, so their dot product is the cosine.
    """
    return {
        **dict.fromkeys(("doc", "table_id", "source", "kind", "block_id"), _KEYWORD),
        **dict.fromkeys(("text", "evidence", "digest", "facts"), _STORED),
        **dict.fromkeys(("blocks", "documents", "row"), _INTEGER),
        "generation": {"type": "long"},
        "state": {"type": "object", "enabled": False},
        TERMS: _TERMS,
        **{field.value: _searched(field) for field in Field},
        "vector": {
            "type": "dense_vector",
            "dims": dimension,
            "similarity": "dot_product",
            "index_options": {"type": _INDEX_TYPES[quantization]},
        },
    }


def _searched(field: Field) -> dict[str, Any]:
    """Return how a field of evidence is searched; where only presence counts, little is kept."""
    if field in PRESENCE:
        return {**_TERMS, "index_options": "docs", "norms": False, "similarity": _PRESENCE}
    return _TERMS


def factor_of(field: str) -> float:
    """Return what Elasticsearch's BM25 in a field is times the textbook's."""
    return 1.0 if field in PRESENCE else LUCENE_FACTOR


def quantization_of(config: ElasticsearchConfig, dimension: int) -> str:
    """Return how vectors are shortened; one bit a component needs 64 of them."""
    if config.quantization == "bbq" and dimension < _MIN_BBQ_DIMENSION:
        return "int8"
    return config.quantization


def token(term: str) -> str:
    """Return a term as it is indexed; of a long one, its hash stands for it."""
    return term if len(term) <= _LONGEST_TERM else f"#{content_hash(term)}"


def escape(text: str) -> str:
    """Return a text that JSON in UTF-8 can hold; nearly all are returned as they are.

    JSON has no lone surrogates, which file names that are not text bring along.
    """
    return _SPECIAL.sub(lambda found: f"{_ESCAPE}{ord(found[0]):04x}", text)


def unescape(text: str) -> str:
    """Undo `escape`."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
