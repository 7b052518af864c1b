"""The base of every section of a deployment file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self, get_args

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

from pneuma_assets.core.config.paths import absolute


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
            kinds = set(_kinds(cls.model_fields[info.field_name].annotation))
            if kinds & {int, float} and bool not in kinds:
                raise ValueError("is no number; write one in its place")
        return value

    @classmethod
    def in_force(cls) -> type[Self]:
        """Return the class that a file is checked against; it may know more keys than this one."""
        return cls

    def resolved(self, base: Path) -> Self:
        """Return the section with every path in it absolute, relative ones starting from `base`.

        Raises:
            ConfigError: A path cannot be one.
        """
        values = {name: _resolved(base, value) for name, value in self}
        changed = {name: value for name, value in values.items() if value != getattr(self, name)}
        return self.model_copy(update=changed) if changed else self


def _resolved(base: Path, value: Any) -> Any:
    if isinstance(value, Path):
        return absolute(base, value)
    if isinstance(value, Section):
        return value.resolved(base)
    if isinstance(value, tuple):
        return tuple(_resolved(base, one) for one in value)
    return value


def _kinds(annotation: Any) -> Iterator[Any]:
    """Yield the types of which a value may be one, without what they are annotated with."""
    inner = get_args(annotation)
    if not inner:
        yield annotation
    for one in inner:
        yield from _kinds(one)
