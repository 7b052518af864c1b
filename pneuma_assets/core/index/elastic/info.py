"""What an operator wants to know of the index: counts, size, health."""

from typing import Any

from elasticsearch import ApiError, AuthorizationException, Elasticsearch

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.index.base import IndexInfo
from pneuma_assets.core.index.elastic.documents import BLOCK, TABLE
from pneuma_assets.core.index.elastic.failures import passes
from pneuma_assets.core.index.elastic.mapping import quantization_of
from pneuma_assets.core.index.elastic.target import Opened

ENGINE = "elasticsearch"
RED = "red"
UNKNOWN_SIZE = 0
"""Where the key may not know, or no shard is there."""


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
        details["being built"] = opened.state.successor.index
    if notes := _outdated(opened, config):
        details["reindex"] = notes
    health = _health(client, opened.index)
    counts = _counts(client, opened, health)
    return IndexInfo(
        engine=ENGINE,
        encoder=identity.encoder,
        dimension=identity.dimension,
        tables=counts[TABLE],
        blocks=counts[BLOCK],
        size_bytes=_size(client, opened.index),
        health=health,
        details=details,
    )


def _counts(client: Elasticsearch, opened: Opened, health: str) -> dict[str, int]:
    """Return the numbers of tables and blocks; 0 while shards are missing that hold them."""
    try:
        return {doc: _count(client, opened, doc) for doc in (TABLE, BLOCK)}
    except ApiError as error:
        if health == RED and passes(error) and client.indices.exists(index=opened.index):
            return {TABLE: 0, BLOCK: 0}
        raise


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
    total = stats["_all"]["total"]  # empty where no shard is there
    return int(total["store"]["size_in_bytes"]) if total else UNKNOWN_SIZE


def _health(client: Elasticsearch, index: str) -> str:
    """Return green, yellow (a copy is missing) or red (blocks are missing)."""
    try:
        return str(client.cluster.health(index=index, timeout="1s")["status"])
    except AuthorizationException:
        return "unknown (the key lacks the cluster privilege 'monitor')"
    except ApiError as error:
        if error.status_code == 408 and isinstance(error.body, dict) and "status" in error.body:
            return str(error.body["status"])  # it waited in vain for something better
        raise


def _outdated(opened: Opened, config: ElasticsearchConfig) -> str:
    """Say which settings need `pneuma-assets reindex` to take effect."""
    wanted = quantization_of(config, opened.described.identity.dimension)
    changes = []
    if opened.described.quantization != wanted:
        changes.append(f"quantization {wanted}")
    if opened.described.shards != config.shards:
        changes.append(f"shards {config.shards}")
    return f"run 'pneuma-assets reindex' for: {', '.join(changes)}" if changes else ""
