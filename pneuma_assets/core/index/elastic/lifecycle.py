"""What is done to a whole index: it is opened, looked at, and rebuilt beside the one in use."""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from elasticsearch import Elasticsearch

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.config.secrets import read_secret
from pneuma_assets.core.errors import IndexDamagedError, SearchIndexError
from pneuma_assets.core.index.base import IndexInfo, SearchIndex
from pneuma_assets.core.index.copy import copy_exactly
from pneuma_assets.core.index.elastic.alias import (
    Opened,
    begin_successor,
    describe,
    discard,
    publish,
    resolve,
    successor_of,
)
from pneuma_assets.core.index.elastic.client import connect
from pneuma_assets.core.index.elastic.contents import ENGINE, measure
from pneuma_assets.core.index.elastic.engine import OPENING, ElasticsearchIndex
from pneuma_assets.core.index.elastic.errors import (
    UnansweredError,
    explained,
    until_found,
    with_retries,
)
from pneuma_assets.core.index.elastic.state import read_state
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.index.registry import Credentials, IndexPlace
from pneuma_assets.core.text.analysis import Analyzer

UNKNOWN = "unknown"
"""How the health of a cluster begins that cannot be asked; the reason follows."""

Place = IndexPlace[ElasticsearchConfig]
Result = TypeVar("Result")


class ElasticsearchKind:
    """An index of a cluster, rebuilt beside the old one; see `EngineKind` for the promises."""

    technologies = frozenset({"elasticsearch"})

    def credentials(self, settings: ElasticsearchConfig, environ: Mapping[str, str]) -> Credentials:
        """Return the key, or the user and password; raises `ConfigError` where one is not set."""

        def secret(variable: str | None, key: str) -> str | None:
            if variable is None:
                return None
            return read_secret(environ, variable, f"index.{ENGINE}.{key}", "the secret").strip()

        key = secret(settings.api_key_env, "api_key_env")
        return Credentials(key, settings.username, secret(settings.password_env, "password_env"))

    def exists(self, place: Place) -> bool:  # noqa: ARG002 (whatever the settings)
        """Return that there may be one: only the cluster knows, and opening asks it."""
        return True

    def open(self, place: Place, wanted: Identity, *, building: bool) -> SearchIndex:
        """Open the index behind the alias, or the one being built; only indexing creates it."""
        return _open(place, wanted, building=building, create=building)

    def inspect(self, place: Place) -> IndexInfo | None:
        """Return what the index holds; a cluster that cannot be asked is a state of health.

        Raises:
            SearchIndexError: What the alias names is not an index of this version.
        """
        config = place.settings

        def look() -> IndexInfo | None:
            index = resolve(quick, config.name)
            if index is None:
                return None
            opened = Opened(index, describe(quick, index), read_state(quick, index).state)
            return measure(quick, opened, config)

        patience = min(config.patience_seconds, OPENING)
        with connect(config, place.credentials) as client:
            quick = client.options(request_timeout=min(config.timeout_seconds, OPENING))
            try:
                with explained(UNKNOWN):
                    return until_found(lambda: with_retries(patience, look))
            except UnansweredError as error:
                health = str(error)
        details = {"address": ", ".join(config.urls)}
        return IndexInfo(ENGINE, UNKNOWN, 0, 0, 0, 0, health, details, usable=False)

    def begin_rebuild(self, place: Place, wanted: Identity) -> None:
        """Begin an index beside the one that readers use until `publish`, or go on with it.

        An index whose state is damaged cannot name its successor and is dropped.
        """

        def begin(client: Elasticsearch) -> None:
            index = resolve(client, place.settings.name)
            if index is None:
                return
            try:
                begin_successor(client, place.settings, wanted, index, copying=False)
            except IndexDamagedError:
                discard(client, place.settings.name)

        _administer(place, begin)

    def publish(self, place: Place, built: Identity, tables: int) -> bool:  # noqa: ARG002
        """Put what indexing has built in the old index's place; there is no lock to count under.

        A successor of another identity is the work of a run with another configuration.
        """

        def finish(client: Elasticsearch) -> bool:
            index = resolve(client, place.settings.name)
            successor = None if index is None else successor_of(client, index)
            if index is None or successor is None or successor.copying:
                return False
            if describe(client, successor.index).identity != built:
                return False
            publish(client, place.settings.name, index, successor.index)
            return True

        return _administer(place, finish)

    def reindex(self, place: Place, built: Identity | None = None) -> None:  # noqa: ARG002
        """Copy the index to one with today's settings and analyzer, and swap it in; no model.

        Readers are not disturbed; indexing has to wait. Interrupted, it goes on where it stopped
        when it is called again.

        Raises:
            SearchIndexError: There is no index, it is being rebuilt, or the cluster refuses.
        """
        config = place.settings

        def begin(client: Elasticsearch) -> tuple[str, str, Identity]:
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
            found = describe(client, old).identity
            wanted = replace(found, analyzer=place.analyzer.name)
            return old, begin_successor(client, config, wanted, old, copying=True), found

        old, new, found = _administer(place, begin)
        of_old = replace(place, analyzer=Analyzer(found.analyzer, None))  # reading asks no rules
        with (
            closing(_open(of_old, found, pinned=old)) as source,
            closing(_open(place, found, pinned=new)) as target,
        ):
            copy_exactly(source, target)
        _administer(place, lambda client: publish(client, config.name, old, new))


def _open(place: Place, identity: Identity, **options: Any) -> ElasticsearchIndex:
    return ElasticsearchIndex(
        place.settings,
        identity.encoder,
        identity.dimension,
        credentials=place.credentials,
        analyzer=place.analyzer,
        **options,
    )


def _administer(place: Place, step: Callable[[Elasticsearch], Result]) -> Result:
    """Carry out a step, again while its failure may pass or the index is swapped under it."""
    patience = place.settings.patience_seconds
    with (
        connect(place.settings, place.credentials) as client,
        explained(f"The search index {place.settings.name!r} cannot be replaced"),
    ):
        return until_found(lambda: with_retries(patience, partial(step, client)))
