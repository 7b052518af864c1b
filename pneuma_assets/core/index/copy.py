"""Copying an index into another one, embeddings included: no model is loaded."""

from collections.abc import Iterable, Iterator, Mapping
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
from pneuma_assets.core.grouping import portions
from pneuma_assets.core.index.base import IndexInfo, SearchIndex, TableContents, blocks_worth
from pneuma_assets.core.index.registry import (
    begin_rebuild,
    index_credentials,
    inspect_index,
    open_index,
    publish_index,
)
from pneuma_assets.core.progress import report
from pneuma_assets.core.text.suggest import check_text

_BLOCKS_AT_ONCE, _TABLES_AT_ONCE = 5_000, 1_000


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
            tables = len(write.list_tables())
        publish_index(
            configs[target], home, info.encoder, info.dimension, tables, credentials[target]
        )
    found = inspect_index(configs[target], home, credentials[target])  # by its place from now on
    if found is None:
        raise SearchIndexError(f"The copy in {target} is gone; copy again.")
    return found


def copy_index(source: SearchIndex, target: SearchIndex) -> dict[str, int]:
    """Make the target hold exactly the source's tables; returns what it then holds.

    Tables that are equal already stay untouched, so an interrupted copy is taken up again by
    doing it again. Readers of the target see each table as it was or as it becomes.

    How many blocks a table has is known before it is read, and bounds what is asked for at once;
    how much evidence, only then: what has been read is written as soon as it is worth as many
    blocks, so one table more than that is in memory at most.
    """
    tables, done = source.list_tables(), 0
    for ids in portions(tables, _BLOCKS_AT_ONCE, _TABLES_AT_ONCE):
        for part in _fitting(source.contents(ids)):
            target.replace_tables(part)
        done += len(ids)
        report("copying tables", done, len(tables))
    kept = source.list_tables()
    target.delete_tables([table_id for table_id in target.list_tables() if table_id not in kept])
    target.optimise()
    return target.list_tables()


def copy_exactly(source: SearchIndex, target: SearchIndex) -> None:
    """Copy an index that nobody changes to one that takes its place.

    Raises:
        SearchIndexError: The copy has other tables, or tables of other sizes.
    """
    if copy_index(source, target) != source.list_tables():
        raise SearchIndexError(
            "The copy of the search index differs from it, so it does not take its place; do the "
            "same again."
        )


def _fitting(tables: Iterable[tuple[str, TableContents]]) -> Iterator[dict[str, TableContents]]:
    part: dict[str, TableContents] = {}
    worth = 0
    for table_id, contents in tables:
        part[table_id] = contents
        worth += blocks_worth(contents)
        if worth >= _BLOCKS_AT_ONCE:
            yield part
            part, worth = {}, 0
    if part:
        yield part
