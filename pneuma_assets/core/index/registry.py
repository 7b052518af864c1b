"""From a deployment file to its index, whichever engine keeps it.

Which engines there are says `core.config.engines`; each is an `EngineKind`.
"""

from collections.abc import Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from pneuma_assets.core.config.engines import engine_named
from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.index.base import IndexInfo, SearchIndex
from pneuma_assets.core.index.credentials import Credentials, SignIn
from pneuma_assets.core.index.identity import Identity, OlderRulesError
from pneuma_assets.core.index.kind import EngineKind, IndexPlace
from pneuma_assets.core.text.analysis import analyzer_named

NOBODY = Credentials()


def kind_of(name: str) -> EngineKind[Any]:
    """Return an engine by its name, imported if it was not yet.

    Raises:
        ConfigError: There is no such engine, or it cannot be imported.
    """
    try:
        where = engine_named(name).kind
    except ValueError as error:
        raise ConfigError(f"{name!r} {error}") from error
    try:
        kind: EngineKind[Any] = resolve_name(where)()
    except Exception as error:  # a package of others raises what it likes
        raise ConfigError(
            f"search engine {name!r} cannot be used ({where}: {type(error).__name__}: {error}); "
            "repair the package that brings it"
        ) from error
    return kind


def sign_in_of(config: IndexConfig) -> SignIn:
    """Return which variables hold the secrets of the configured engine."""
    return kind_of(config.engine).sign_in(config.settings)


def index_credentials(config: IndexConfig, environ: Mapping[str, str]) -> Credentials:
    """Return how to sign in at the configured engine, secrets read from the environment.

    Raises:
        ConfigError: A variable that the configuration names is not set.
    """
    return sign_in_of(config).read(f"index.{config.engine}", environ)


def open_index(
    config: IndexConfig,
    home: Path,
    encoder: str,
    dimension: int,
    credentials: Credentials = NOBODY,
    *,
    building: bool = False,
) -> SearchIndex:
    """Open the configured index.

    Args:
        config: Which engine, and how to reach it.
        home: The deployment's state folder; the embedded engine lives in its folder `index`.
        encoder: Name of the encoder.
        dimension: Length of one of its vectors.
        credentials: From `index_credentials`.
        building: Open it for indexing: created if there is none, and what `begin_rebuild` has
            begun where readers still use the old one. One that older rules of the analyzer built
            is brought up to date; no model is asked.

    Raises:
        IndexMismatchError: The index was built with another encoder or analyzer; rebuild or
            configure it.
        SearchIndexError: The index cannot be opened, or there is none to ask.
    """
    kind, place = kind_of(config.engine), _place(config, home, credentials)
    wanted = Identity(encoder, dimension, place.analyzer.name)
    try:
        return kind.open(place, wanted, building=building)
    except OlderRulesError as error:
        if not building:
            raise
        kind.renew(place, error.found)
    return kind.open(place, wanted, building=building)


def may_have_index(config: IndexConfig, home: Path) -> bool:
    """Tell whether there may be an index to ask; False only where that is sure."""
    return kind_of(config.engine).exists(_place(config, home, NOBODY))


def inspect_index(
    config: IndexConfig, home: Path, credentials: Credentials = NOBODY
) -> IndexInfo | None:
    """Return what the configured index holds, whatever encoder built it; None if there is none.

    Raises:
        SearchIndexError: It cannot be read.
    """
    return kind_of(config.engine).inspect(_place(config, home, credentials))


def begin_rebuild(
    config: IndexConfig,
    home: Path,
    encoder: str,
    dimension: int,
    credentials: Credentials = NOBODY,
) -> None:
    """Make room for an index of this encoder, whatever the encoder or state of the old one.

    An engine may remove the old one, or keep it for its readers until `publish_index`; what is
    opened for `building` is the new one.

    Raises:
        SearchIndexError: The old index cannot be removed, or a new one not begun.
    """
    place = _place(config, home, credentials)
    wanted = Identity(encoder, dimension, place.analyzer.name)
    kind_of(config.engine).begin_rebuild(place, wanted)


def publish_index(config: IndexConfig, home: Path, credentials: Credentials = NOBODY) -> bool:
    """Let readers see what was built beside the old index; False if nothing was.

    Raises:
        SearchIndexError: The new index cannot take the old one's place.
    """
    return kind_of(config.engine).publish(_place(config, home, credentials))


def reindex(config: IndexConfig, home: Path, credentials: Credentials = NOBODY) -> None:
    """Build the index anew with today's settings and analyzer; its readers are not disturbed.

    Raises:
        SearchIndexError: There is no index, or it cannot be read.
    """
    kind_of(config.engine).reindex(_place(config, home, credentials))


def _place(config: IndexConfig, home: Path, credentials: Credentials) -> IndexPlace[Any]:
    return IndexPlace(config.settings, home, analyzer_named(config.analyzer), credentials)
