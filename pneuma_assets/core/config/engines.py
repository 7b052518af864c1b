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
from pneuma_assets.core.config.installed import Installed
from pneuma_assets.core.config.section import Section
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.text.suggest import nearest

GROUP = "pneuma_assets.engines"
"""The group of entry points by which an installed package brings engines, each under its name."""


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


_ENGINES: dict[str, Engine] = {}
_OTHER_KEYS = ("engine", "analyzer", "settings")
_PLACE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


def register_engine(engine: Engine) -> None:
    """Let deployment files name an engine in this process; nothing else has to know of it.

    Other processes (Dagster's, the command line's) do not hear of it; for them the package that
    brings the engine names it in the group `pneuma_assets.engines` of its entry points.

    Raises:
        ConfigError: It is not a whole engine, or its name is another's.
    """
    name = _checked(engine)
    known = _ENGINES.setdefault(name, engine)
    if known != engine:
        raise ConfigError(
            f"search engine {name!r} is {known.kind}; give {engine.kind} another name"
        )


def engine_names() -> tuple[str, ...]:
    """Return every engine's name: in the order of registration, then of installed packages."""
    return (*_ENGINES, *sorted(_INSTALLED.names() - _ENGINES.keys()))


def find_engine(name: str) -> Engine | None:
    """Return an engine, registered if an installed package brings it; None if there is none.

    Raises:
        ConfigError: An installed package announces it and does not bring it.
    """
    if name not in _ENGINES:
        engine = _INSTALLED.find(name)
        if engine is None:
            return None
        register_engine(engine)
    return _ENGINES[name]


def engine_named(name: str) -> Engine:
    """Return an engine.

    Raises:
        ValueError: There is none of that name; names those there are, the nearest first.
        ConfigError: An installed package announces it and does not bring it.
    """
    engine = find_engine(name)
    if engine is not None:
        return engine
    names = engine_names()
    near = nearest(name, names, 1, 0.6)
    hint = f"did you mean '{near[0]}'? " if near else ""
    raise ValueError(f"is not a search engine; {hint}use one of: {', '.join(names)}")


def engine_sections() -> dict[str, type[Section]]:
    """Return the sections that registered engines bring, by their keys."""
    return {name: one.section for name, one in _ENGINES.items() if one.section is not None}


def _known_engine(name: str) -> str:
    try:
        engine_named(name)
    except ConfigError as error:
        raise ValueError(str(error)) from error
    return name


EngineName = Annotated[str, AfterValidator(_known_engine)]
"""Names an engine that is registered or installed."""


def _checked(engine: Engine) -> str:
    """Return the name of an engine that keeps what `Engine` asks."""
    if not isinstance(engine, Engine):
        raise ConfigError(f"{engine!r} is not a search engine; let it be an Engine")
    name = engine.name
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
    if engine.section is not None:
        _check_section(name, engine.section)
    return name


def _check_section(name: str, section: type[Section]) -> None:
    if not (isinstance(section, type) and issubclass(section, Section)):
        raise ConfigError(f"search engine {name!r}: {section!r} does not extend Section")
    missing = [key for key, one in section.model_fields.items() if one.is_required()]
    if missing:
        raise ConfigError(
            f"search engine {name!r}: {', '.join(missing)} of {section.__qualname__} has no "
            "default, and a deployment file may lack the section; give each key one"
        )


_INSTALLED = Installed(GROUP, "search engine", _checked)

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
