"""How much one run takes on and how rows are drawn, as a Dagster resource."""

import dagster as dg
from pydantic import Field

from pneuma_assets.core.config import IndexingConfig, SamplingConfig


class IndexingOptionsResource(dg.ConfigurableResource):
    """The options of an indexing run that are not about a model or a place."""

    sample_rows: int = Field(5, description="Rows that stand for a table (Pneuma, section 4).")
    sample_seed: int = Field(0, description="Same seed and same data: same rows.")
    tables_per_run: int = Field(2000, description="Most tables that one run claims.")
    max_attempts: int = Field(3, description="Tries of a failing table until it changes.")
    row_change: float = Field(0.2, description="Share of changed rows that asks for new ones.")

    @property
    def sampling(self) -> SamplingConfig:
        """How rows are drawn."""
        return SamplingConfig(rows=self.sample_rows, seed=self.sample_seed)

    @property
    def indexing(self) -> IndexingConfig:
        """How much a run takes on."""
        return IndexingConfig(
            tables_per_run=self.tables_per_run,
            max_attempts=self.max_attempts,
            row_change=self.row_change,
        )
