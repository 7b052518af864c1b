"""The configured sources, which open themselves as for the command line."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Self

import dagster as dg
from pydantic import AfterValidator, Field, PrivateAttr

from pneuma_assets.core.config.sections import LimitsConfig
from pneuma_assets.core.config.source_kinds import read_source
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.resources.deployment import CheckedResource, read_section, section


def _sources(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for entry in entries:
        read_source(entry)
    return entries


class SourcesResource(CheckedResource):
    """Where tables come from. Credentials stay in environment variables, named by each entry."""

    entries: Annotated[list[dict[str, Any]], AfterValidator(_sources)] = Field(
        description="The `sources` of the deployment file."
    )
    base: str = Field(description="The folder that relative paths start from.")
    limits: Annotated[dict[str, Any], section(LimitsConfig)] = Field(
        {}, description="The `limits` of the deployment file."
    )
    _opened: list[Source] | None = PrivateAttr(default=None)

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Self]:  # noqa: ARG002
        """Let go of the sources when the run ends."""
        try:
            yield self
        finally:
            for source in self._opened or ():
                source.close()
            self._opened = None

    @property
    def opened(self) -> list[Source]:
        """Every source, made once, so that what one stage learns of a file serves the next."""
        if self._opened is None:
            limits = read_section(LimitsConfig, self.limits)
            configs = [read_source(entry).resolved(Path(self.base)) for entry in self.entries]
            self._opened = [IsolatedSource(config, os.environ, limits) for config in configs]
        return self._opened
