"""A deployment file for every key there is, with a value that is not the key's default.

The keys are read off the models, so a new one is covered as soon as it exists.
"""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.models import ModelConfig
from pneuma_assets.core.config.source_kinds import KINDS

Keys = tuple[str, ...]

SOURCES: dict[str, type[BaseModel]] = {
    name: kind for name in KINDS.names() if (kind := KINDS.find(name))
}

_VALUES: tuple[Any, ...] = (
    True,
    False,
    2,
    9,
    0.25,
    0.05,
    3000.0,
    "german",
    "elasticsearch",
    "cpu",
    "team/lake",
    "OTHER_VARIABLE",
    "https://node:9200",
    ["https://node:9200", "https://other:9200"],
    "/elsewhere",
    "postgresql://ada@host/other",
    ["team:lake"],
    {"domain": "search"},
    {"lake/*": 0.25},
    {"schema_only": True},
    {"m": {"model": "team/lake"}},
    "30 2 * * *",
    "Europe/Berlin",
    600,
)
_COMPANIONS: tuple[dict[str, Any], ...] = (
    {},
    {"username": "eve"},
    {"password_env": "SECRET"},
    {"urls": ["https://node:9200"]},
    {"bucket": "lake-bucket"},
    {"path": "/lake"},
    {"url": "postgresql://ada@host/lake"},
    {"account": "lakes", "container": "lake"},
    {"catalog": "rest", "uri": "https://catalog.internal"},
    {"client_id": "pneuma"},
    {"model": "team/lake"},
    {
        "model": {"model": "m", "endpoint_url": "https://node:9200", "send_values": True},
        "dimensions": 9,
    },
)
"""What some keys cannot stand without in their section."""

_BESIDE: tuple[dict[str, Any], ...] = ({}, {"index": {"engine": "elasticsearch"}})
"""What some keys cannot stand without in another section."""


def section_keys(model: type[BaseModel] = Deployment, above: Keys = ()) -> Iterator[Keys]:
    """Every key of a file but the sources, as a path through the sections."""
    for name, field in model.model_fields.items():
        inner = field.annotation
        section = isinstance(inner, type) and issubclass(inner, BaseModel)
        if section and inner is not ModelConfig:
            yield from section_keys(inner, (*above, name))
        elif name != "sources":
            yield (*above, name)


def file_with(keys: Keys) -> dict[str, Any]:
    """A file that sets one key to something that is not its default, and little else."""
    model: type[BaseModel] = Deployment
    for key in keys[:-1]:
        inner = model.model_fields[key].annotation
        assert isinstance(inner, type)
        model = inner
    for section in _settings_of(model, keys[-1]):
        whole: dict[str, Any] = section
        for key in reversed(keys[:-1]):
            whole = {key: whole}
        for beside in _BESIDE:
            if _accepted(Deployment, {**beside, **whole}):
                return {**beside, **whole}
    raise AssertionError(f"no value is known for {'.'.join(keys)}; add one to {__name__}")


def file_with_source(kind: str, key: str) -> dict[str, Any]:
    base = {} if key == "type" else {"type": kind}
    for section in _settings_of(SOURCES[kind], key):
        whole = {"sources": [{"name": "lake", **section, **base}]}
        if key == "type":
            whole["sources"][0]["type"] = kind
        if _accepted(Deployment, whole):
            return whole
    raise AssertionError(f"no value is known for {key} of a source {kind}; add one to {__name__}")


def _settings_of(model: type[BaseModel], key: str) -> Iterator[dict[str, Any]]:
    field = model.model_fields[key]
    choices = [
        value
        for part in (field.annotation, *get_args(field.annotation))
        for value in get_args(part)
        if isinstance(value, str)
    ]
    for value in (*choices, *_VALUES):
        if value != field.default:
            for companion in _COMPANIONS:
                yield {**companion, key: value}


def _accepted(model: type[BaseModel], whole: Mapping[str, Any]) -> bool:
    try:
        model.model_validate(whole)
    except ValidationError:
        return False
    return True
