"""From a deployment file to its index, whichever engine keeps it.

`SearchIndex` is one open index; an `EngineKind` opens it, looks at it and builds it again. Which
engines there are says `core.config.index`; another one brings a class of its own and is
registered there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Generic, Protocol, TypeVar

from pneuma_assets.core.config.index import IndexConfig, engine_named
from pneuma_assets.core.config.section_base import Section
from pneuma_assets.core.errors import ConfigError, SearchIndexError
from pneuma_assets.core.extras import require
from pneuma_assets.core.index.base import IndexInfo, SearchIndex
from pneuma_assets.core.index.identity import Identity, OtherIdentityError
from pneuma_assets.core.text.analysis import Analyzer, analyzer_named, analyzer_recorded

Settings = TypeVar("Settings", bound=Section)


@dataclass(frozen=True, slots=True)
class Credentials:
    """How to sign in; the secrets never show in a repr."""

    api_key: str | None = field(default=None, repr=False)
    username: str | None = None
    password: str | None = field(default=None, repr=False)


NOBODY = Credentials()


@dataclass(frozen=True, slots=True)
class IndexPlace(Generic[Settings]):
    """Where a deployment's index is, and how texts become words in it.

    Attributes:
        settings: The engine's own section of the deployment file.
        home: The state folder, for an engine that keeps files.
        analyzer: The configured one; an index may have been built with another.
        credentials: How to sign in.
    """

    settings: Settings
    home: Path
    analyzer: Analyzer
    credentials: Credentials


class EngineKind(Protocol[Settings]):
    """One kind of engine, whatever deployment uses it; holds no state, and opens nothing to keep.

    Any method that looks at an index may raise `SearchIndexError`.
    """

    @property
    def technologies(self) -> frozenset[str]:
        """What the index is made with, for a user interface that shows it."""

    def credentials(self, settings: Settings, environ: Mapping[str, str]) -> Credentials:
        """Return how to sign in, the secrets read from variables that the settings name.

        Raises:
            ConfigError: A variable is not set.
        """

    def exists(self, place: IndexPlace[Settings]) -> bool:
        """Tell whether there may be an index; False only where that is sure and costs nothing."""

    def open(self, place: IndexPlace[Settings], wanted: Identity, *, building: bool) -> SearchIndex:
        """Open the index, for asking, or for indexing: then it is created if there is none.

        `building` opens what `begin_rebuild` has begun where readers still use the old index.

        Raises:
            IndexMismatchError: It was not built with what is wanted.
            SearchIndexError: It cannot be opened, or there is none to ask.
        """

    def inspect(self, place: IndexPlace[Settings]) -> IndexInfo | None:
        """Return what the index holds, whatever encoder built it; None if there is none."""

    def begin_rebuild(self, place: IndexPlace[Settings], wanted: Identity) -> None:
        """Make room for an index of this identity, whatever the old one's identity or state.

        An engine may remove the old one, or keep it for its readers until `publish`.
        """

    def publish(self, place: IndexPlace[Settings], built: Identity, tables: int) -> bool:
        """Let readers see what was built beside the old index; False if that is not there.

        What lies there may be another run's, for another configuration and only begun: it stays,
        unless it was built with `built` and, where an engine can count under its locks, holds as
        many `tables` as the caller has found complete.
        """

    def reindex(self, place: IndexPlace[Settings], built: Identity | None = None) -> None:
        """Rebuild the index with today's settings and analyzer; readers are not disturbed.

        No model is asked. `built` is what an index of one machine was built with, be it the one
        that is built beside; None: the index that is asked.

        Raises:
            SearchIndexError: There is no index, or it cannot be read.
        """


def kind_of(name: str) -> EngineKind[Any]:
    """Return an engine by its name, imported if it was not yet.

    Raises:
        ConfigError: There is no such engine, or it cannot be imported.
    """
    try:
        engine = engine_named(name)
    except ValueError as error:
        raise ConfigError(f"{name!r} {error}") from error
    require(f"index.engine: {name}", ConfigError, *engine.needs)
    try:
        kind: EngineKind[Any] = resolve_name(engine.kind)()
    except Exception as error:  # a package of others raises what it likes
        raise ConfigError(
            f"search engine {name!r} cannot be used ({engine.kind}: {type(error).__name__}: "
            f"{error}); repair the package that brings it"
        ) from error
    return kind


def index_credentials(config: IndexConfig, environ: Mapping[str, str]) -> Credentials:
    """Return how to sign in at the configured engine, secrets read from the environment.

    Raises:
        ConfigError: A variable that the configuration names is not set.
    """
    return kind_of(config.engine).credentials(config.settings, environ)


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
        building: Open it for indexing, as `EngineKind.open` does. One of this machine that another
            analyzer built is brought up to date; no model is asked.

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
        if not building or not _renews(config, error.found, wanted):
            raise
        kind.reindex(place, error.found)
    return kind.open(place, wanted, building=building)


def open_as_built(
    config: IndexConfig, home: Path, built: Identity, credentials: Credentials = NOBODY
) -> SearchIndex:
    """Open the configured index for asking, as what it is, whatever encoder is configured.

    `built` is what it was built with, as an `OtherIdentityError` has it.

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
    """Tell whether a run may rebuild the index for another encoder without being told to.

    An index of one machine belongs to one deployment file, and who changes that means it. Of those
    who share a server, one whose file is behind would undo what the others do.
    """
    return engine_named(config.engine).of_one_machine


def words_wait(config: IndexConfig, info: IndexInfo) -> bool:
    """Tell whether the next run counts the words of an index again, because of its analyzer."""
    analyzer = info.details.get("analyzer")
    if analyzer is None:
        return False
    found = Identity(info.encoder, info.dimension, analyzer)
    wanted = Identity(info.encoder, info.dimension, analyzer_named(config.analyzer).name)
    return _renews(config, found, wanted)


def _renews(config: IndexConfig, found: Identity, wanted: Identity) -> bool:
    """Tell whether counting the words again is all that is needed, and nobody has to say so."""
    return begins_by_itself(config) and found != wanted and found.has_vectors_of(wanted)


def may_have_index(config: IndexConfig, home: Path) -> bool:
    """Tell whether there may be an index to ask; False only where that is sure."""
    return kind_of(config.engine).exists(_place(config, home, NOBODY))


def inspect_index(
    config: IndexConfig, home: Path, credentials: Credentials = NOBODY
) -> IndexInfo | None:
    """Return what the configured index holds, whatever encoder built it; None if there is none."""
    return kind_of(config.engine).inspect(_place(config, home, credentials))


def begin_rebuild(
    config: IndexConfig,
    home: Path,
    encoder: str,
    dimension: int,
    credentials: Credentials = NOBODY,
) -> None:
    """Make room for an index of this encoder; what is opened for `building` is then the new one."""
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

    `tables` is how many the caller has found in it.
    """
    place = _place(config, home, credentials)
    built = Identity(encoder, dimension, place.analyzer.name)
    return kind_of(config.engine).publish(place, built, tables)


def reindex(config: IndexConfig, home: Path, credentials: Credentials = NOBODY) -> None:
    """Rebuild the index with today's settings and analyzer; readers are not disturbed."""
    kind_of(config.engine).reindex(_place(config, home, credentials))


def _place(config: IndexConfig, home: Path, credentials: Credentials) -> IndexPlace[Any]:
    return IndexPlace(config.settings, home, analyzer_named(config.analyzer), credentials)
