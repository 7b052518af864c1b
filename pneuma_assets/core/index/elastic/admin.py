"""What is done to a whole index: looking at it, and building it anew beside the one readers use."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial

from elasticsearch import Elasticsearch

from pneuma_assets.core.config_index import ElasticsearchConfig
from pneuma_assets.core.errors import IndexDamagedError, SearchIndexError
from pneuma_assets.core.index.analysis import Analyzer
from pneuma_assets.core.index.base import IndexInfo
from pneuma_assets.core.index.copying import transfer
from pneuma_assets.core.index.elastic.client import Credentials, connect
from pneuma_assets.core.index.elastic.contents import blocks_of, tables_at
from pneuma_assets.core.index.elastic.engine import ElasticsearchIndex
from pneuma_assets.core.index.elastic.failures import explained, patiently
from pneuma_assets.core.index.elastic.info import ENGINE, measure
from pneuma_assets.core.index.elastic.lifecycle import (
    begin_successor,
    describe,
    discard,
    publish,
    resolve,
    successor_of,
)
from pneuma_assets.core.index.elastic.searcher import Searcher
from pneuma_assets.core.index.elastic.state_store import read_state
from pneuma_assets.core.index.elastic.target import Opened, Target
from pneuma_assets.core.index.identity import Identity

UNKNOWN = "unknown"
"""How the health of a cluster begins that cannot be asked; the reason follows."""

INSPECTING_PATIENCE = 5.0
"""Seconds to wait for a cluster that a person wants to know about."""


def inspect(config: ElasticsearchConfig, credentials: Credentials) -> IndexInfo | None:
    """Return what the index holds, whatever encoder built it; None if there is none.

    A cluster that cannot be asked is a state of health, not an error.

    Raises:
        SearchIndexError: What the alias names is not an index of this version.
    """

    def look() -> IndexInfo | None:
        index = resolve(client, config.name)
        if index is None:
            return None
        opened = Opened(index, describe(client, index), read_state(client, index).state)
        return measure(client, opened, config)

    with connect(config, credentials) as client:
        try:
            with explained(UNKNOWN):
                return patiently(min(config.patience_seconds, INSPECTING_PATIENCE), look)
        except IndexDamagedError:
            raise
        except SearchIndexError as error:
            if error.__cause__ is None:
                raise
            health = str(error)
    details = {"address": ", ".join(config.urls)}
    return IndexInfo(ENGINE, UNKNOWN, 0, 0, 0, 0, health, details)


def begin_rebuild(
    config: ElasticsearchConfig, identity: Identity, credentials: Credentials
) -> None:
    """Begin an index with this identity beside the one that readers use, or go on with it.

    An index whose state is damaged cannot name its successor and is dropped.
    """
    with _administering(config, credentials) as client:
        index = resolve(client, config.name)
        if index is None:
            return
        try:
            begin_successor(client, config, identity, index)
        except IndexDamagedError:
            discard(client, config.name)


def publish_built(config: ElasticsearchConfig, credentials: Credentials) -> bool:
    """Let readers see what was built beside, and drop the old index; False if nothing was."""
    with _administering(config, credentials) as client:
        index = resolve(client, config.name)
        successor = None if index is None else successor_of(client, index)
        if index is None or successor is None:
            return False
        publish(client, config.name, index, successor)
        return True


def reindex(config: ElasticsearchConfig, analyzer: Analyzer, credentials: Credentials) -> None:
    """Build the index anew with today's settings and analyzer, and swap it in; needs no model.

    Readers are not disturbed. What writers write meanwhile goes to the new index and wins over
    what is copied; a table that they remove meanwhile may come back until the next run removes it
    again. Interrupted, it goes on where it stopped when it is called again.

    Raises:
        SearchIndexError: There is no index, or the cluster refuses.
    """
    with _administering(config, credentials) as client:
        searcher = Searcher(
            client,
            Target(client, config, None, building=False, create=False),
            config.patience_seconds,
        )
        index, identity = searcher.repeated(lambda old: (old.index, old.described.identity))
        identity = replace(identity, analyzer=analyzer.name)
        begin_successor(client, config, identity, index)
        tables = searcher.at_newest(lambda old: tables_at(searcher, old))
        with closing(
            ElasticsearchIndex(
                config,
                identity.encoder,
                identity.dimension,
                credentials=credentials,
                analyzer=analyzer,
                building=True,
            )
        ) as new:
            there = new.list_tables()
            missing = {i: one.blocks for i, one in tables.items() if i not in there}
            transfer(missing, partial(blocks_of, searcher), new.add_tables)
    publish_built(config, credentials)


@contextmanager
def _administering(
    config: ElasticsearchConfig, credentials: Credentials
) -> Iterator[Elasticsearch]:
    with (
        connect(config, credentials) as client,
        explained(f"The search index {config.name!r} cannot be replaced"),
    ):
        yield client
