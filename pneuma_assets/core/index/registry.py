"""From a deployment file to its index, whichever engine keeps it.

Which engines there are says `core.config.engines`; each is an `EngineKind`.
"""

from collections.abc import Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from pneuma_assets.core.config.engines import engine_named
from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.errors import ConfigError, SearchIndexError
from pneuma_assets.core.index.base import IndexInfo, SearchIndex
from pneuma_assets.core.index.credentials import Credentials, SignIn
from pneuma_assets.core.index.identity import (
    Identity,
    NewerRulesError,
    OlderRulesError,
    OtherIdentityError,
)
from pneuma_assets.core.index.kind import EngineKind, IndexPlace
from pneuma_assets.core.text.analysis import analyzer_named, analyzer_recorded

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
            is brought up to date, and so is one of this machine that another analyzer built; no
            model is asked.

    Raises:
        OtherIdentityError: The index was built with another encoder or analyzer; rebuild or
            configure it.
        SearchIndexError: The index cannot be opened, or there is none to ask.
    """
    kind, place = kind_of(config.engine), _place(config, home, credentials)
    wanted = Identity(encoder, dimension, place.analyzer.name)
    try:
        return kind.open(place, wanted, building=building)
    except OtherIdentityError as error:
        if not building or not _only_words_differ(config, error, wanted):
            raise
        kind.renew(place, error.found)
    return kind.open(place, wanted, building=building)


def open_as_built(
    config: IndexConfig, home: Path, built: Identity, credentials: Credentials = NOBODY
) -> SearchIndex:
    """Open the configured index for asking, as what it is, whatever encoder is configured.

    Args:
        config: Which engine, and how to reach it; its analyzer is not looked at.
        home: The deployment's state folder.
        built: What the index was built with, as an `OtherIdentityError` has it.
        credentials: From `index_credentials`.

    Raises:
        OtherIdentityError: It is another one by now.
        SearchIndexError: It cannot be opened, or this program has not the rules of its analyzer.
    """
    analyzer = analyzer_recorded(built.analyzer)
    if analyzer is None:
        raise SearchIndexError(
            f"The words of the search index were counted by the analyzer {built.analyzer!r}, whose "
            "rules this program does not have."
        )
    place = IndexPlace(config.settings, home, analyzer, credentials)
    return kind_of(config.engine).open(place, built, building=False)


def begins_by_itself(config: IndexConfig) -> bool:
    """Tell whether a run may build the index anew for another encoder without being told to.

    An index of one machine belongs to one deployment file, and who changes that means it. Of those
    who share a server, one whose file is behind would undo what the others do.
    """
    return engine_named(config.engine).of_one_machine


def _only_words_differ(config: IndexConfig, error: OtherIdentityError, wanted: Identity) -> bool:
    """Tell whether counting the words anew is all that is needed, and nobody has to say so."""
    if isinstance(error, OlderRulesError):
        return True
    meant = begins_by_itself(config) and not isinstance(error, NewerRulesError)
    return meant and error.found.has_vectors_of(wanted)


def words_wait(config: IndexConfig, info: IndexInfo) -> bool:
    """Tell whether the next run counts the words of an index anew, because of its analyzer."""
    analyzer = info.details.get("analyzer")
    if analyzer is None:
        return False
    found = Identity(info.encoder, info.dimension, analyzer)
    wanted = Identity(info.encoder, info.dimension, analyzer_named(config.analyzer).name)
    if found == wanted:
        return False
    return found.is_older(wanted) or (begins_by_itself(config) and not wanted.is_older(found))


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


def publish_index(
    config: IndexConfig,
    home: Path,
    encoder: str,
    dimension: int,
    tables: int,
    credentials: Credentials = NOBODY,
) -> bool:
    """Let readers see what was built beside the old index; False if that is not there.

    Args:
        config: Describes the engine.
        home: The state folder.
        encoder: The new index's; what others have begun with another stays.
        dimension: Of its vectors.
        tables: How many tables the caller has found in it.
        credentials: How to sign in.

    Raises:
        SearchIndexError: The new index cannot take the old one's place.
    """
    place = _place(config, home, credentials)
    built = Identity(encoder, dimension, place.analyzer.name)
    return kind_of(config.engine).publish(place, built, tables)


def reindex(config: IndexConfig, home: Path, credentials: Credentials = NOBODY) -> None:
    """Build the index anew with today's settings and analyzer; its readers are not disturbed.

    Raises:
        SearchIndexError: There is no index, or it cannot be read.
    """
    kind_of(config.engine).reindex(_place(config, home, credentials))


def _place(config: IndexConfig, home: Path, credentials: Credentials) -> IndexPlace[Any]:
    return IndexPlace(config.settings, home, analyzer_named(config.analyzer), credentials)
