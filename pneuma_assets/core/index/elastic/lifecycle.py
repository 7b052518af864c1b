"""The index behind the alias: its creation, its successor, and its end.

Readers ask the alias NAME for the index to read, NAME-000001 at first. To build anew without
downtime, a successor is made beside it and named in its state; writers follow, readers stay,
until `publish` moves the alias and drops the old index in one step.
"""

import re
from dataclasses import dataclass

from elasticsearch import BadRequestError, Elasticsearch, NotFoundError

from pneuma_assets.core.config_index import ElasticsearchConfig
from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.elastic.failures import IndexGoneError, is_foreign
from pneuma_assets.core.index.elastic.mapping import mappings_of, recorded, settings_of
from pneuma_assets.core.index.elastic.state_store import (
    create_state,
    read_state,
    replace_state,
    writing_alias,
)
from pneuma_assets.core.index.identity import Identity

_NUMBERED = re.compile(r"-(\d{6,})$")


@dataclass(frozen=True, slots=True)
class Described:
    """What is known of an index without reading its documents."""

    identity: Identity
    quantization: str
    shards: int


def resolve(client: Elasticsearch, name: str) -> str | None:
    """Return the index behind the alias; None if there is none yet.

    Raises:
        SearchIndexError: The name is an index itself, or an alias of several.
    """
    try:
        found = client.indices.get_alias(name=name)
    except NotFoundError as error:
        if is_foreign(error):
            raise
        return None
    indices: list[str] = sorted(found.body)
    if len(indices) != 1 or not _NUMBERED.fullmatch(indices[0].removeprefix(name)):
        raise SearchIndexError(
            f"The alias {name!r} stands for {', '.join(indices)}, which is not an index of "
            "pneuma-assets; choose another index.elasticsearch.name, or mend the alias."
        )
    return indices[0]


def describe(client: Elasticsearch, index: str) -> Described:
    """Return what an index was built with.

    Raises:
        IndexGoneError: There is no such index any more.
        SearchIndexError: It is another program's, or of another version.
    """
    try:
        mapping = client.indices.get_mapping(index=index)
        settings = client.indices.get_settings(index=index, name="index.number_of_shards")
    except NotFoundError as error:
        raise IndexGoneError(f"there is no index {index!r}") from error
    identity, quantization = recorded(mapping[index]["mappings"].get("_meta"), index)
    shards = int(settings[index]["settings"]["index"]["number_of_shards"])
    return Described(identity, quantization, shards)


def create_first(client: Elasticsearch, config: ElasticsearchConfig, identity: Identity) -> str:
    """Create the first index, then its state, then the alias; safe to repeat, and in parallel.

    Whoever finds an index by its alias finds it complete.
    """
    index = f"{config.name}-000001"
    try:
        _create(client, config, identity, index)
    except BadRequestError as error:
        if error.error != "resource_already_exists_exception":
            raise
    create_state(client, index)
    client.indices.put_alias(index=index, name=config.name)
    return index


def successor_of(client: Elasticsearch, index: str) -> str | None:
    """Return the index that is being built to take this one's place."""
    return read_state(client, index).state.successor


def begin_successor(
    client: Elasticsearch, config: ElasticsearchConfig, identity: Identity, index: str
) -> str:
    """Return the successor that is built with this identity and these settings, made if missing.

    From now on writers write to it. One that was begun with another identity is dropped.
    """
    while True:
        stored = read_state(client, index)
        begun = stored.state.successor
        if begun is not None:
            if _fits(client, config, identity, begun):
                return begun
            client.indices.delete(index=begun, ignore_unavailable=True)
        name = _next_name(begun or index)
        client.indices.delete(index=name, ignore_unavailable=True)  # of a process that was killed
        _create(client, config, identity, name)
        create_state(client, name)
        if replace_state(client, index, stored, stored.state.succeeded_by(name)) is not None:
            return name


def publish(client: Elasticsearch, name: str, old: str, new: str) -> None:
    """Let readers see the successor and drop the old index, in one step."""
    client.indices.update_aliases(
        actions=[{"add": {"index": new, "alias": name}}, {"remove_index": {"index": old}}]
    )


def discard(client: Elasticsearch, name: str) -> None:
    """Drop the index behind the alias, and its successor if one is being built."""
    index = resolve(client, name)
    if index is None:
        return
    try:
        successor = successor_of(client, index)
    except (IndexGoneError, SearchIndexError):  # damaged: what it names cannot be known
        successor = None
    for one in (index, successor):
        if one is not None:
            client.indices.delete(index=one, ignore_unavailable=True)


def _create(
    client: Elasticsearch, config: ElasticsearchConfig, identity: Identity, index: str
) -> None:
    client.indices.create(
        index=index,
        aliases={writing_alias(index): {}},
        settings=settings_of(config),
        mappings=mappings_of(config, identity),
    )


def _fits(
    client: Elasticsearch, config: ElasticsearchConfig, identity: Identity, index: str
) -> bool:
    try:
        found = describe(client, index)
        read_state(client, index)
    except (IndexGoneError, SearchIndexError):
        return False
    wanted = mappings_of(config, identity)["_meta"]["quantization"]
    return (found.identity, found.quantization, found.shards) == (identity, wanted, config.shards)


def _next_name(index: str) -> str:
    found = _NUMBERED.search(index)
    if found is None:
        raise SearchIndexError(f"The index {index!r} has no number at its end.")
    return f"{index[: found.start()]}-{int(found[1]) + 1:06d}"
