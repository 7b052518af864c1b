"""Which engine a deployment uses: the one place that knows them all."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from pneuma_assets.core.config.index import Engine, IndexConfig
from pneuma_assets.core.errors import (
    IndexBusyError,
    IndexDamagedError,
    IndexMismatchError,
    SearchIndexError,
)
from pneuma_assets.core.index.base import IndexInfo, SearchIndex
from pneuma_assets.core.index.copying import copy_index
from pneuma_assets.core.index.embedded.contents import inspect as inspect_embedded
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.index.embedded.folder import discard, has_index
from pneuma_assets.core.index.embedded.renewal import renew
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.text.analysis import analyzer_named

if TYPE_CHECKING:
    from pneuma_assets.core.index.elastic.client import Credentials

_FOLDER = "index"


def index_credentials(config: IndexConfig, environ: Mapping[str, str]) -> "Credentials | None":
    """Return how to sign in at the configured engine; None where nobody asks.

    Raises:
        ConfigError: A variable that the configuration names is not set.
    """
    match config.engine:
        case "embedded":
            return None
        case "elasticsearch":
            from pneuma_assets.core.index.elastic.client import credentials_of

            return credentials_of(config.elasticsearch, environ)


def open_index(
    config: IndexConfig,
    home: Path,
    encoder: str,
    dimension: int,
    credentials: "Credentials | None" = None,
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

    def opened() -> SearchIndex:
        return _open(config, home, encoder, dimension, credentials, building=building)

    if config.engine == "embedded" and not has_index(home / _FOLDER) and not building:
        raise SearchIndexError(
            f"There is no search index in {home / _FOLDER} yet: run 'pneuma-assets index'."
        )
    try:
        return opened()
    except IndexMismatchError as error:
        wanted = Identity(encoder, dimension, analyzer_named(config.analyzer).name)
        if not building or error.found is None or not error.found.is_older(wanted):
            raise
        _renew(config, home, error.found, credentials)
    return opened()


def _open(
    config: IndexConfig,
    home: Path,
    encoder: str,
    dimension: int,
    credentials: "Credentials | None",
    *,
    building: bool,
) -> SearchIndex:
    analyzer = analyzer_named(config.analyzer)
    match config.engine:
        case "embedded":
            return EmbeddedIndex(home / _FOLDER, encoder, dimension, analyzer=analyzer)
        case "elasticsearch":
            from pneuma_assets.core.index.elastic.client import Credentials
            from pneuma_assets.core.index.elastic.engine import ElasticsearchIndex

            return ElasticsearchIndex(
                config.elasticsearch,
                encoder,
                dimension,
                credentials=credentials or Credentials(),
                analyzer=analyzer,
                building=building,
                create=building,
            )


def _renew(
    config: IndexConfig, home: Path, found: Identity, credentials: "Credentials | None"
) -> None:
    """Count the words of an index anew that older rules of the configured analyzer built."""
    analyzer = analyzer_named(config.analyzer)
    match config.engine:
        case "embedded":
            renew(home / _FOLDER, found, analyzer)
        case "elasticsearch":
            from pneuma_assets.core.index.elastic import admin
            from pneuma_assets.core.index.elastic.client import Credentials

            admin.renew(config.elasticsearch, analyzer, found, credentials or Credentials())


def inspect_index(
    config: IndexConfig, home: Path, credentials: "Credentials | None" = None
) -> IndexInfo | None:
    """Return what the configured index holds, whatever encoder built it; None if there is none.

    Raises:
        SearchIndexError: It cannot be read.
    """
    match config.engine:
        case "embedded":
            return inspect_embedded(home / _FOLDER)
        case "elasticsearch":
            from pneuma_assets.core.index.elastic.admin import inspect
            from pneuma_assets.core.index.elastic.client import Credentials

            return inspect(config.elasticsearch, credentials or Credentials())


def begin_rebuild(
    config: IndexConfig,
    home: Path,
    encoder: str,
    dimension: int,
    credentials: "Credentials | None" = None,
) -> None:
    """Make room for an index of this encoder, whatever the encoder or state of the old one.

    The embedded index is removed. Elasticsearch keeps the old one for its readers until
    `publish_index`; what is opened for `building` is the new one.

    Raises:
        SearchIndexError: The old index cannot be removed, or a new one not begun.
    """
    match config.engine:
        case "embedded":
            discard(home / _FOLDER)
        case "elasticsearch":
            from pneuma_assets.core.index.elastic import admin
            from pneuma_assets.core.index.elastic.client import Credentials

            identity = Identity(encoder, dimension, analyzer_named(config.analyzer).name)
            admin.begin_rebuild(config.elasticsearch, identity, credentials or Credentials())


def publish_index(config: IndexConfig, credentials: "Credentials | None" = None) -> bool:
    """Let readers see what was built beside the old index; False if nothing was.

    Raises:
        SearchIndexError: The new index cannot take the old one's place.
    """
    match config.engine:
        case "embedded":
            return False
        case "elasticsearch":
            from pneuma_assets.core.index.elastic.admin import publish_built
            from pneuma_assets.core.index.elastic.client import Credentials

            return publish_built(config.elasticsearch, credentials or Credentials())


def reindex(config: IndexConfig, home: Path, credentials: "Credentials | None" = None) -> None:
    """Build the index anew with today's settings and analyzer; its readers are not disturbed.

    Raises:
        SearchIndexError: There is no index, or it cannot be read.
    """
    analyzer = analyzer_named(config.analyzer)
    match config.engine:
        case "embedded":
            info = inspect_embedded(home / _FOLDER)
            if info is None:
                raise SearchIndexError("There is no search index yet: run 'pneuma-assets index'.")
            if not info.usable:
                raise SearchIndexError(f"The search index cannot be read: {info.health}.")
            found = Identity(info.encoder, info.dimension, info.details["analyzer"])
            renew(home / _FOLDER, found, analyzer)
        case "elasticsearch":
            from pneuma_assets.core.index.elastic import admin
            from pneuma_assets.core.index.elastic.client import Credentials

            admin.reindex(config.elasticsearch, analyzer, credentials or Credentials())


def copy_between(
    config: IndexConfig,
    source: Engine,
    target: Engine,
    home: Path,
    environ: Mapping[str, str],
    *,
    replace: bool = False,
) -> IndexInfo:
    """Copy one engine's index to the other, and return what that then holds.

    Args:
        config: Describes both engines; which one it chooses does not matter.
        source: The engine to read.
        target: The engine to write; what it held goes.
        home: The state folder.
        environ: Holds the secrets.
        replace: Take the place of an index that another encoder or analyzer built, too.

    Raises:
        SearchIndexError: There is nothing to copy, or an engine cannot be used.
        IndexMismatchError: The target was built with another encoder or analyzer.
    """
    configs = {one: config.model_copy(update={"engine": one}) for one in (source, target)}
    credentials = {one: index_credentials(configs[one], environ) for one in configs}
    info = inspect_index(configs[source], home, credentials[source])
    if info is None:
        raise SearchIndexError(f"There is no {source} index to copy from.")
    if not info.dimension:
        raise SearchIndexError(f"The {source} index cannot be read; its health is {info.health}")

    def opened(engine: Engine) -> SearchIndex:
        return open_index(
            configs[engine],
            home,
            info.encoder,
            info.dimension,
            credentials[engine],
            building=engine == target,
        )

    with closing(opened(source)) as read:
        try:
            write = opened(target)
        except (IndexMismatchError, IndexDamagedError, IndexBusyError) as error:
            if not replace:
                raise IndexMismatchError(
                    f"The {target} index is damaged, is being copied itself, or another encoder or "
                    "analyzer built it; add --replace to put the copy in its place."
                ) from error
            begin_rebuild(configs[target], home, info.encoder, info.dimension, credentials[target])
            write = opened(target)
        with closing(write):
            copy_index(read, write)
            publish_index(configs[target], credentials[target])
            return write.info()
