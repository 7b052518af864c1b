"""The base of every section of a deployment file."""

from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from pneuma_assets.core.config.paths import absolute


class Section(BaseModel):
    """Base of every section: unknown keys are errors, values never change after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

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
