"""What is done to a whole index: it is opened, looked at, and rebuilt beside the one in use."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial

from elasticsearch import Elasticsearch

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.errors import IndexDamagedError, SearchIndexError
from pneuma_assets.core.index.base import IndexInfo, SearchIndex
from pneuma_assets.core.index.copy import transfer
from pneuma_assets.core.index.elastic.client import Transport, connect
from pneuma_assets.core.index.elastic.contents import ENGINE, contents_of, measure, tables_at
from pneuma_assets.core.index.elastic.engine import OPENING, ElasticsearchIndex, retention_of
from pneuma_assets.core.index.elastic.errors import (
    UnansweredError,
    explained,
    until_found,
    with_retries,
)
from pneuma_assets.core.index.elastic.handle import (
    IndexHandle,
    Opened,
    begin_successor,
    describe,
    discard,
    publish,
    resolve,
    successor_of,
)
from pneuma_assets.core.index.elastic.state import read_state
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.index.registry import Credentials, IndexPlace, SignIn
from pneuma_assets.core.text.analysis import Analyzer

UNKNOWN = "unknown"
"""How the health of a cluster begins that cannot be asked; the reason follows."""

Place = IndexPlace[ElasticsearchConfig]


class ElasticsearchKind:
    """An index of a cluster, built anew beside the old one; see `EngineKind` for the promises."""

    technologies = frozenset({"elasticsearch"})

    def sign_in(self, settings: ElasticsearchConfig) -> SignIn:
        """Return which variables hold the key or the password."""
        return SignIn(settings.api_key_env, settings.username, settings.password_env)

    def exists(self, place: Place) -> bool:  # noqa: ARG002 (whatever the settings)
        """Return that there may be one: only the cluster knows, and opening asks it."""
        return True

    def open(self, place: Place, wanted: Identity, *, building: bool) -> SearchIndex:
        """Open the index behind the alias, or the one being built; only indexing creates it."""
        return ElasticsearchIndex(
            place.settings,
            wanted.encoder,
            wanted.dimension,
            credentials=place.credentials,
            analyzer=place.analyzer,
            building=building,
            create=building,
        )

    def renew(self, place: Place, found: Identity) -> None:
        """Copy the index to one with today's rules, or begin again what is being built."""
        renew(place.settings, place.analyzer, found, place.credentials)

    def inspect(self, place: Place) -> IndexInfo | None:
        """Return what the index holds; a cluster that cannot be asked is a state of health."""
        return inspect(place.settings, place.credentials)

    def begin_rebuild(self, place: Place, wanted: Identity) -> None:
        """Begin an index beside the one that readers use until `publish`."""
        begin_rebuild(place.settings, wanted, place.credentials)

    def publish(self, place: Place, built: Identity, tables: int) -> bool:  # noqa: ARG002
        """Put what indexing has built in the old index's place; there is no lock to count under."""
        return publish_built(place.settings, built, place.credentials)

    def reindex(self, place: Place) -> None:
        """Copy the index to one with today's settings and analyzer, and swap it in."""
        reindex(place.settings, place.analyzer, place.credentials)


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

    quick = config.model_copy(update={"timeout_seconds": min(config.timeout_seconds, OPENING)})
    patience = min(config.patience_seconds, OPENING)
    with connect(quick, credentials) as client:
        try:
            with explained(UNKNOWN):
                return until_found(lambda: with_retries(patience, look))
        except UnansweredError as error:
            health = str(error)
    details = {"address": ", ".join(config.urls)}
    return IndexInfo(ENGINE, UNKNOWN, 0, 0, 0, 0, health, details, usable=False)


def begin_rebuild(
    config: ElasticsearchConfig, identity: Identity, credentials: Credentials
) -> None:
    """Begin an index with this identity beside the one that readers use, or go on with it.

    An index whose state is damaged cannot name its successor and is dropped.
    """

    def begin() -> None:
        index = resolve(client, config.name)
        if index is None:
            return
        try:
            begin_successor(client, config, identity, index, copying=False)
        except IndexDamagedError:
            discard(client, config.name)

    with _administering(config, credentials) as client:
        until_found(lambda: with_retries(config.patience_seconds, begin))


