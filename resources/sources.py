"""The configured sources, as a Dagster resource over dagster-aws and dagster-duckdb."""

import os
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import Field, TypeAdapter

from pneuma_assets.core.config import SourceConfig
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.sources.registry import open_source


class SourcesResource(dg.ConfigurableResource):
    """Where tables come from. Credentials stay in environment variables, named by each entry."""

    entries: list[dict[str, Any]] = Field(description="The `sources` of the deployment file.")
    base: str = Field(description="The folder that relative paths start from.")

    def open(self) -> list[Source]:
        """Return every source; connects to none of them."""
        configs = TypeAdapter(list[SourceConfig]).validate_python(self.entries)
        return [self._open(config) for config in configs]

    def _open(self, config: SourceConfig) -> Source:
        return open_source(config, Path(self.base), os.environ)
