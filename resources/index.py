"""The search index, as a Dagster resource."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import dagster as dg
from pydantic import Field, PrivateAttr

from pneuma_assets.core.config import IndexConfig
from pneuma_assets.core.errors import IndexMismatchError
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.index.registry import discard_index, open_index
from resources.models import EncoderResource


class IndexResource(dg.ConfigurableResource):
    """The engine that keeps the blocks; opened at first use, closed when the run ends."""

    engine: str = Field("embedded", description="Which engine: 'embedded'.")
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
        return IndexConfig.model_validate({"engine": self.engine})

    @property
    def index(self) -> SearchIndex:
        """The index, opened once; raises `IndexMismatchError` if another encoder built it."""
        if self._index is None:
            encoder = self.encoder.encoder
            self._index = open_index(self.config, Path(self.home), encoder.name, encoder.dimension)
        return self._index

    def reset_if_mismatched(self) -> None:
        """Drop an index that another encoder built; a rebuild then fills it anew."""
        try:
            _ = self.index
        except IndexMismatchError:
            discard_index(self.config, Path(self.home))
