"""What an operator wants to know of the index: counts, size, health."""

from typing import Any

from elasticsearch import AuthorizationException, Elasticsearch

from pneuma_assets.core.config_index import ElasticsearchConfig
from pneuma_assets.core.index.base import IndexInfo
from pneuma_assets.core.index.elastic.documents import BLOCK, TABLE
from pneuma_assets.core.index.elastic.mapping import quantization_of
from pneuma_assets.core.index.elastic.target import Opened

ENGINE = "elasticsearch"
UNKNOWN_SIZE = 0
"""Where the key may not know."""


def measure(client: Elasticsearch, opened: Opened, config: ElasticsearchConfig) -> IndexInfo:
    """Count what one state shows, and ask the cluster for the rest."""
    identity = opened.described.identity
    details = {
        "index": opened.index,
        "address": ", ".join(config.urls),
        "analyzer": identity.analyzer,
        "quantization": opened.described.quantization,
        "shards": str(opened.described.shards),
    }
    if opened.state.successor is not None:
        details["being built"] = opened.state.successor
    if notes := _outdated(opened, config):
        details["reindex"] = notes
    return IndexInfo(
        engine=ENGINE,
        encoder=identity.encoder,
        dimension=identity.dimension,
        tables=_count(client, opened, TABLE),
        blocks=_count(client, opened, BLOCK),
        size_bytes=_size(client, opened.index),
        health=_health(client, opened.index),
        details=details,
    )


def _count(client: Elasticsearch, opened: Opened, doc: str) -> int:
    filters: list[dict[str, Any]] = [{"term": {"doc": doc}}, *opened.state.visible()]
    found = client.count(index=opened.index, query={"bool": {"filter": filters}})
    return int(found["count"])


def _size(client: Elasticsearch, index: str) -> int:
    """Return the bytes that all copies take; 0 where the key may not know."""
    try:
        stats = client.indices.stats(index=index, metric="store")
    except AuthorizationException:
        return UNKNOWN_SIZE
    return int(stats["_all"]["total"]["store"]["size_in_bytes"])


def _health(client: Elasticsearch, index: str) -> str:
    """Return green, yellow (a copy is missing) or red (blocks are missing)."""
    try:
        return str(client.cluster.health(index=index, timeout="1s")["status"])
    except AuthorizationException:
        return "unknown (the key lacks the cluster privilege 'monitor')"


def _outdated(opened: Opened, config: ElasticsearchConfig) -> str:
    """Say which settings need `pneuma-assets reindex` to take effect."""
    wanted = quantization_of(config, opened.described.identity.dimension)
    changes = []
    if opened.described.quantization != wanted:
        changes.append(f"quantization {wanted}")
    if opened.described.shards != config.shards:
        changes.append(f"shards {config.shards}")
    return f"run 'pneuma-assets reindex' for: {', '.join(changes)}" if changes else ""
