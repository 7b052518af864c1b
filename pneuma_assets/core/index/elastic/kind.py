"""The Elasticsearch engine for a deployment; the client library is imported when it is used."""

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.index.base import IndexInfo, SearchIndex
from pneuma_assets.core.index.credentials import SignIn
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.index.kind import IndexPlace

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
        from pneuma_assets.core.index.elastic.engine import ElasticsearchIndex

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
        from pneuma_assets.core.index.elastic.admin import renew

        renew(place.settings, place.analyzer, found, place.credentials)

    def inspect(self, place: Place) -> IndexInfo | None:
        """Return what the index holds; a cluster that cannot be asked is a state of health."""
        from pneuma_assets.core.index.elastic.admin import inspect

        return inspect(place.settings, place.credentials)

    def begin_rebuild(self, place: Place, wanted: Identity) -> None:
        """Begin an index beside the one that readers use until `publish`."""
        from pneuma_assets.core.index.elastic.admin import begin_rebuild

        begin_rebuild(place.settings, wanted, place.credentials)

    def publish(self, place: Place, built: Identity, tables: int) -> bool:  # noqa: ARG002
        """Put what indexing has built in the old index's place; there is no lock to count under."""
        from pneuma_assets.core.index.elastic.admin import publish_built

        return publish_built(place.settings, built, place.credentials)

    def reindex(self, place: Place) -> None:
        """Copy the index to one with today's settings and analyzer, and swap it in."""
        from pneuma_assets.core.index.elastic.admin import reindex

        reindex(place.settings, place.analyzer, place.credentials)
