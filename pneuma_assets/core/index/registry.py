"""From a deployment file to its index, whichever engine keeps it.

`SearchIndex` is one open index; an `EngineKind` opens it, looks at it and knows its builds. What
is done with these is here, the same for all engines: a new build is made beside the one that
readers use, and takes its place as one act when it is complete. Which engines there are says
`core.config.index`; another one brings a class of its own and is registered there.
"""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Generic, Protocol, TypeVar

from pneuma_assets.core.config.index import IndexConfig, engine_named
from pneuma_assets.core.config.section_base import Section
from pneuma_assets.core.errors import ConfigError, IndexDamagedError, SearchIndexError
from pneuma_assets.core.extras import require
from pneuma_assets.core.index.base import IndexInfo, SearchIndex
from pneuma_assets.core.index.builds import Builds
from pneuma_assets.core.index.copy import copy_exactly
from pneuma_assets.core.index.identity import Identity, OtherIdentityError
from pneuma_assets.core.text.analysis import Analyzer, analyzer_named, analyzer_recorded

Settings = TypeVar("Settings", bound=Section)
Result = TypeVar("Result")


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

    def open(
        self,
        place: IndexPlace[Settings],
        wanted: Identity,
        *,
        building: bool = False,
        build: str | None = None,
    ) -> SearchIndex:
        """Open the index, for asking, or for indexing: then it is created if there is none.

        `building` opens the successor that indexing builds, where there is one; `build` that one.

        Raises:
            IndexMismatchError: It was not built with what is wanted.
            SearchIndexError: It cannot be opened, or there is none to ask.
        """

    def inspect(self, place: IndexPlace[Settings]) -> IndexInfo | None:
        """Return what the index holds, whatever encoder built it; None if there is none."""

    def administer(self, place: IndexPlace[Settings], step: Callable[[Builds], Result]) -> Result:
        """Carry out a step on the index's builds, alone, or again where others were faster."""


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
        if kind.administer(place, _searched) != error.found:
            raise  # what is built beside it was begun by other rules, and is begun again
    reindex(config, home, credentials)
    return kind.open(place, wanted, building=building)


def _searched(builds: Builds) -> Identity | None:
    """Return what the build that is searched was made with."""
    current = builds.current()
    return None if current is None else builds.identity(current)


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
    kind, place = kind_of(config.engine), _place(config, home, credentials)
    wanted = Identity(encoder, dimension, place.analyzer.name)

    def begin(builds: Builds) -> None:
        try:
            current = builds.current()
            if current is not None:
                builds.begin(current, wanted, copying=False)
        except IndexDamagedError:
            builds.discard()

    kind.administer(place, begin)


def publish_index(
    config: IndexConfig, home: Path, build: str, credentials: Credentials = NOBODY
) -> bool:
    """Let readers see what was built beside the old index; False if that is not there.

    `build` is the name of what the caller has found complete: what lies there may be another run's
    by now, and only begun.
    """

    def publish(builds: Builds) -> bool:
        current = builds.current()
        successor = None if current is None else builds.successor(current)
        if current is None or successor is None or successor.copying or successor.index != build:
            return False
        builds.publish(current, build)
        return True

    return kind_of(config.engine).administer(_place(config, home, credentials), publish)


def reindex(config: IndexConfig, home: Path, credentials: Credentials = NOBODY) -> None:
    """Copy the index to one with today's settings and analyzer, which takes its place.

    No model is asked. Readers are not disturbed; indexing has to wait.

    Raises:
        SearchIndexError: There is no index, it is being rebuilt, or it cannot be read or copied.
    """
    kind, place = kind_of(config.engine), _place(config, home, credentials)

    def look(builds: Builds) -> tuple[str, Identity]:
        current = builds.current()
        if current is None:
            raise SearchIndexError("There is no search index yet: run 'pneuma-assets index'.")
        successor = builds.successor(current)
        if successor is not None and not successor.copying:
            raise SearchIndexError(
                f"The index {current!r} is being rebuilt as {successor.index!r}: let "
                "'pneuma-assets index' finish that first."
            )
        return current, builds.identity(current)

    old, found = kind.administer(place, look)
    wanted = replace(found, analyzer=place.analyzer.name)

    def begin(builds: Builds) -> str:
        look(builds)  # another process may have begun to build one
        return builds.begin(old, wanted, copying=True)

    of_old = replace(place, analyzer=Analyzer(found.analyzer, None))  # reading asks no rules
    try:
        with closing(kind.open(of_old, found, build=old)) as source, source.unchanging():
            new = kind.administer(place, begin)
            with closing(kind.open(place, wanted, build=new)) as target:
                copy_exactly(source, target)
            kind.administer(place, lambda builds: builds.publish(old, new))
    except SearchIndexError:
        if kind.administer(place, lambda builds: builds.current()) == old:
            raise  # or another process was faster


def _place(config: IndexConfig, home: Path, credentials: Credentials) -> IndexPlace[Any]:
    return IndexPlace(config.settings, home, analyzer_named(config.analyzer), credentials)
