"""The deployment as a Dagster resource, which all the others are made of.

Dagster keeps the configuration of a resource in the history of its runs and shows it in its UI. A
secret that stands there, where the name of its variable should, is refused before, and no error
shows what was given.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Self

import dagster as dg
from pydantic import AfterValidator, ConfigDict, Field

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.load import LoadedDeployment


def _deployment(settings: dict[str, Any]) -> Deployment:
    """Return what a resource's settings say, parsed once a process: Dagster asks again."""
    return _parsed(json.dumps(settings, default=str))


@lru_cache(maxsize=64)
def _parsed(settings: str) -> Deployment:
    return Deployment.model_validate(json.loads(settings))


def _checked(settings: dict[str, Any]) -> dict[str, Any]:
    _deployment(settings)
    return settings


class CheckedResource(dg.ConfigurableResource):
    """Base of all resources: no error shows what was given."""

    model_config = ConfigDict(hide_input_in_errors=True)


class DeploymentResource(CheckedResource):
    """What the deployment file says."""

    settings: Annotated[dict[str, Any], AfterValidator(_checked)] = Field(
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
            _deployment(self.settings),
            None if self.file is None else Path(self.file),
            Path(self.base),
            Path(self.home),
            self.component,
        )


class DeploymentPart(CheckedResource):
    """Something that a deployment opens at its first use, and lets go of when the run ends."""

    deployment: dg.ResourceDependency[DeploymentResource]

    @property
    def loaded(self) -> LoadedDeployment:
        """The deployment."""
        return self.deployment.loaded

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Self]:  # noqa: ARG002
        """Let go of what was opened when the run ends."""
        try:
            yield self
        finally:
            self.release()

    def release(self) -> None:
        """Let go of what was opened now; asked again, it is opened anew."""
