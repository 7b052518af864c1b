"""The deployment that everything belongs to, as a Dagster resource."""

from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, PrivateAttr

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.resources.checked import CheckedResource, section


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
