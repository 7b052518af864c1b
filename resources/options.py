"""How much one run takes on and how rows are drawn, as a Dagster resource."""

from typing import Any

import dagster as dg
from pydantic import Field

from pneuma_assets.core.config.indexing import IndexingConfig, SamplingConfig
from pneuma_assets.core.config.orchestration import DagsterConfig


class IndexingOptionsResource(dg.ConfigurableResource):
    """The options of an indexing run that are not about a model or a place, a section each."""

    sampling_settings: dict[str, Any] = Field(description="The `sampling` section.")
    indexing_settings: dict[str, Any] = Field(description="The `indexing` section.")
    dagster_settings: dict[str, Any] = Field(description="The `dagster` section.")

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
