"""The search index, as a Dagster resource."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Self

import dagster as dg
from pydantic import Field, PrivateAttr

from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.index.registry import (
    Credentials,
    begin_rebuild,
    begins_by_itself,
    open_index,
    publish_index,
    sign_in_of,
)
from pneuma_assets.core.models.encoder.known_encoders import remember_encoder
from pneuma_assets.resources.deployment import CheckedResource, read_section, section
from pneuma_assets.resources.models import EncoderResource


class IndexResource(CheckedResource):
    """The engine that keeps the blocks; opened at first use, closed when the run ends."""

    settings: Annotated[dict[str, Any], section(IndexConfig)] = Field(
        description="The `index` section of the deployment file."
    )
    home: str = Field(description="The state folder, where the embedded engine keeps its files.")
    api_key: str | None = Field(default=None, repr=False, description="Of the engine.")
    password: str | None = Field(
        default=None, repr=False, description="Of the user in the settings."
    )
    encoder: dg.ResourceDependency[EncoderResource]
    _index: SearchIndex | None = PrivateAttr(default=None)
    _building: SearchIndex | None = PrivateAttr(default=None)

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Self]:  # noqa: ARG002
        """Close the index when the run ends."""
        try:
            yield self
        finally:
            self.release()

    def release(self) -> None:
        """Close the index now; asked again, it is opened anew."""
        for opened in (self._index, self._building):
            if opened is not None:
                opened.close()
        self._index = self._building = None

    @property
    def config(self) -> IndexConfig:
        """The index section of the deployment file."""
        return read_section(IndexConfig, self.settings)

    @property
    def index(self) -> SearchIndex:
        """What answers questions, opened once; raises `IndexMismatchError` for another encoder."""
        if self._index is None:
            self._index = self._open(building=False)
        return self._index

    @property
    def building(self) -> SearchIndex:
        """What indexing writes: the same index, or the one being built to take its place."""
        if self._building is None:
            self._building = self._open(building=True)
        return self._building

    def begin_anew(self) -> None:
        """Let `building` be an empty index, whatever encoder or state the old one has."""
        self.release()
        begin_rebuild(*self._place, self.credentials())

    @property
    def begins_by_itself(self) -> bool:
        """Whether another encoder is reason enough to begin anew; else somebody must say so."""
        return begins_by_itself(self.config)

    def publish(self, tables: int) -> bool:
        """Let readers see what was built beside the old index; False if that is not there."""
        published = publish_index(*self._place, tables, self.credentials())
        if published:  # what was opened may have another place now
            self.release()
        return published

    def _open(self, *, building: bool) -> SearchIndex:
        if building:
            name = self.encoder.encoder.name
            remember_encoder(Path(self.home), name, self.encoder.config)
        return open_index(*self._place, self.credentials(), building=building)

    @property
    def _place(self) -> tuple[IndexConfig, Path, str, int]:
        """Where the index is, and by which encoder."""
        encoder = self.encoder.encoder
        return self.config, Path(self.home), encoder.name, encoder.dimension

    def credentials(self) -> Credentials:
        """Return how to sign in at the engine."""
        return sign_in_of(self.config).holding(self.api_key, self.password)
