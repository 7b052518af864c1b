"""The Elasticsearch engine for a deployment: opening an index, looking at it, and its builds."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.config.secrets import read_secret
from pneuma_assets.core.index.base import IndexInfo, SearchIndex
from pneuma_assets.core.index.builds import Builds
from pneuma_assets.core.index.elastic.alias import (
    ElasticsearchBuilds,
    Opened,
    describe,
    resolve,
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

    def open(
        self, place: Place, wanted: Identity, *, building: bool = False, build: str | None = None
    ) -> SearchIndex:
        """Open the index behind the alias, or the one being built; only indexing creates it."""
        return ElasticsearchIndex(
            place.settings,
            wanted.encoder,
            wanted.dimension,
            credentials=place.credentials,
            analyzer=place.analyzer,
            building=building,
            create=building,
            pinned=build,
        )

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

    def administer(self, place: Place, step: Callable[[Builds], Result]) -> Result:
        """Carry out a step, again while its failure may pass or the index is swapped under it."""
        config = place.settings
        with (
            connect(config, place.credentials) as client,
            explained(f"The search index {config.name!r} cannot be replaced"),
        ):
            builds = ElasticsearchBuilds(client, config)
            return until_found(lambda: with_retries(config.patience_seconds, lambda: step(builds)))
