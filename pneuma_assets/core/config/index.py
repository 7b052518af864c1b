"""Which engine keeps the blocks, and how texts become words in it."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Annotated, Any, Self, cast

from pydantic import (
    AfterValidator,
    Field,
    ModelWrapValidatorHandler,
    create_model,
    model_validator,
)

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.config.engines import ENGINES, EngineName, engine_named
from pneuma_assets.core.config.registry import one_of
from pneuma_assets.core.config.section import Section
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.text.analysis import ANALYZERS


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
    """Register the engines of installed packages whose sections have these keys."""
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
