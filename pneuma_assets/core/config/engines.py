"""The search engines that a deployment file may name, and the section that each brings.

A new engine is registered once: a call below, an entry point of the package that brings it, or a
call of `register_engine`. Here is only what loading a file needs. What an engine does lies in an
object that is imported when it is used (`core/index/registry.py`), so that no engine is imported
for the sake of another.
"""

import re
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import AfterValidator

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.config.registry import Registry, one_of
from pneuma_assets.core.config.section import Section
from pneuma_assets.core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Engine:
    """A search engine as a deployment file knows it.

    Attributes:
        name: The value of `index.engine`, and the key of the engine's section beside it.
        kind: Where its `core.index.kind.EngineKind` is, as `package.module:Class`; imported and
            called when the engine is first used.
        section: Its settings, each key with a default; None where there is nothing to set.
        of_one_machine: Whether other machines cannot reach the index; such an engine is refused
            where machines may share the state.
        needs: Modules that an extra of this project brings (`core.extras`).
    """

    name: str
    kind: str
    section: type[Section] | None = None
    of_one_machine: bool = field(kw_only=True)
    needs: tuple[str, ...] = field(kw_only=True, default=())


_OTHER_KEYS = ("engine", "analyzer", "settings")
_PLACE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


def _checked(engine: Engine) -> str:
    """Return the name of an engine that keeps what `Engine` asks."""
    if not isinstance(engine, Engine):
        raise ConfigError(f"{engine!r} is not a search engine; let it be an Engine")
    name, section = engine.name, engine.section
    if not isinstance(name, str) or not re.fullmatch("[a-z][a-z0-9_]{0,31}", name):
        raise ConfigError(
            f"{name!r} cannot name a search engine; use lower-case letters, digits and '_', at "
            "most 32"
        )
    if name in _OTHER_KEYS or hasattr(Section, name):
        raise ConfigError(f"{name!r} cannot name a search engine: it has a meaning beside it")
    if not isinstance(engine.kind, str) or not _PLACE.fullmatch(engine.kind):
        raise ConfigError(
            f"search engine {name!r}: {engine.kind!r} is no place of a class; write it as "
            "package.module:Class"
        )
    if section is None:
        return name
    if not (isinstance(section, type) and issubclass(section, Section)):
        raise ConfigError(f"search engine {name!r}: {section!r} does not extend Section")
    missing = [key for key, one in section.model_fields.items() if one.is_required()]
    if missing:
        raise ConfigError(
            f"search engine {name!r}: {', '.join(missing)} of {section.__qualname__} has no "
            "default, and a deployment file may lack the section; give each key one"
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
        ValueError: There is none of that name; names those there are, the nearest first.
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
        needs=("elasticsearch",),
    )
)
