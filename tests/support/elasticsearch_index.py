"""Opening the Elasticsearch engine in tests, and rebuilding an index beside the one in use."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.index.elastic.engine import ElasticsearchIndex
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.index.registry import (
    NOBODY,
    Credentials,
    begin_rebuild,
    publish_index,
    reindex,
)
from pneuma_assets.core.text.analysis import ENGLISH

CONSTANTS = ("timeout_seconds", "patience_seconds")
"""What no deployment file says, and tests have less patience for."""


def configured(**options: object) -> ElasticsearchConfig:
    constants = {key: options.pop(key) for key in CONSTANTS if key in options}
    return ElasticsearchConfig.model_validate(options).model_copy(update=constants)


@contextmanager
def rebuilt_beside(
    config: ElasticsearchConfig, encoder: str, dimension: int
) -> Iterator[ElasticsearchIndex]:
    """Build an index's successor in the block, then let readers see it and drop the old one."""
    begin_on(config, Identity(encoder, dimension, ENGLISH.name))
    with closing(ElasticsearchIndex(config, encoder, dimension, building=True)) as builder:
        yield builder
        assert publish_on(config, builder)


def of_index(config: ElasticsearchConfig) -> IndexConfig:
    """Return the configuration of an index on a server."""
    return IndexConfig(engine="elasticsearch", elasticsearch=config)


def begin_on(config: ElasticsearchConfig, identity: Identity) -> None:
    """Make room for another build beside the index."""
    begin_rebuild(of_index(config), Path(), identity.encoder, identity.dimension)


def publish_on(config: ElasticsearchConfig, built: ElasticsearchIndex) -> bool:
    """Let readers see a build."""
    return publish_index(of_index(config), Path(), built.build)


def reindex_on(config: ElasticsearchConfig, credentials: Credentials = NOBODY) -> None:
    """Copy an index to one with today's settings, which takes its place."""
    reindex(of_index(config), Path(), credentials)


Opener = Callable[..., ElasticsearchIndex]


@contextmanager
def opener(
    urls: tuple[str, ...], name: str, encoder: str, dimension: int, **defaults: object
) -> Iterator[Opener]:
    """Yield what opens handles on one index; they are closed at the end.

    Its options are those of `ElasticsearchConfig`, with `defaults`, and those of the engine.
    """
    with ExitStack() as opened:

        def open_index(**options: object) -> ElasticsearchIndex:
            options = {"urls": urls, "name": name, **defaults, **options}
            fields = options.keys() & {*ElasticsearchConfig.model_fields, *CONSTANTS}
            config = configured(**{key: options.pop(key) for key in fields})
            index = ElasticsearchIndex(
                config,
                options.pop("encoder", encoder),
                options.pop("dimension", dimension),
                **options,
            )
            return opened.enter_context(closing(index))

        yield open_index