def publish_built(
    config: ElasticsearchConfig, identity: Identity, credentials: Credentials
) -> bool:
    """Let readers see what indexing has built beside the old index; False if it is not there.

    A successor of another identity is the work of a run with another configuration.
    """

    def finish() -> bool:
        index = resolve(client, config.name)
        successor = None if index is None else successor_of(client, index)
        if index is None or successor is None or successor.copying:
            return False
        if describe(client, successor.index).identity != identity:
            return False
        publish(client, config.name, index, successor.index)
        return True

    with _administering(config, credentials) as client:
        return until_found(lambda: with_retries(config.patience_seconds, finish))


def reindex(config: ElasticsearchConfig, analyzer: Analyzer, credentials: Credentials) -> None:
    """Build the index anew with today's settings and analyzer, and swap it in; needs no model.

    Readers are not disturbed; indexing has to wait. Interrupted, it goes on where it stopped when
    it is called again.

    Raises:
        SearchIndexError: There is no index, it is being rebuilt, or the cluster refuses.
    """

    def begin() -> tuple[str, str, Identity]:
        old = resolve(client, config.name)
        if old is None:
            raise SearchIndexError(
                f"There is no search index {config.name!r} yet: run 'pneuma-assets index'."
            )
        successor = successor_of(client, old)
        if successor is not None and not successor.copying:
            raise SearchIndexError(
                f"The index {old!r} is being rebuilt as {successor.index!r}: let "
                "'pneuma-assets index' finish that first."
            )
        identity = replace(describe(client, old).identity, analyzer=analyzer.name)
        return old, begin_successor(client, config, identity, old, copying=True), identity

    with _administering(config, credentials) as client:
        old, new, identity = until_found(lambda: with_retries(config.patience_seconds, begin))
        target = ElasticsearchIndex(
            config,
            identity.encoder,
            identity.dimension,
            credentials=credentials,
            analyzer=analyzer,
            pinned=new,
        )
        with closing(target):
            _copy(client, config, old, target)
        with_retries(config.patience_seconds, lambda: publish(client, config.name, old, new))


def renew(
    config: ElasticsearchConfig, analyzer: Analyzer, found: Identity, credentials: Credentials
) -> None:
    """Bring an index that older rules of the analyzer built up to date; needs no model.

    A half-built successor is begun anew: whoever builds it would go on with the old rules.

    Args:
        config: Where the index is.
        analyzer: Counts its words from now on.
        found: What it was built with.
        credentials: How to sign in.

    Raises:
        SearchIndexError: The cluster refuses.
    """

    def rebuilding() -> bool:
        index = resolve(client, config.name)
        successor = None if index is None else successor_of(client, index)
        return successor is not None and not successor.copying

    with _administering(config, credentials) as client:
        half_built = until_found(lambda: with_retries(config.patience_seconds, rebuilding))
    if half_built:
        begin_rebuild(config, replace(found, analyzer=analyzer.name), credentials)
    else:
        reindex(config, analyzer, credentials)


def _copy(
    client: Elasticsearch, config: ElasticsearchConfig, old: str, target: ElasticsearchIndex
) -> None:
    """Copy what the target lacks, make sure that then nothing is missing, and merge it."""
    pinned = IndexHandle(client, config, None, building=False, create=False, pinned=old)
    transport = Transport(client, pinned, config.patience_seconds, retention_of(config))
    records = transport.at_newest(lambda opened: tables_at(transport, opened))
    wanted = {table_id: record.blocks for table_id, record in records.items()}
    there = target.list_tables()
    missing = {i: blocks for i, blocks in wanted.items() if there.get(i) != blocks}
    transfer(missing, partial(contents_of, transport), target.replace_tables)
    if target.list_tables() != wanted:
        raise SearchIndexError(
            f"The copy of the index {old!r} differs from it, so it does not take its place; "
            "run 'pneuma-assets reindex' again."
        )
    target.optimise()


@contextmanager
def _administering(
    config: ElasticsearchConfig, credentials: Credentials
) -> Iterator[Elasticsearch]:
    with (
        connect(config, credentials) as client,
        explained(f"The search index {config.name!r} cannot be replaced"),
    ):
        yield client
