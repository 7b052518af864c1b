"""Which kinds of source there are, and how an entry of `sources` becomes one of them.

A new kind is registered once: a line in `_BUILT_IN`, an entry point of the package that brings
it, or a call of `register_source`. A file names a kind by `type`, which is compared with what is
registered and installed here; no text of a file is ever taken for the name of a module.
"""

import inspect
import re
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from typing import Annotated, Any

from pydantic import GetJsonSchemaHandler, PlainValidator, SerializeAsAny, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from pneuma_assets.core.config.registry import Registry
from pneuma_assets.core.config.section_base import Section
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.errors import ConfigError

GROUP = "pneuma_assets.sources"
"""The group of entry points by which an installed package brings kinds, each under its type."""

_BUILT_IN = {
    kind: EntryPoint(kind, f"pneuma_assets.core.sources.kinds.{place}", GROUP)
    for kind, place in {
        "folder": "folder:FolderSourceConfig",
        "s3": "object_stores:S3SourceConfig",
        "gcs": "object_stores:GcsSourceConfig",
        "azure": "object_stores:AzureSourceConfig",
        "duckdb": "duckdb:DuckDBSourceConfig",
        "iceberg": "iceberg:IcebergSourceConfig",
        "sql": "sql:SqlSourceConfig",
    }.items()
}


def _checked(kind: type[SourceConfig]) -> str:
    where = f"{getattr(kind, '__module__', '')}.{getattr(kind, '__qualname__', kind)}"
    if not (isinstance(kind, type) and issubclass(kind, SourceConfig)):
        raise ConfigError(f"{where} is not a kind of source; let it extend SourceConfig")
    if inspect.isabstract(kind):
        missing = ", ".join(sorted(kind.__abstractmethods__))
        raise ConfigError(f"{where} is not a whole kind of source; define {missing}")
    if kind.__module__ == "__main__" or "<locals>" in kind.__qualname__:
        raise ConfigError(
            f"{where} cannot be found by the process that reads it; put the class at the top of "
            "a module that can be imported"
        )
    name = kind.model_fields["type"].default
    if not isinstance(name, str) or not re.fullmatch("[a-z][a-z0-9_]{0,31}", name):
        raise ConfigError(
            f"{where} has no type; give it one, such as type: Literal['sqlite'] = 'sqlite', of "
            "lower-case letters, digits and '_', at most 32"
        )
    return name


def _place(kind: type[SourceConfig]) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


KINDS = Registry(GROUP, "source type", _checked, _place, _BUILT_IN)
"""Every kind of source, by its type."""


def register_source(kind: type[SourceConfig]) -> None:
    """Make a kind of source known in this process; see `Registry.register`."""
    KINDS.register(kind)


def read_source(entry: object) -> SourceConfig:
    """Return one entry of `sources`, as the kind that its type names; raises `ValidationError`.

    Its own types of errors are `source_type_missing`, `_unknown` and `_broken`.
    """
    if isinstance(entry, SourceConfig):
        return entry
    if not isinstance(entry, Mapping):
        return SourceConfig.model_validate(entry)  # which says what it should have been
    name = entry.get("type")
    if name is None:
        raise _wrong_type("missing", entry)
    try:
        kind = KINDS.find(name) if isinstance(name, str) else None
    except ConfigError as error:
        raise _wrong_type("broken", name, str(error)) from error
    if kind is None:
        raise _wrong_type("unknown", name)
    return kind.model_validate(entry)


def section_of(entry: object) -> type[Section]:
    """Return the section that says which keys an entry that was read may have."""
    name = entry.get("type") if isinstance(entry, Mapping) else None
    return KINDS.known.get(name, Section) if isinstance(name, str) else Section


class _SchemaOfKinds:
    """Gives the schema of an entry: a condition a type, so that an error is of one, not of all."""

    def __get_pydantic_json_schema__(self, _: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        kinds = {name: _kind_or_none(name) for name in KINDS.names()}
        return {
            "type": "object",
            "properties": {"type": {"enum": [*kinds]}},
            "required": ["type"],
            "allOf": [
                {
                    "if": {"properties": {"type": {"const": name}}, "required": ["type"]},
                    "then": handler(kind.__pydantic_core_schema__),
                }
                for name, kind in kinds.items()
                if kind is not None
            ],
        }


def _kind_or_none(name: str) -> type[SourceConfig] | None:
    """Return a kind; none where its package is broken, which is told when an entry is read."""
    try:
        return KINDS.find(name)
    except ConfigError:
        return None


AnySource = Annotated[SerializeAsAny[SourceConfig], PlainValidator(read_source), _SchemaOfKinds()]
"""A source of any kind."""


def _wrong_type(what: str, value: object, cause: str = "") -> ValidationError:
    error = PydanticCustomError(
        f"source_type_{what}", "{cause}", {"cause": cause or f"is {what}", "types": KINDS.names()}
    )
    details = InitErrorDetails(type=error, loc=("type",), input=value)
    return ValidationError.from_exception_data("SourceConfig", [details], hide_input=True)
