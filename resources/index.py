"""The search index, as a Dagster resource."""

import os
from pathlib import Path

import dagster as dg
from pydantic import PrivateAttr

from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.index.registry import (
    Credentials,
    begin_rebuild,
    begins_by_itself,
    index_credentials,
    open_index,
    publish_index,
)
from pneuma_assets.core.models.encoder.known_encoders import remember_encoder
from pneuma_assets.resources.deployment import DeploymentPart
from pneuma_assets.resources.models import EncoderResource


class IndexResource(DeploymentPart):
    """The engine that keeps the blocks; opened at first use, closed when the run ends."""

    encoder: dg.ResourceDependency[EncoderResource]
    _index: SearchIndex | None = PrivateAttr(default=None)
    _building: SearchIndex | None = PrivateAttr(default=None)

    def release(self) -> None:
        """Close the index now; asked again, it is opened anew."""
        for opened in (self._index, self._building):
            if opened is not None:
                opened.close()
        self._index = self._building = None

    @property
    def config(self) -> IndexConfig:
        """The index section of the deployment file."""
        return self.loaded.deployment.index

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
        begin_rebuild(*self._place, self._credentials())

    @property
    def begins_by_itself(self) -> bool:
        """Whether another encoder is reason enough to begin anew; else somebody must say so."""
        return begins_by_itself(self.config)

    def publish(self, build: str) -> bool:
        """Let readers see what was built beside the old index; False if that is not there."""
        return publish_index(self.config, self.loaded.home, build, self._credentials())

    def _open(self, *, building: bool) -> SearchIndex:
        if building:
            name = self.encoder.encoder.name
            remember_encoder(self.loaded.home, name, self.encoder.config)
        return open_index(*self._place, self._credentials(), building=building)

    @property
    def _place(self) -> tuple[IndexConfig, Path, str, int]:
        encoder = self.encoder.encoder
        return self.config, self.loaded.home, encoder.name, encoder.dimension

    def _credentials(self) -> Credentials:
        return index_credentials(self.config, os.environ)
