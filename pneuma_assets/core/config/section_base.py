"""The base of every section of a deployment file."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self, get_args

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

from pneuma_assets.core.config.secrets import MayHoldSecret
from pneuma_assets.core.errors import ConfigError


class Section(BaseModel):
    """Base of every section: unknown keys are errors, values never change after loading.

    A number is never true or false: in Python these are 1 and 0, and YAML reads `yes` as true.
    No error shows what was given, which may be a password.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, hide_input_in_errors=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_value_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, bool) and info.field_name in cls.model_fields:
            kinds = [*parts_of(cls.model_fields[info.field_name].annotation)]
            if (int in kinds or float in kinds) and bool not in kinds:
                raise ValueError("is no number; write one in its place")
        return value

    @classmethod
    def in_force(cls) -> type[Self]:
        """Return the class that a file is checked against; it may know more keys than this one."""
        return cls

    def resolved(self, base: Path) -> Self:
        """Return the section with every path absolute, from `base`; raises `ConfigError`."""
        values = {name: _resolved(base, value) for name, value in self}
        changed = {name: value for name, value in values.items() if value != getattr(self, name)}
        return self.model_copy(update=changed) if changed else self


def parts_of(annotation: Any) -> Iterator[Any]:
    """Yield the types that a type is made of, and what these are annotated with."""
    inner = get_args(annotation)
    if not inner:
        yield annotation
    for one in inner:
        yield from parts_of(one)


def section_in(annotation: Any) -> type[Section] | None:
    """Return the section that a key's type is, or is a map of; None where it is no section."""
    kinds = (one for one in parts_of(annotation) if isinstance(one, type))
    return next((one for one in kinds if issubclass(one, Section)), None)


def may_hold_secret(section: type[Section], key: str) -> bool:
    """Tell whether the value of a key, or a part of it, is of a type that may hold a secret."""
    field = section.model_fields.get(key)
    if field is None:
        return False
    marks = (*field.metadata, *parts_of(field.annotation))
    return any(isinstance(one, MayHoldSecret) for one in marks)


def absolute(base: Path, path: Path) -> Path:
    """Resolve against `base`; links are followed only where `..` would lose its meaning."""
    try:
        joined = base / path.expanduser()
        return joined.resolve() if ".." in joined.parts else joined
    except (RuntimeError, ValueError, OSError) as error:
        raise ConfigError(f"{str(path)!r} is not a usable path: {error}") from error


def model_path(base: Path, model: str) -> str:
    """Resolve a model that is a path; hub ids and built-in names stay as they are."""
    written_as_path = model.startswith(("/", "./", "../", "~")) or model.endswith(".gguf")
    path = absolute(base, Path(model))
    there = os.path.exists(path)  # noqa: PTH110 (unlike Path.exists, never raises)
    return str(path) if written_as_path or there else model


def _resolved(base: Path, value: Any) -> Any:
    if isinstance(value, Path):
        return absolute(base, value)
    if isinstance(value, Section):
        return value.resolved(base)
    if isinstance(value, tuple):
        return tuple(_resolved(base, one) for one in value)
    if isinstance(value, dict):
        return {key: _resolved(base, one) for key, one in value.items()}
    return value
