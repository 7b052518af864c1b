"""How much one run takes on and how rows are drawn, as a Dagster resource."""

from typing import Annotated, Any

from pydantic import Field

from pneuma_assets.core.config.indexing import IndexingConfig, SamplingConfig
from pneuma_assets.core.config.orchestration import DagsterConfig
from pneuma_assets.resources.checked import CheckedResource, section


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
