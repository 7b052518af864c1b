"""The deployment and its options as Dagster resources, and the checks of what resources are given.

Dagster keeps the configuration of a resource in the history of its runs and shows it in its UI. A
secret that stands there, where the name of its variable should, is refused before, and no error
shows what was given.
"""

from pathlib import Path
from typing import Annotated, Any, Self

import dagster as dg
from pydantic import AfterValidator, ConfigDict, Field, PrivateAttr

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.indexing import IndexingConfig, SamplingConfig
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.config.orchestration import DagsterConfig
from pneuma_assets.core.config.section import Section
from pneuma_assets.core.config.source_kinds import read_source


class CheckedResource(dg.ConfigurableResource):
    """Base of all resources: no error shows what was given."""

    model_config = ConfigDict(hide_input_in_errors=True)


def section(kind: type[Section]) -> AfterValidator:
    """Return what refuses a mapping that is not this section of a deployment file."""

    def checked(settings: dict[str, Any]) -> dict[str, Any]:
        kind.model_validate(settings)
        return settings

    return AfterValidator(checked)


def _sources(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for entry in entries:
        read_source(entry)
    return entries


SOURCES = AfterValidator(_sources)
"""Refuses a list that is not that of `sources` in a deployment file."""


class DeploymentResource(CheckedResource):
    """What the deployment file says, for resources that need more than a section of it."""

    settings: Annotated[dict[str, Any], section(Deployment)] = Field(
        description="The whole deployment file, every key of it."
    )
    file: str | None = Field(default=None, description="The file; none where defaults are used.")
    base: str = Field(description="The folder that relative paths start from.")
    home: str = Field(description="The state folder.")
    component: str | None = Field(
        default=None, description="The file that it stands in as a component."
    )
    _loaded: LoadedDeployment | None = PrivateAttr(default=None)

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
        if self._loaded is None:
            self._loaded = LoadedDeployment(
                Deployment.model_validate(self.settings),
                None if self.file is None else Path(self.file),
                Path(self.base),
                Path(self.home),
                self.component,
            )
        return self._loaded


class IndexingOptionsResource(CheckedResource):
    """The options of an indexing run that are not about a model or a place, a section each."""

    sampling_settings: Annotated[dict[str, Any], section(SamplingConfig)] = Field(
        description="The `sampling` section."
    )
    indexing_settings: Annotated[dict[str, Any], section(IndexingConfig)] = Field(
        description="The `indexing` section."
    )
    dagster_settings: Annotated[dict[str, Any], section(DagsterConfig)] = Field(
        description="The `dagster` section."
    )

    @property
    def sampling(self) -> SamplingConfig:
        """How rows are drawn."""
        return SamplingConfig.model_validate(self.sampling_settings)

    @property
    def indexing(self) -> IndexingConfig:
        """How much a run takes on."""
        return IndexingConfig.model_validate(self.indexing_settings)

    @property
    def dagster(self) -> DagsterConfig:
        """What Dagster shows."""
        return DagsterConfig.model_validate(self.dagster_settings)
