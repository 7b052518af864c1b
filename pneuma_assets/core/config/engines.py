"""The search engines that a deployment file may name, and the section that each brings.

Here is only what loading a file needs. What an engine does lies in an object that is imported when
it is used (`core/index/registry.py`), so that no engine is imported for the sake of another.
"""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated

from pydantic import AfterValidator

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.config.section import Section


@dataclass(frozen=True, slots=True)
class Engine:
    """A search engine as a deployment file knows it."""

    kind: str
    section: type[Section] | None


_ENGINES: dict[str, Engine] = {}
_OTHER_KEYS = ("engine", "analyzer")


def register(name: str, kind: str, section: type[Section] | None = None) -> None:
    """Let deployment files name an engine; nothing else has to know of it.

    Args:
        name: The value of `index.engine`, and the key of the engine's section beside it.
        kind: Where its `core.index.kind.EngineKind` is, as `package.module:Class`; imported and
            called when the engine is first used.
        section: Its settings, each key with a default; None where there is nothing to set.

    Raises:
        ValueError: The name is taken already, or cannot be a key.
    """
    if name in _ENGINES or name in _OTHER_KEYS or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ValueError(f"{name!r} cannot name a search engine")
    _ENGINES[name] = Engine(kind, section)


def engine_names() -> tuple[str, ...]:
    """Return every engine's name, in the order of registration."""
    return tuple(_ENGINES)


def engine_named(name: str) -> Engine:
    """Return an engine.

    Raises:
        ValueError: There is none of that name; names those there are, the nearest first.
    """
    if name in _ENGINES:
        return _ENGINES[name]
    near = get_close_matches(name.lower(), _ENGINES, n=1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    raise ValueError(f"is not a search engine; {hint}use one of: {', '.join(_ENGINES)}")


def engine_sections() -> dict[str, type[Section]]:
    """Return the sections that engines bring, by their keys."""
    return {name: one.section for name, one in _ENGINES.items() if one.section is not None}


def _known_engine(name: str) -> str:
    engine_named(name)
    return name


EngineName = Annotated[str, AfterValidator(_known_engine)]
"""Names a registered engine."""

register("embedded", "pneuma_assets.core.index.embedded.kind:EmbeddedKind")
register(
    "elasticsearch",
    "pneuma_assets.core.index.elastic.kind:ElasticsearchKind",
    ElasticsearchConfig,
)
