"""Which engine keeps the search index, its settings, and how texts become words in it.

A new engine is registered once: a call below, an entry point of the package that brings it, or a
call of `register_engine`. What it does is imported when it is used (`core/index/registry.py`).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, Self, cast

from pydantic import AfterValidator, Field, ModelWrapValidatorHandler, create_model, model_validator

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.config.registry import Registry, one_of
from pneuma_assets.core.config.section_base import Section
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.text.analysis import ANALYZERS


@dataclass(frozen=True, slots=True)
class Engine:
    """A search engine as a deployment file knows it.

    Attributes:
        name: The value of `index.engine`, and the key of the engine's section beside it.
        kind: Where its `core.index.registry.EngineKind` is, as `package.module:Class`.
        section: Its settings, each key with a default; None where there is nothing to set.
        of_one_machine: Whether other machines cannot reach the index, and must not share the state.
        needs: Modules that an extra of this project brings (`core.extras`).
    """

    name: str
    kind: str
    section: type[Section] | None = None
    of_one_machine: bool = field(kw_only=True)
    needs: tuple[str, ...] = field(kw_only=True, default=())


_OTHER_KEYS = ("engine", "analyzer", "settings")


def _checked(engine: Engine) -> str:
    name = engine.name
    if not re.fullmatch("[a-z][a-z0-9_]{0,31}", name):
        raise ConfigError(
            f"{name!r} cannot name a search engine; use lower-case letters, digits and '_', at "
            "most 32"
        )
    if name in _OTHER_KEYS or hasattr(Section, name):
        raise ConfigError(f"{name!r} cannot name a search engine: it has a meaning beside it")
    keys = {} if engine.section is None else engine.section.model_fields
    if missing := [key for key, one in keys.items() if one.is_required()]:
        raise ConfigError(
            f"search engine {name!r}: its section has no default for {', '.join(missing)}, and a "
            "deployment file may lack it; give each key one"
        )
    return name


ENGINES = Registry("pneuma_assets.engines", "search engine", _checked, lambda one: one.kind)
"""Every search engine."""


def register_engine(engine: Engine) -> None:
    """Let deployment files name an engine in this process; see `Registry.register`."""
    ENGINES.register(engine)


def engine_named(name: str) -> Engine:
    """Return an engine.

    Raises:
        ValueError: There is none of that name.
        ConfigError: An installed package announces it and does not bring it.
    """
    engine = ENGINES.find(name)
    if engine is None:
        raise ValueError(one_of("a search engine", ENGINES.names(), name))
    return engine


def _known_engine(name: str) -> str:
    try:
        engine_named(name)
    except ConfigError as error:
        raise ValueError(str(error)) from error
    return name


EngineName = Annotated[str, AfterValidator(_known_engine)]
"""Names an engine that is registered or installed."""

register_engine(
    Engine(
        "embedded", "pneuma_assets.core.index.embedded.lifecycle:EmbeddedKind", of_one_machine=True
    )
)
register_engine(
    Engine(
        "elasticsearch",
        "pneuma_assets.core.index.elastic.lifecycle:ElasticsearchKind",
        ElasticsearchConfig,
        of_one_machine=False,
        needs=("elasticsearch", "orjson"),
    )
)


def _known_analyzer(value: str) -> str:
    if value not in ANALYZERS:
        raise ValueError(one_of("an analyzer", ANALYZERS, value))
    return value


AnalyzerName = Annotated[str, AfterValidator(_known_analyzer)]
"""Names the rules by which texts become words; see `analyzer_named`."""


class IndexConfig(Section):
    """Which engine keeps the blocks, and how texts become words in it.

    Beside these keys a file may hold the section of any engine that is registered or installed.
    """

    engine: EngineName = "embedded"
    analyzer: AnalyzerName = Field(
        "english", description="A language, or 'plain': no stemming, no stop words."
    )
    elasticsearch: ElasticsearchConfig = ElasticsearchConfig()

    @property
    def settings(self) -> Section:
        """The section of the engine in use; an empty one where that has nothing to set."""
        section = engine_named(self.engine).section
        if section is None:
            return Section()
        given = getattr(self, self.engine, None)
        return given if isinstance(given, section) else section()

    @classmethod
    def in_force(cls) -> type["IndexConfig"]:
        """Return this class with the sections of all registered engines."""
        sections = ((name, one.section) for name, one in ENGINES.known.items())
        more = [(name, one) for name, one in sections if one and name not in _BUILT_IN]
        return _extended(tuple(more)) if more else IndexConfig

    @model_validator(mode="wrap")
    @classmethod
    def _with_every_section(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Check the section of another engine, too, where a file has it."""
        if isinstance(data, Mapping):
            _bring(data.keys() - cls.model_fields.keys())
        whole = cls.in_force()
        if isinstance(data, Mapping) and data.keys() & (
            whole.model_fields.keys() - cls.model_fields.keys()
        ):
            return cast("Self", whole.model_validate(data))
        return handler(data)


_BUILT_IN = frozenset(IndexConfig.model_fields)


def _bring(keys: Iterable[object]) -> None:
    try:
        for key in keys:
            if isinstance(key, str):
                ENGINES.find(key)
    except ConfigError as error:
        raise ValueError(str(error)) from error


@lru_cache(maxsize=8)
def _extended(sections: tuple[tuple[str, type[Section]], ...]) -> type[IndexConfig]:
    fields: dict[str, Any] = {name: (section, section()) for name, section in sections}
    return create_model("IndexConfig", __base__=IndexConfig, **fields)
