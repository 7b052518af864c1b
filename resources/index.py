"""The search index, as a Dagster resource."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import dagster as dg
from pydantic import Field, PrivateAttr

from pneuma_assets.core.config import IndexConfig
from pneuma_assets.core.errors import IndexDamagedError, IndexMismatchError
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.index.registry import discard_index, open_index
from resources.models import EncoderResource


class IndexResource(dg.ConfigurableResource):
    """The engine that keeps the blocks; opened at first use, closed when the run ends."""

    settings: dict[str, Any] = Field(description="The `index` section of the deployment file.")
    home: str = Field(description="The state folder, where the embedded engine keeps its files.")
    encoder: dg.ResourceDependency[EncoderResource]
    _index: SearchIndex | None = PrivateAttr(default=None)

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Self]:  # noqa: ARG002
        """Close the index when the run ends."""
        try:
            yield self
        finally:
            if self._index is not None:
                self._index.close()
                self._index = None

    @property
    def config(self) -> IndexConfig:
        """The index section of the deployment file."""
        return IndexConfig.model_validate(self.settings)

    @property
    def index(self) -> SearchIndex:
        """The index, opened once; raises `IndexMismatchError` if another encoder built it."""
        if self._index is None:
            encoder = self.encoder.encoder
            self._index = open_index(self.config, Path(self.home), encoder.name, encoder.dimension)
        return self._index

    def drop_if_unusable(self) -> bool:
        """Drop an index that is damaged or that another encoder built; tells whether it did."""
        try:
            if self.index.info().health == "green":
                return False
            self.index.close()
            self._index = None
        except (IndexMismatchError, IndexDamagedError):
            pass  # dropped below; a locked or unreachable index raises something else
        discard_index(self.config, Path(self.home))
        return True
