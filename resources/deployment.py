"""The deployment as a Dagster resource, and the checks of what resources are given.

Dagster keeps the configuration of a resource in the history of its runs and shows it in its UI. A
secret that stands there, where the name of its variable should, is refused before, and no error
shows what was given.
"""

import json
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

import dagster as dg
from pydantic import AfterValidator, ConfigDict, Field

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.config.section import Section

S = TypeVar("S", bound=Section)


class CheckedResource(dg.ConfigurableResource):
    """Base of all resources: no error shows what was given."""

    model_config = ConfigDict(hide_input_in_errors=True)


def read_section(kind: type[S], settings: dict[str, Any]) -> S:
    """Return a section of a deployment file from what a resource holds of it.

    Dagster makes each resource several times a run, and again where others depend on it: what says
    the same is parsed once a process.
    """
    parsed: S = _parsed(kind, json.dumps(settings, default=str))
    return parsed


@lru_cache(maxsize=64)
def _parsed(kind: type[Section], settings: str) -> Any:
    return kind.model_validate(json.loads(settings))


def section(kind: type[Section]) -> AfterValidator:
    """Return what refuses a mapping that is not this section of a deployment file."""

    def checked(settings: dict[str, Any]) -> dict[str, Any]:
        read_section(kind, settings)
        return settings

    return AfterValidator(checked)


class DeploymentResource(CheckedResource):
    """What the deployment file says, for all that need more than a section of it."""

    settings: Annotated[dict[str, Any], section(Deployment)] = Field(
        description="The whole deployment file, every key of it."
    )
    file: str | None = Field(default=None, description="The file; none where defaults are used.")
    base: str = Field(description="The folder that relative paths start from.")
    home: str = Field(description="The state folder.")
    component: str | None = Field(
        default=None, description="The file that it stands in as a component."
    )

    @classmethod
    def of(cls, loaded: LoadedDeployment) -> Self:
        """Return a loaded deployment as Dagster's configuration."""
        return cls(
            settings=loaded.deployment.model_dump(
                mode="json",
                exclude_none=True,
                serialize_as_any=True,  # a section may hold more than its class says
            ),
            file=None if loaded.file is None else str(loaded.file),
            base=str(loaded.base),
            home=str(loaded.home),
            component=loaded.component,
        )

    @property
    def loaded(self) -> LoadedDeployment:
        """The deployment as everything outside Dagster knows it."""
        return LoadedDeployment(
            read_section(Deployment, self.settings),
            None if self.file is None else Path(self.file),
            Path(self.base),
            Path(self.home),
            self.component,
        )
