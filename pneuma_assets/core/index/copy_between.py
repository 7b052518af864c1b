"""Copying one engine's index to another engine."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from pneuma_assets.core.config.index import IndexConfig, engine_named
from pneuma_assets.core.errors import (
    ConfigError,
    IndexBusyError,
    IndexDamagedError,
    IndexMismatchError,
    SearchIndexError,
)
from pneuma_assets.core.index.base import IndexInfo, SearchIndex
from pneuma_assets.core.index.copy import copy_index
from pneuma_assets.core.index.registry import (
    begin_rebuild,
    index_credentials,
    inspect_index,
    open_index,
    publish_index,
)
from pneuma_assets.core.text.suggest import check_text


def check_engines(source: str, target: str) -> None:
    """Raise `ConfigError` unless these are two different engines.

    An engine that is copied to itself could lose what it holds before it is read.
    """
    for argument, name in (("FROM", source), ("TO", target)):
        check_text(argument, name, ConfigError)
        try:
            engine_named(name)
        except ValueError as error:
            raise ConfigError(f"{argument}: {name!r} {error}") from error
    if source == target:
        raise ConfigError(f"FROM and TO are both {source}; name both engines")


def copy_between(
    config: IndexConfig,
    source: str,
    target: str,
    home: Path,
    environ: Mapping[str, str],
    *,
    replace: bool = False,
) -> IndexInfo:
    """Copy one engine's index to another, and return what that then holds.

    Args:
        config: Describes both engines; which one it chooses does not matter.
        source: The engine to read.
        target: The engine to write; what it held goes.
        home: The state folder.
        environ: Holds the secrets.
        replace: Take the place of an index that another encoder or analyzer built, too.

    Raises:
        ConfigError: There is no such engine, both are the same, or a variable with a secret is
            not set.
        SearchIndexError: There is nothing to copy, or an engine cannot be used.
        IndexMismatchError: The target was built with another encoder or analyzer.
    """
    check_engines(source, target)
    configs = {one: config.model_copy(update={"engine": one}) for one in (source, target)}
    credentials = {one: index_credentials(configs[one], environ) for one in configs}
    info = inspect_index(configs[source], home, credentials[source])
    if info is None:
        raise SearchIndexError(f"There is no {source} index to copy from.")
    if not info.dimension:
        raise SearchIndexError(f"The {source} index cannot be read; its health is {info.health}")

    def opened(engine: str) -> SearchIndex:
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
            publish_index(configs[target], home, write.build, credentials[target])
    found = inspect_index(configs[target], home, credentials[target])  # by its place from now on
    if found is None:
        raise SearchIndexError(f"The copy in {target} is gone; copy again.")
    return found
