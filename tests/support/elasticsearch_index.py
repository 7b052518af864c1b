"""Opening the Elasticsearch engine in tests, and rebuilding an index beside the one in use."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.index.elastic.engine import ElasticsearchIndex
from pneuma_assets.core.index.elastic.lifecycle import ElasticsearchKind, Place
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.index.registry import Credentials, IndexPlace
from pneuma_assets.core.text.analysis import ENGLISH, Analyzer

KIND = ElasticsearchKind()


def place_of(
    config: ElasticsearchConfig,
    analyzer: Analyzer = ENGLISH,
    credentials: Credentials = Credentials(),  # noqa: B008 (frozen)
) -> Place:
    """Return where an index is, as `KIND` takes it."""
    return IndexPlace(config, Path(), analyzer, credentials)


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
    identity = Identity(encoder, dimension, ENGLISH.name)
    KIND.begin_rebuild(place_of(config), identity)
    with closing(ElasticsearchIndex(config, encoder, dimension, building=True)) as builder:
        yield builder
    assert KIND.publish(place_of(config), identity, 0)


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
